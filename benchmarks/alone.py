"""Runs the native engine without the package: `alone.py MODULE GIVEN`, see counts.py.

Nothing else is imported, so that what an instruction counter sees is the engine.
"""

import importlib.util
import pickle
import sys

path, given = sys.argv[1:]
spec = importlib.util.spec_from_file_location("_native", path)
assert spec and spec.loader
native = importlib.util.module_from_spec(spec)
spec.loader.exec_module(native)
with open(given, "rb") as file:
    run = native.Run(*pickle.load(file))
run.step(1 << 60)
if run.end != "exited" or run.exit_code:
    sys.exit(f"{run.end}: {run.reason}")

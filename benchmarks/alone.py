"""Runs the native engine without the package: `alone.py MODULE FILE...`, where each FILE contains
the arguments of the engine, written by counts.py.

Nothing else is imported, so an instruction counter sees only the engine.  Each run is a forked copy
of this process and prints its process number.  So all runs begin in the same state, and the module
is loaded once.
"""

import importlib.util
import os
import pickle
import sys

path, *all_arguments = sys.argv[1:]
spec = importlib.util.spec_from_file_location("_native", path)
assert spec and spec.loader
native = importlib.util.module_from_spec(spec)
spec.loader.exec_module(native)
for arguments in all_arguments:
    if child := os.fork():
        print(child, flush=True)
        if os.waitpid(child, 0)[1]:
            sys.exit(1)
        continue
    with open(arguments, "rb") as file:
        run = native.Run(*pickle.load(file))
    run.step(1 << 60)
    if run.end != "exited" or run.exit_code:
        sys.exit(f"{arguments}: {run.end}: {run.reason}")
    break

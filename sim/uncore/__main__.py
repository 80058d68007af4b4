"""The command `uncore`, and `python -m uncore`.

While modules are still loading, Ctrl-C ends the process silently: loading takes long enough for a
user to interrupt it, and there is nothing to report yet.
"""

import gc
import os
import signal

# Number of allocations before garbage is collected. Collecting during start-up would take a
# twentieth of the start-up time.
GARBAGE_THRESHOLD = 100_000


def main() -> None:
    python_handler = signal.signal(signal.SIGINT, signal.SIG_DFL)
    gc.set_threshold(GARBAGE_THRESHOLD)
    # NumPy's OpenBLAS starts a spinning thread for each core, but we solve only small problems.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from uncore.cli import app  # noqa: PLC0415 (slow to load)

    # Exempts loaded modules from garbage collection, which must still collect the garbage of a run:
    # at exit, nanobind reports engine objects that are still referenced.
    gc.freeze()
    signal.signal(signal.SIGINT, python_handler)
    app.main()


if __name__ == "__main__":
    main()

"""The command `uncore`, and `python -m uncore`.

While modules are still loading, Ctrl-C ends the process silently: loading takes long enough for a
user to interrupt it, and there is nothing to report yet.
"""

import gc
import os
import signal

# allocations before garbage is collected; during start-up that would cost a twentieth of the time
GARBAGE_THRESHOLD = 100_000


def main() -> None:
    listens = signal.signal(signal.SIGINT, signal.SIG_DFL)
    gc.set_threshold(GARBAGE_THRESHOLD)
    # NumPy's OpenBLAS starts a spinning thread for each core, but we solve only small problems.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from uncore.cli import app  # noqa: PLC0415 (slow to load)

    # Exempts loaded objects from garbage collection; the garbage of a run must be collected at the
    # end, or nanobind reports the objects of the engine that it holds.
    gc.freeze()
    signal.signal(signal.SIGINT, listens)
    app.main()


if __name__ == "__main__":
    main()

"""The command `uncore`, and `python -m uncore`.

Until the command listens, Ctrl-C ends the process as it ends any other: loading what it is made of
takes longer than a hand needs to change its mind, and has nothing to say of itself.
"""

import gc
import os
import signal

LOADED = 100_000  # objects of a start: looking for garbage among them takes a twentieth of it


def main() -> None:
    listens = signal.signal(signal.SIGINT, signal.SIG_DFL)
    gc.set_threshold(LOADED)
    # NumPy's library of linear algebra starts a thread for each core, which spin; ours is small.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from uncore.cli import app  # noqa: PLC0415 (what takes so long)

    # Exempts loaded objects from garbage collection; the garbage of a run must be collected at the
    # end, or nanobind reports the objects of the engine that it holds.
    gc.freeze()
    signal.signal(signal.SIGINT, listens)
    app.main()


if __name__ == "__main__":
    main()

"""Records the events of a run, gives them names, and writes them for other tools.

    record(job, window) -> Trace     traces one run of the native engine
    save(trace, path)                writes one table (.parquet), or a trace for Perfetto (.pftrace)

Invariant: the run's outcome is that of the same job untraced.
"""

from uncore.trace.files import save
from uncore.trace.record import MEASURED, Trace, Window, record

__all__ = ["MEASURED", "Trace", "Window", "record", "save"]

"""Records the events of a run, names them, and writes them for other tools.

record(job, window) -> Trace     one run of the native engine, seen through the probe `trace`
save(trace, path)                as one table (.parquet), or for Perfetto (.pftrace)

Invariant: the run's outcome is that of the same job untraced.
"""

from uncore.trace.files import save
from uncore.trace.record import MEASURED, Trace, Window, record

__all__ = ["MEASURED", "Trace", "Window", "record", "save"]

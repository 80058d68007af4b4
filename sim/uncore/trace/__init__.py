"""Records the events of a run, gives them names, and writes them for other tools.

    record(job, window) -> Trace     traces one run of the native engine
    save(trace, path)                writes one table (.parquet), or a trace for Perfetto (.pftrace)

Invariant: a traced run has the same outcome as the job without tracing.
"""

from uncore.trace.files import save
from uncore.trace.record import MEASURED, Trace, Window, record

__all__ = ["MEASURED", "Trace", "Window", "record", "save"]

"""Results: the one schema every engine fills and every report reads.

The files:

    schema.py     what a Result is; the descriptions in it are the documentation (docs/result.md)
    files.py      JSON and Parquet
    frame.py      a Result as a table
    describe.py   docs/result.md, derived from schema.py
"""

from uncore.result.files import load, save
from uncore.result.frame import to_rows
from uncore.result.observed import Observed
from uncore.result.schema import Host, Latency, Outcome, Point, Result, canonical

__all__ = [
    "Host",
    "Latency",
    "Observed",
    "Outcome",
    "Point",
    "Result",
    "canonical",
    "load",
    "save",
    "to_rows",
]

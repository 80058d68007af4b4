"""Results: a single schema, which every engine fills and every report reads.

schema.py     the layout of a Result; the descriptions in it are the documentation
files.py      JSON and Parquet
frame.py      a Result as a table
repeats.py    runs that differ only in their seeds: medians and spread
describe.py   the documentation as a page, derived from schema.py
"""

from uncore.result.files import load, load_all, save
from uncore.result.frame import to_rows
from uncore.result.observed import Observed
from uncore.result.repeats import Repeats, repeats, to_medians
from uncore.result.schema import Host, Latency, Outcome, Point, Result, Results, canonical

__all__ = [
    "Host",
    "Latency",
    "Observed",
    "Outcome",
    "Point",
    "Repeats",
    "Result",
    "Results",
    "canonical",
    "load",
    "load_all",
    "repeats",
    "save",
    "to_medians",
    "to_rows",
]

"""Describes a run as a value: the program, the machine, and all options.

job.py             Job: everything that decides an outcome; each field with its option
schema.py          declarations of a field's option: flag, help, group, form
forms.py           how values are written and read: durations, pairs, placements
placement.py       harts that run the threads, nodes and slices that own the lines
option_values.py   the values of options that several commands share
"""

from uncore.job.job import ByteRange, Continuation, Job, Seed
from uncore.job.placement import HOME_NODE, HOMES, check_home, home_nodes, slice_is_drawn

__all__ = [
    "HOMES",
    "HOME_NODE",
    "ByteRange",
    "Continuation",
    "Job",
    "Seed",
    "check_home",
    "home_nodes",
    "slice_is_drawn",
]

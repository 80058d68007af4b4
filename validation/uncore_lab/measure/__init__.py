"""A real computer measured and described: what `uncore measure` does.

measure(bench, computer, setting, effort) -> Measurement

bench.py      where measuring programs run     plan.py       what runs where, how often
record.py     the file of a measurement        report.py     the same for reading
hwloc.py      a computer from lstopo's XML; the one we are on is uncore.host's
layout.py     its processors as a tree         describe.py   a machine file of it
"""

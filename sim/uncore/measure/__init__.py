"""This computer measured and described: what `uncore measure` does.

    measure(bench, computer, setting, effort) -> Measurement

    computer.py   a real computer as data          sysfs.py, hwloc.py   who describes it
    layout.py     its processors as a tree         describe.py          a machine file of it
    bench.py      where measuring programs run     plan.py              what runs where, how often
    record.py     the file of a measurement        report.py            the same for reading

`engine/host.py` imports sysfs, so this file imports nothing.
"""

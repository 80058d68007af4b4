"""Measures a real computer and describes it: the work of `uncore measure`.

The interface, then the files:

    measure(bench, computer, setting, effort) -> Measurement

    bench.py           runs the measuring programs
    plan.py            the programs, and the processors that they run on
    record.py          the file of a measurement
    report.py          prints the report
    hwloc.py           reads a computer from lstopo's XML (uncore.host describes this one)
    cpu_tree.py        the computer's processors as a tree of levels
    machine_file.py    writes a machine file of the computer
"""

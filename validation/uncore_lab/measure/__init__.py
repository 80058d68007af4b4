"""Measures a real computer and describes it: the work of `uncore measure`.

measure(bench, computer, setting, effort) -> Measurement

bench.py      runs the measuring programs      plan.py       the programs and their processors
record.py     the file of a measurement        report.py     the report that is printed hwloc.py
a computer read from lstopo's XML; uncore.host describes the one we are on cpu_tree.py   the
computer's processors as a tree of levels machine_file.py  a machine file of the computer
"""

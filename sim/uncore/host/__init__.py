"""Runs programs on this computer instead of a simulated machine, and describes its hardware.

pinned.py     runs a workload, with a pinned thread for each hart (`uncore run --host`)
program.py    runs a program with main(), on as many processors as threads (the same command)
computer.py   describes a real computer: its processors, caches, memory nodes
sysfs.py      reads the description of this computer from /sys and /proc
"""

"""This computer: the same C on its processors, and what its operating system tells of it.

pinned.py     a workload compiled for it, each hart a pinned thread (`uncore run --host`)
program.py    a program with main(), on as many processors (the same)
computer.py   a real computer as data: processors, caches, memory nodes
sysfs.py      the one we are on, from /sys and /proc
"""

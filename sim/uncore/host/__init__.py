"""This computer: the same C programs on its processors, and its description by the operating
system.

    pinned.py     a workload compiled for it, each hart a pinned thread (`uncore run --host`)
    program.py    a program with main(), on as many processors (the same command)
    computer.py   a real computer as data: processors, caches, memory nodes
    sysfs.py      reads this computer from /sys and /proc
"""

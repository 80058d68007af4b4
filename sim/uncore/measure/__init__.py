"""This computer measured and described: what `uncore measure` does.

computer.py   a real computer as data          sysfs.py, hwloc.py   who describes it
layout.py     its processors as a tree         describe.py          a machine file of it
"""

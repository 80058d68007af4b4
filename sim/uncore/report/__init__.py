"""Reports: what commands print and draw of results, in the tables and pictures of `uncore.drawing`.

    curve.py      results over thread counts, as a table; chart.py: as a picture
    lines.py      which cache lines moved, by the names the program gives them
    costs.py      the time that threads waited for the lines of a run
    objects.py    what an operation's time is made of, by variables and their fields
    beside.py     the lines of a run beside those that perf has measured
    proofs.py     proofs of a protocol, and mutants that they notice
    document/     one page that needs nothing else
    machine_picture.py   a machine's stops and links

A module that shows a finding has the name of the module that finds it: conflicts.py and scaling.py
(`uncore.result`).  Studies show their answers themselves (`uncore.study`).
"""

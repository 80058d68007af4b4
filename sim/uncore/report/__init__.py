"""Reports: the tables and pictures that commands print and draw of results, with `uncore.drawing`.

    curve.py              results over thread counts, as a table; chart.py: as a picture
    lines.py              the cache lines that moved most, by the names the program gives them
    costs.py              the time that threads waited for the lines of a run
    objects.py            an operation's time divided by variables and their fields
    beside.py             the lines of a run compared with those that perf has measured
    proofs.py             proofs of a protocol, and mutants that they notice
    document/             one self-contained page
    machine_picture.py    a machine's stops and links

A module that shows a finding has the name of the module that computes it: conflicts.py and
scaling.py (`uncore.result`).  Studies have reports of their own (`uncore.study`).
"""

"""Reports: prints results as tables and draws them as pictures, with `uncore.drawing`.

    curve.py              results over thread counts, as a table; chart.py: as a picture
    lines.py              the cache lines with the most transfers, by the program's names
    costs.py              the time that threads waited for the lines of a run
    objects.py            the part of an operation's time that each variable and field takes
    beside.py             the lines of a run compared with those that perf has measured
    proofs.py             proofs of a protocol, and the mutants of it that they detect
    document/             one self-contained page
    machine_picture.py    a picture of a machine's stops and links

conflicts.py and scaling.py show what the modules of the same names in `uncore.result` compute.
Studies have reports of their own (`uncore.study`).
"""

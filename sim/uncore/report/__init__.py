"""Reports: what people look at.

    units.py      numbers as people read them (12.3 M/s, 1.25 us)
    table.py      tables on a terminal, or the same rows as JSON
    plot.py       heat map, curves and bars, as panels of one picture
    progress.py   the progress of long work, on a terminal only (bar.py)

    curve.py      results over thread counts, as a table and as lines
    lines.py      which cache lines moved, by the names the program gives them
    costs.py      what the lines of a run were waited for
    proofs.py     proofs of a protocol, and mutants that they notice

and what shows a finding is called as what finds it: agreement.py, compare.py and crosscheck.py what
`uncore.study.compare` finds, conflicts.py and scaling.py what `uncore.result` finds.
"""

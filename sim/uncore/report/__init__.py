"""Reports: what people look at.

The files:

    units.py     numbers as people read them (12.3 M/s, 1.25 us)
    table.py     tables on a terminal, or the same rows as JSON
    curve.py     results over thread counts, as a table and as lines
    lines.py     which cache lines moved, by the names the program gives them
    plot.py      heat map, curves and bars, as panels of one picture
    progress.py  the progress of long work, on a terminal only
"""

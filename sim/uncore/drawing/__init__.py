"""Lays out, prints and draws the tables, pictures and pages of every report.

formats.py            numbers as people read them (12.3 M/s, 1.25 us)
table.py              tables on a terminal, or the same rows as JSON (table_layout.py, width.py)
panels.py             the contents of a picture as data: heat map, curves, bars, points
plot.py               panels as a PNG, SVG or PDF; webpage.py: as a page
progress.py           the progress of long work, on a terminal only (progress_bar.py)
standalone.py         pages in one self-contained file (sections.py: pages of tables and figures)
spread.py             figures of repeated runs, with their spread
protocol_diagram.py   the state diagram of a protocol
"""

"""Tables, pictures and pages: how any report is laid out, printed and drawn.

formats.py       numbers as people read them (12.3 M/s, 1.25 us)
table.py         tables on a terminal, or the same rows as JSON (table_layout.py, width.py)
panels.py        what a picture shows, as data: heat map, curves, bars, points
plot.py          panels as a PNG, SVG or PDF; webpage.py: as a page
progress.py      the progress of long work, on a terminal only (bar.py)
standalone.py    pages that are one file and need nothing else (sections.py: of tables and figures)
spread.py        figures of repeated runs, with how far these are apart
protocol_diagram.py   a protocol's states
"""

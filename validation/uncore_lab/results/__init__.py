"""Results that the laboratory computed, as data: validation/results/NAME.csv, a figure a row.

    table.py    a file's rows: load, save, and which figures are no longer those on file

Tests compare these files with what is computed today; the site makes its pages of them.
"""

"""Results of the laboratory as data: validation/results/NAME.csv, one figure in each row.

    table.py    loads and saves the rows of a file, and finds figures that have changed

Tests compare these files with newly computed results; the site shows them on its pages.
"""

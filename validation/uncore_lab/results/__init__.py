"""Results of the laboratory as data: validation/results/NAME.csv, one figure in each row.

    table.py    loads and saves the rows of a file, and finds figures that have moved

Tests compare these files with today's results; the site makes its pages of them.
"""

"""Comparisons of runs.

results.py      two results: by how much one is faster, and why (`uncore compare`)
agreement.py    two engines on one job, transaction by transaction (`uncore diff-engines`)
crosscheck.py   several engines on one job: what must agree and what should (`uncore crosscheck`)
outside.py      other simulators on many jobs, as CSV files (`uncore crosscheck --all`)
..._report.py   the tables and pictures of each
model_state.py  digests of the model's rules and tables, which tell whether a comparison is outdated
"""

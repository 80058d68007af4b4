"""Runs compared.

results.py      two results: by how much one is faster, and why (`uncore compare`)
agreement.py    two engines on one job, transaction by transaction (`uncore diff-engines`)
crosscheck.py   several engines on one job: what must agree, what should (`uncore crosscheck`)
outside.py      outside engines on many jobs, as data (`uncore crosscheck --all`)
..._report.py   what is printed and drawn of each
model_state.py  which model that was: a digest of each rule and table
"""

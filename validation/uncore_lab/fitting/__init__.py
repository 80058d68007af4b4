"""Least squares on the numbers of machine files, for whoever determines them from measurements.

numbers.py     which numbers of a machine are to be determined, as KEY=VALUE and as written in files
solve.py       measured handoffs as residuals, and the solver

`uncore calibrate` fits one machine to a user's matrix (uncore_lab/calibrate), `uncore predict
--observe` each measured machine to its own carried figures (predict/observe.py), upkeep/numbers.py
machines that share a family's numbers together.  They differ in what they weigh: classes or pairs,
and how firmly a number that the data say nothing of stays where it was.
"""

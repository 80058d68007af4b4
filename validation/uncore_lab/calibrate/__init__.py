"""Fits a machine file's free numbers to a measured matrix: the work of `uncore calibrate`.

problem.py     the numbers, the matrix, and the residuals between simulation and matrix fit.py
the solution for every home, quadrant and slice, because none is on record order.py       the stop
of each core, which is not on record either determined.py  sentences about numbers that the data
could not determine write.py       the fitted machine file report.py      the report that is printed
"""

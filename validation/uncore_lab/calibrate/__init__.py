"""A machine file's free numbers, fitted to a measured matrix: what `uncore calibrate` does.

problem.py     the numbers, the matrix, and how far the simulation is off: the objective that
               uncore_lab/fitting solves
fit.py         solves it for every home, quadrant and slice, because none is on record
order.py       finds which core sits where, which is not on record either
determined.py  which numbers the data could not determine, in words
write.py       the machine file; report.py  the same for reading
"""

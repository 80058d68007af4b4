"""A machine file's free numbers, fitted to a measured matrix: what `uncore calibrate` does.

problem.py     the numbers, the matrix, and how far the simulation is off: the objective
               (solved by uncore/fitting)
fit.py         solves it for each choice, and so chooses what nobody recorded (home, quadrant, slice)
determined.py  which numbers the data could not determine, in words
write.py       the machine file; report.py  the same for reading
"""

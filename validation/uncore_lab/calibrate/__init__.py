"""Fits a machine file's free numbers to a measured matrix: the work of `uncore calibrate`.

The files:

    problem.py       the numbers, the matrix, and the residuals between simulation and matrix
    fit.py           solves the problem for every home, quadrant and slice that may have been used,
                     because a matrix does not record them
    order.py         finds the stop of each core, which a matrix does not record either
    determined.py    names the numbers that the data could not determine
    write.py         writes the fitted machine file
    report.py        prints the report
"""

"""Least-squares fits of the numbers in machine files, shared by all tools that fit them.

    numbers.py     the numbers of a machine to fit, as KEY=VALUE and as written in files
    solve.py       measured handoffs as residuals, and the solver
    written.py     fitted numbers as text of a machine file

`uncore calibrate` fits one machine to a user's matrix (uncore_lab/calibrate).  `uncore predict
--observe` fits each measured machine to its own figures (predict/observe.py).  upkeep/numbers.py
fits machines that share a family's numbers together.  They differ in two weights: that of classes
relative to pairs, and that of leaving an undetermined number unchanged.
"""

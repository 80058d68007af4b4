"""Least-squares fits of the numbers in machine files, shared by all tools that fit them.

    numbers.py     the numbers of a machine to fit, as KEY=VALUE and as written in files
    solve.py       measured handoffs as residuals, and the solver
    written.py     fitted numbers as text of a machine file

`uncore calibrate` fits one machine to a user's matrix (uncore_lab/calibrate).  `uncore predict
--observe` fits each measured machine to its own figures (predict/observe.py).  upkeep/numbers.py
fits all machines that share a family's numbers together.  These fits use different weights for
classes relative to pairs, and for leaving an undetermined number unchanged.
"""

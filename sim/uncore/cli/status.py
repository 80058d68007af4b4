"""Exit statuses of commands; status 3, an outside simulator's failure, is defined by its
exception.
"""

OK, FAILED, MISTAKE, INTERRUPTED = 0, 1, 2, 130

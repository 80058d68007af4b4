"""Exit statuses of commands. Status 3, the failure of another simulator, is defined by its
exception.
"""

OK, FAILED, MISTAKE, INTERRUPTED = 0, 1, 2, 130

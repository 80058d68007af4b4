"""Exit statuses of commands; 3, an outside simulator's failure, is its exception's own."""

OK, FAILED, MISTAKE, INTERRUPTED = 0, 1, 2, 130

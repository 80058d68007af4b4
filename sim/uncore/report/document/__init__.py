"""A report: one page that needs nothing else, good enough to send to a colleague without words.

of_run(path, results, jobs, command)    what `run` came to, and why
of_comparison(path, found, command)     two curves, and what makes the difference
of_whatif(path, found, command)         changes, and what each is worth
of_exploration(path, found, command)    the best compromises, and all that was tried

Pictures are SVG of matplotlib and of our own; nothing is fetched, and no script runs.
"""

from uncore.report.document.others import of_comparison, of_exploration, of_whatif
from uncore.report.document.run import of_run

__all__ = ["of_comparison", "of_exploration", "of_run", "of_whatif"]

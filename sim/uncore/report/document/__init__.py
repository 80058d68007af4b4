"""A report: one page that needs nothing else, good enough to send to a colleague without words.

of_run(path, results, jobs, command)    what `run` came to, and why
those of studies are in uncore.study.answer_pages

Pictures are SVG of matplotlib and of our own; nothing is fetched, and no script runs.
"""

from uncore.report.document.run import of_run

__all__ = ["of_run"]

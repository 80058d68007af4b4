"""A report: one self-contained page that a colleague can read without explanation.

    of_run(path, results, jobs, command)    the results of `run`, and the reasons for them

Reports of studies are in uncore.study.answer_pages. Pictures are SVG, by matplotlib or made here;
nothing is fetched, and no script runs.
"""

from uncore.report.document.run import of_run

__all__ = ["of_run"]

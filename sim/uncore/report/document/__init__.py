"""Writes a report: one self-contained page that a colleague can read without explanation.

    write_run(path, results, jobs, command)    writes the report of `run`: results, and their causes

Reports of studies are in uncore.study.answer_pages. Pictures are SVG, drawn by matplotlib or here.
The page fetches nothing and runs no script.
"""

from uncore.report.document.run import write_run

__all__ = ["write_run"]

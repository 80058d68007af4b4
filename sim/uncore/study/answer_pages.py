"""Writes the report pages (HTML) of comparisons, of what-if studies and of explorations.

Each function takes the file to write, the result of the study, and the command that repeats it.
"""

from __future__ import annotations

from html import escape
from pathlib import Path

from uncore.drawing.panels import Bars
from uncore.drawing.sections import ReportSection, figure, table, write
from uncore.drawing.table import Column
from uncore.study import whatif_report as whatif
from uncore.study.compare import comparison_report as compare
from uncore.study.compare.results import Comparison
from uncore.study.explore import Exploration
from uncore.study.explore import report as explore
from uncore.study.whatif import WhatIf


def write_comparison(path: Path, comparison: Comparison, command: str) -> None:
    low, mean, high = comparison.ratio_min, comparison.ratio_mean, comparison.ratio_max
    summary = f"Ratio {low:.3g} to {high:.3g}, geometric mean {mean:.3g}. {comparison.common}"
    picture = figure([compare.panel(comparison)]) if len(comparison.rows) > 1 else ""
    (title, rows, columns), *parts = compare.tables(comparison)
    curve = ReportSection("Both, and their ratio", picture + table(rows, columns), title)
    sections = [
        ReportSection(title[0].upper() + title[1:], table(rows, columns))
        for title, rows, columns in parts
    ]
    write(
        path,
        f"{comparison.b} over {comparison.a}",
        summary,
        [curve, *sections, how_to_repeat(command)],
    )


def write_whatif(path: Path, effects: WhatIf, command: str) -> None:
    rows = effects.to_rows()
    panel = whatif.panel(effects)
    picture = figure([panel]) if isinstance(panel, Bars) and panel.values else ""
    ranked = [{"rank": n, **row} for n, row in enumerate(rows, 1)]
    columns = [Column("", "rank", str), Column("command", "run", left=True)]
    sections = [
        ReportSection(
            "What each number of the machine does", picture, "A fifth less and a fifth more."
        ),
        *(
            ReportSection(title, table(half, whatif.COLUMNS), whatif.chance_note(effects))
            for title, half in whatif.halves(ranked)
        ),
        ReportSection("The run of each change", table(ranked, columns)),
        how_to_repeat(command),
    ]
    write(
        path,
        f"What if: {whatif.job(effects)}",
        "Every row is an exact run with one change.",
        sections,
    )


def write_exploration(path: Path, exploration: Exploration, command: str) -> None:
    rows, columns = explore.front_of(exploration)
    picture = figure(explore.panels(exploration)) if exploration.front else ""
    runs = [{"design": str(n), "run": run} for n, run in explore.commands(exploration)]
    run_columns = [Column("design", "design", left=True), Column("command", "run", left=True)]
    about = "Filled: on the front. Hollow: allowed. Grey: past a bound."
    sections = [
        ReportSection("Designs on the front", table(rows, columns), explore.summary(exploration)),
        ReportSection("All designs", picture, about),
        ReportSection("The runs behind the front", table(runs, run_columns)),
        how_to_repeat(command),
    ]
    objectives = "; ".join(
        f"{'most' if objective.maximise else 'least'} {objective.words}"
        for objective in exploration.plan.objectives
    )
    write(path, f"Explored: {exploration.plan.title}", objectives, sections)


def how_to_repeat(command: str) -> ReportSection:
    return ReportSection("How to repeat it", f"<pre>{escape(command)}</pre>")

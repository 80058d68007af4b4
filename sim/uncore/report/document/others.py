"""The reports of a comparison, of what-ifs and of an exploration: what they print and draw, and how
to repeat them."""

from __future__ import annotations

from html import escape
from pathlib import Path

from uncore.drawing.panels import Bars
from uncore.drawing.table import Column
from uncore.report import compare, explore, whatif
from uncore.report.document.page import Section, figure, table, write
from uncore.study.compare.results import Comparison
from uncore.study.explore import Exploration
from uncore.study.whatif import WhatIf


def of_comparison(path: Path, found: Comparison, command: str) -> None:
    low, mean, high = found.ratio_min, found.ratio_mean, found.ratio_max
    about = f"Ratio {low:.3g} to {high:.3g}, geometric mean {mean:.3g}. {found.common}"
    drawn = figure([compare.panel(found)]) if len(found.rows) > 1 else ""
    (title, rows, columns), *parts = compare.tables(found)
    curve = Section("Both, and their ratio", drawn + table(rows, columns), title)
    more = [
        Section(title[0].upper() + title[1:], table(rows, columns))
        for title, rows, columns in parts
    ]
    write(path, f"{found.b} over {found.a}", about, [curve, *more, again(command)])


def of_whatif(path: Path, found: WhatIf, command: str) -> None:
    rows = found.to_rows()
    panel = whatif.panel(found)
    drawn = figure([panel]) if isinstance(panel, Bars) and panel.values else ""
    ranked = [{"rank": n, **row} for n, row in enumerate(rows, 1)]
    columns = [Column("", "rank", str), Column("command", "run", left=True)]
    sections = [
        Section("What each number of the machine does", drawn, "A fifth less and a fifth more."),
        *(
            Section(title, table(some, whatif.COLUMNS), whatif.of_chance(found))
            for title, some in whatif.halves(ranked)
        ),
        Section("The run of each change", table(ranked, columns)),
        again(command),
    ]
    write(
        path,
        f"What if: {whatif.job(found)}",
        "Every row is an exact run with one change.",
        sections,
    )


def of_exploration(path: Path, found: Exploration, command: str) -> None:
    rows, columns = explore.front_of(found)
    drawn = figure(explore.panels(found)) if found.front else ""
    runs = [{"design": str(n), "run": run} for n, run in explore.commands(found)]
    named = [Column("design", "design", left=True), Column("command", "run", left=True)]
    about = "Filled: on the front. Hollow: allowed. Grey: past a bound."
    sections = [
        Section("Designs on the front", table(rows, columns), explore.counted(found)),
        Section("All designs", drawn, about),
        Section("The runs behind the front", table(runs, named)),
        again(command),
    ]
    objectives = "; ".join(
        f"{'most' if one.most else 'least'} {one.words}" for one in found.plan.objectives
    )
    write(path, f"Explored: {found.plan.title}", objectives, sections)


def again(command: str) -> Section:
    return Section("How to repeat it", f"<pre>{escape(command)}</pre>")

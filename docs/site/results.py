"""Writes the pages of results, from the files of validation/results and the ledger of predictions.

write(docs)        writes a page with pictures for each file of results, claims.md and ledger.md
bars()             returns the table of acceptance limits for docs/validation.md
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from docs.site import claims, markdown

from uncore_lab.predict.ledger import entries
from uncore_lab.results.table import load
from uncore_lab.validate import (
    bar,
    blind,
    clocks,
    contention,
    curves,
    directory,
    handoff,
    interrupts,
    papers,
    prediction,
    scaling,
)
from uncore_lab.validate import lock_curves as locks
from uncore_lab.validate.curves import Drawing

LEDGER = """\
# The ledger

This page lists every machine that was predicted before we had measurements of it. A prediction has
the class medians of a handoff, in ns, with 80 % intervals. It follows from public specifications
and from the numbers of related machines (see [prediction.md](prediction.md)). A prediction is
recorded on its `date` by the commit named, and is never changed: the folder
`validation/uncore_lab/predict/ledger` has a file for each day, sealed by a digest. Later
measurements stand beside it. If memory has several nodes, the line is on node 0, and sides are
named after that node. `guess`: a number that matters came from the machine's own file, because no
related machine had it.
"""


class Page(NamedTuple):
    """The page that shows one file of results."""

    name: str
    title: str
    prose: str
    drawing: Drawing | None = None


BOOTED = Drawing(
    pictures=("machine",),
    panel="program",
    line="mode",
    x="tasks",
    simulated="simulated",
    measured="measured",
    heads=("tasks", "throughput over one task's"),
)
PAGES = (
    Page("handoffs", "Handing a line over: classes", handoff.PROSE),
    Page("pairs", "Handing a line over: pairs", handoff.PROSE),
    Page("contention", "One contended line", contention.PROSE, contention.DRAWING),
    Page("locks", "Locks: throughput of n threads", locks.PROSE, locks.DRAWING),
    Page("directory", "Reading a line that another core holds", directory.PROSE),
    Page("scaling", "will-it-scale: skeletons of kernel paths", scaling.PROSE, scaling.DRAWING),
    Page("interrupts", "Interrupts", interrupts.PROSE),
    Page("bench", "Published figures", papers.PROSE),
    Page("prediction", "Each machine predicted from the others", prediction.PROSE),
    Page("clocks", clocks.TITLE, clocks.PROSE),
    Page(
        "booted", "will-it-scale in a booted Linux", "How it was run: [linux.md](linux.md).", BOOTED
    ),
    Page("engines", "Beside SST and gem5", "What differs, and why: [engines.md](engines.md)."),
    Page("matching", "Matching SST and gem5", "How they match: [engines.md](engines.md)."),
)


def write(docs: Path) -> None:
    folder = docs / "results"
    folder.mkdir(parents=True, exist_ok=True)
    for page in PAGES:
        (folder / f"{page.name}.md").write_text(_page(page, folder))
    (docs / "claims.md").write_text(claims.page())
    (docs / "ledger.md").write_text(_ledger())


def bars() -> str:
    return markdown.table(load("bars"), bar.COLUMNS)


def _page(page: Page, folder: Path) -> str:
    rows = load(page.name)
    report_pictures = curves.pictures(page.name, rows, page.drawing) if page.drawing else []
    pictures = [markdown.picture(picture, folder) for picture in report_pictures]
    return "\n".join(
        [
            f"# {page.title}\n",
            f"{_with_links_from_results(page.prose)}\n",
            *pictures,
            markdown.plain(rows),
        ]
    )


def _with_links_from_results(prose: str) -> str:
    """Changes links that are relative to docs/ so that they work in docs/results/."""
    return prose.replace("](", "](../")


def _ledger() -> str:
    parts = [LEDGER]
    for day in dict.fromkeys(entry.date for entry in entries()):
        section = blind.section_of_day(day)
        parts += [f"## {section.title}\n", markdown.table(section.rows, section.columns)]
        parts += [markdown.bullets(section.notes)] if section.notes else []
    return "\n".join(parts)

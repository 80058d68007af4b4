"""The report of `uncore compare`: two curves, their ratio, and the parts of the difference.

Interface: `show(comparison, next_step)` prints it; `tables(comparison)` returns the printed tables;
`panel(comparison)` returns a picture of both curves.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from uncore.drawing import formats as units
from uncore.drawing import plot as plots
from uncore.drawing.spread import height, say_seeds, throughput
from uncore.drawing.table import Column, emit, say
from uncore.study.compare.results import Comparison, DifferencePart

MIN_REPORTED_RATIO = 1.05  # advice() calls two results with a smaller ratio equally fast
# lines or ns per operation; smaller values would be printed as 0.00
MIN_SHOWN_PER_OPERATION = 0.005


Table = tuple[str, list[dict[str, Any]], list[Column]]  # title, rows, columns


def show(comparison: Comparison, next_step: str) -> None:
    """Prints both curves, the range of the ratio, the parts of the difference, and the advice.

    `next_step`: a sentence printed after the advice, which says which command to run next.
    """
    (title, rows, columns), *parts = tables(comparison)
    emit(rows, False, columns, title)
    say_seeds(comparison.seeds)
    low, mean, high = comparison.ratio_min, comparison.ratio_mean, comparison.ratio_max
    say(f"ratio {low:.3g} to {high:.3g}, geometric mean {mean:.3g}\n" if len(rows) > 1 else "")
    for title, rows, columns in parts:
        if columns:
            emit(rows, False, columns, title)
        else:
            say(f"not known: {title}", "dim")
    say(f"{advice(comparison)}. {next_step}")


def advice(comparison: Comparison) -> str:
    """Returns the conclusion of the comparison as a sentence."""
    a, b, ratio = comparison.a, comparison.b, comparison.rows[-1].ratio
    fast, slow, speedup = (b, a, ratio) if ratio > 1 else (a, b, 1 / ratio)
    verdict = "neither is faster by a twentieth"
    if speedup >= MIN_REPORTED_RATIO:
        verdict = f"{fast} does {speedup:.3g} times the operations of {slow}"
    waits = [
        part for part in comparison.waits or [] if abs(part.difference) >= MIN_SHOWN_PER_OPERATION
    ]
    if waits:
        wait_a, wait_b = units.duration(1000 * waits[0].a), units.duration(1000 * waits[0].b)
        verdict += f"; waits for {waits[0].name} differ most, {wait_a} and {wait_b}"
    thread_words = f"{comparison.threads} thread{'s' * (comparison.threads > 1)}"
    return f"At {thread_words} {verdict}"


def tables(comparison: Comparison) -> list[Table]:
    """Returns the table of the curves, then a table for each part of the difference. The table of
    an unknown part has no columns.
    """
    a, b = comparison.a, comparison.b
    title = f"{b} over {a}" + (f": {comparison.common}" if comparison.common else "")
    at_threads = f"at {comparison.threads} threads"
    lines_title = f"lines fetched per operation {at_threads}"
    sections = [
        (title, [msgspec.to_builtins(row) for row in comparison.rows], _curves(a, b)),
        _part(comparison, comparison.classes, "from", lines_title),
        _part(comparison, comparison.lines, "holds", f"{lines_title}, by what they hold"),
    ]
    if comparison.waits is not None:
        waits_title = f"ns waited per operation {at_threads}, by what the lines hold"
        sections.append(_part(comparison, comparison.waits, "holds", waits_title))
    if comparison.path is not None:
        path = f"ns of the critical path per operation {at_threads}"
        sections.append(_part(comparison, comparison.path, "waiting for", path))
    return sections


def _ratio(value: float | None) -> str:
    return units.EMPTY if value is None else f"{value:.3g}"


def _part(
    comparison: Comparison, parts: Sequence[DifferencePart] | None, what: str, title: str
) -> Table:
    if parts is None:
        return title, [], []
    columns = _parts(what, comparison.a, comparison.b)
    return (
        title,
        [msgspec.to_builtins(p) for p in parts if max(p.a, p.b) >= MIN_SHOWN_PER_OPERATION],
        columns,
    )


def _curves(a: str, b: str) -> list[Column]:
    return [
        Column("threads", "threads", about="harts that ran the workload"),
        throughput(f"{a}, ops/s", "a"),
        throughput(f"{b}, ops/s", "b"),
        Column(
            "ratio",
            "ratio",
            "{:.3g}".format,
            about="throughput of the second over that of the first",
        ),
        Column("from", "ratio_min", _ratio, about="least ratio that the repeats allow"),
        Column("to", "ratio_max", _ratio, about="greatest ratio that the repeats allow"),
    ]


def _parts(what: str, a: str, b: str) -> list[Column]:
    return [
        Column(
            what,
            "name",
            left=True,
            about="distance from which lines are fetched, or the objects that they hold",
        ),
        Column(a, "a", "{:.2f}".format, about="lines, or ns, an operation of the first"),
        Column(b, "b", "{:.2f}".format, about="of the second"),
        Column("difference", "difference", "{:+.2f}".format, about="second less first"),
    ]


COLUMNS = [*_curves("A", "B"), *_parts("from, holds, waiting for", "A", "B")]


def panel(comparison: Comparison) -> plots.Panel:
    """Returns a picture of the throughput of both sides by threads."""
    rows = [msgspec.structs.asdict(row) for row in comparison.rows]
    series = {
        name: [(row["threads"], *height(row, side)) for row in rows]
        for side, name in (("a", comparison.a), ("b", comparison.b))
    }
    title = f"{comparison.b} over {comparison.a}"
    return plots.curves(series, title, "threads", "million operations per second")

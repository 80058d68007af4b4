"""The report of `uncore compare`: two curves, their ratio, and the parts of the difference.

Interface: `show(comparison, words)` prints, `tables(comparison)` are what it prints,
`panel(comparison)` draws.
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

NEAR = 1.05  # a ratio below it is not much
SEEN = 0.005  # lines or ns per operation: fewer would be written 0.00


Table = tuple[str, list[dict[str, Any]], list[Column]]  # title, rows, columns


def show(comparison: Comparison, more: str) -> None:
    """The curve's table, the ratio's range, then classes, lines and waiting; `more` to do now."""
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
    say(f"{advice(comparison)}. {more}")


def advice(comparison: Comparison) -> str:
    """The conclusion of the comparison, as a sentence."""
    a, b, ratio = comparison.a, comparison.b, comparison.rows[-1].ratio
    fast, slow, times = (b, a, ratio) if ratio > 1 else (a, b, 1 / ratio)
    said = "neither is faster by a twentieth"
    if times >= NEAR:
        said = f"{fast} does {times:.3g} times the operations of {slow}"
    waits = [part for part in comparison.waits or [] if abs(part.difference) >= SEEN]
    if waits:
        most = waits[0]
        said += f"; waits for {most.name} differ most, {units.duration(1000 * most.a)} and"
        said += f" {units.duration(1000 * most.b)}"
    at = f"{comparison.threads} thread{'s' * (comparison.threads > 1)}"
    return f"At {at} {said}"


def tables(comparison: Comparison) -> list[Table]:
    """The curve first; a table without columns is not known."""
    a, b = comparison.a, comparison.b
    title = f"{b} over {a}" + (f": {comparison.common}" if comparison.common else "")
    at = f"at {comparison.threads} threads"
    where = f"lines fetched per operation {at}"
    sections = [
        (title, [msgspec.to_builtins(row) for row in comparison.rows], _curves(a, b)),
        _part(comparison, comparison.classes, "from", where),
        _part(comparison, comparison.lines, "holds", f"{where}, by what they hold"),
    ]
    if comparison.waits is not None:
        waited = f"ns waited per operation {at}, by what the lines hold"
        sections.append(_part(comparison, comparison.waits, "holds", waited))
    if comparison.path is not None:
        path = f"ns of the critical path per operation {at}"
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
    return title, [msgspec.to_builtins(p) for p in parts if max(p.a, p.b) >= SEEN], columns


def _curves(a: str, b: str) -> list[Column]:
    return [
        Column("threads", "threads", about="harts that ran the workload"),
        throughput(f"{a}, ops/s", "a"),
        throughput(f"{b}, ops/s", "b"),
        Column("ratio", "ratio", "{:.3g}".format, about="the second over the first"),
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
    """Both curves."""
    rows = [msgspec.structs.asdict(row) for row in comparison.rows]
    series = {
        name: [(row["threads"], *height(row, side)) for row in rows]
        for side, name in (("a", comparison.a), ("b", comparison.b))
    }
    title = f"{comparison.b} over {comparison.a}"
    return plots.curves(series, title, "threads", "million operations per second")

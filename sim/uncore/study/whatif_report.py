"""The report of `uncore whatif`: the effect of each change, and a picture of the effects of the
machine's numbers.

Interface: `show(effects, top)` prints the tables; `panel(effects)` returns the picture;
`job(effects)` returns a title; `halves(rows)` separates changes from bounds, each with its title.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence

from uncore.drawing import formats as units
from uncore.drawing import plot as plots
from uncore.drawing.table import Column, Row, emit, say
from uncore.study.whatif import WhatIf
from uncore.support.steady import CONFIDENCE_PERCENT

CHANGES_TITLE = "What can be done, to the program or to the machine"
BOUNDS_TITLE = "Bounds: as if waiting for this cost nothing, which few programs can reach"
NO_CHANGE_APPLIES = (
    "no change of the kinds in --only applies to this program and machine: leave --only out"
)
MAX_NUMBERS_DRAWN = 12  # only the numbers with the largest effects are drawn


def show(effects: WhatIf, top: int) -> None:
    """Prints up to `top` rows of each half, the first and the last by rank, and then the options
    that repeat each row.
    """
    (slowest, fastest), latency = effects.base.ends, effects.base.median.latency
    spread_width = None if slowest is None or fastest is None else fastest - slowest
    p99 = f", p99 {units.duration(latency.p99)}" if latency else ""
    say(f"{job(effects)}: {units.rate(effects.base.throughput, spread_width)}{p99}\n", "bold")
    shown_rows: list[Row] = []
    for title, rows in halves(effects.to_rows()):
        picked = rows if len(rows) <= top else [*rows[: top - top // 4], *rows[-(top // 4) :]]
        count_note = f", {len(picked)} of {len(rows)}" if len(picked) < len(rows) else ""
        numbered = [{"rank": n, **row} for n, row in enumerate(picked, len(shown_rows) + 1)]
        emit(numbered, False, COLUMNS, f"{title}{count_note}")
        shown_rows += numbered
    if not shown_rows:
        say(NO_CHANGE_APPLIES)
        return
    say(f"{chance_note(effects)}\n", "dim")
    command = shlex.join(effects.words)
    say(f"{command}, and for each row:\n")
    for row in shown_rows:
        is_appended = row["run"] == f"{command} {row['words']}"
        # not wrapped, so that it can be copied
        print(f"{row['rank']:3}  {row['words'] if is_appended else row['run']}")
    first = shown_rows[0]
    say(
        f"\nnow: run it with the words of row {first['rank']} and --lines --output FILE.json;"
        " uncore lines FILE.json shows what is waited for then"
    )


def chance_note(effects: WhatIf) -> str:
    """Returns a note on how much of the effects may be chance."""
    if len(effects.base.points) == 1:
        return "one run of each; without --repeat 1 the table says how much of it is chance"
    return (
        f"from, to: {CONFIDENCE_PERCENT} % interval of the change, seed by seed; ~: it contains 0,"
        " so the change may be chance"
    )


def halves(rows: Sequence[Row]) -> Iterator[tuple[str, list[Row]]]:
    """Yields the title and the rows of the changes, then of the bounds; omits what has no rows."""
    for title, bound in ((CHANGES_TITLE, False), (BOUNDS_TITLE, True)):
        if half := [row for row in rows if (row["where"] == "bound") == bound]:
            yield title, half


def job(effects: WhatIf) -> str:
    return f"{' '.join(effects.words[2:4])}, {effects.base.threads} threads"


def _percent(value: float | None) -> str:
    return units.EMPTY if value is None else f"{100 * value:+.1f} %"


def _throughput(row: Row) -> str:
    return ("~ " if row["doubtful"] else "") + _percent(row["throughput_change"])


COLUMNS = [
    Column("", "rank", key=True),
    Column(
        "in",
        lambda row: None if row["where"] == "bound" else row["where"],
        left=True,
        about="part that is changed: the program or the machine",
    ),
    Column("change", "change", left=True, about="the single change of this run"),
    Column(
        "throughput",
        _throughput,
        about="change of throughput, median over the seeds; ~: chance alone may explain it",
    ),
    Column("from", "throughput_change_min", _percent, about="lower end of its 95 % interval"),
    Column("to", "throughput_change_max", _percent, about="upper end of its 95 % interval"),
    Column("p99", "p99_change", _percent, about="change of the 99th percentile of latencies"),
]


def panel(effects: WhatIf) -> plots.Panel:
    """Returns bars: the change of throughput if a number is a fifth smaller, and a fifth larger.

    A number is left out if both of its effects may be chance.
    """
    numbers: dict[str, dict[str, float]] = {}
    certain = set()
    for effect in effects.effects:
        if effect.change.kind == "number":
            key, before, _, after = effect.change.what.split()
            end = "-20 %" if _amount(after) < _amount(before) else "+20 %"
            numbers.setdefault(key, {})[end] = 100 * effect.throughput
            certain |= set() if effect.doubtful else {key}
    certain_numbers = [(key, ends) for key, ends in numbers.items() if key in certain]
    spans = sorted(certain_numbers, key=lambda item: -max(map(abs, item[1].values())))[
        :MAX_NUMBERS_DRAWN
    ]
    return plots.bars(dict(spans), job(effects), "change of throughput, %", horizontal=True)


def _amount(text: str) -> float:
    return float(re.match(r"[\d.]+", text)[0])  # type: ignore[index]

"""`uncore whatif`: what each change is worth, and a picture of the machine's numbers.

Interface: `show(found, top)` prints, `panel(found)` draws; `job(found)`, what was run;
`halves(rows)`, the rows of what can be done, and bounds, each with their title.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence

from uncore.drawing import formats as units
from uncore.drawing import plot as plots
from uncore.drawing.spread import throughput
from uncore.drawing.table import Column, Row, emit, say
from uncore.study.whatif import WhatIf
from uncore.support.steady import CONFIDENCE_PERCENT

DONE = "What can be done, to the program or to the machine"
BOUNDS = "Bounds: as if waiting for this cost nothing, which few programs can reach"
NO_CHANGE_APPLIES = (
    "no change of the kinds in --only applies to this program and machine: leave --only out"
)
TORNADO = 12  # numbers that are drawn, those that matter most


def show(effects: WhatIf, top: int) -> None:
    """Prints `top` changes from either end, the bounds, then the runs that repeat them."""
    (least, most), latency = effects.base.ends, effects.base.median.latency
    apart = None if least is None or most is None else most - least
    p99 = f", p99 {units.duration(latency.p99)}" if latency else ""
    say(f"{job(effects)}: {units.rate(effects.base.throughput, apart)}{p99}\n", "bold")
    shown: list[Row] = []
    for title, rows in halves(effects.to_rows()):
        ends = rows if len(rows) <= top else [*rows[: top - top // 4], *rows[-(top // 4) :]]
        more = f", {len(ends)} of {len(rows)}" if len(ends) < len(rows) else ""
        numbered = [{"rank": n, **row} for n, row in enumerate(ends, len(shown) + 1)]
        emit(numbered, False, COLUMNS, f"{title}{more}")
        shown += numbered
    if not shown:
        say(NO_CHANGE_APPLIES)
        return
    say(f"{of_chance(effects)}\n", "dim")
    say(f"{shlex.join(effects.words)}, and for each row:\n")
    for row in shown:
        print(f"{row['rank']:3}  {row['words']}")  # one line each, to be copied
    first = shown[0]
    say(
        f"\nnow: run it with the words of row {first['rank']} and --lines --output FILE.json;"
        " uncore lines FILE.json shows what is waited for then"
    )


def of_chance(effects: WhatIf) -> str:
    """A note on how far a rank can be trusted."""
    if len(effects.base.points) == 1:
        return "one run of each; without --repeat 1 the table says how much of it is chance"
    return (
        f"~: may be chance, the {CONFIDENCE_PERCENT} % interval of the change, by seeds, holds none"
    )


def halves(rows: Sequence[Row]) -> Iterator[tuple[str, list[Row]]]:
    """The halves of the table that have rows."""
    for title, bound in ((DONE, False), (BOUNDS, True)):
        if chosen := [row for row in rows if (row["where"] == "bound") == bound]:
            yield title, chosen


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
        about="what has to be changed, the program or the machine",
    ),
    Column("change", "change", left=True, about="the one thing that is otherwise"),
    Column(
        "throughput",
        _throughput,
        about="what it gains; ~ where some repeat has a throughput that occurs without it, too",
    ),
    Column("p99", "p99_change", _percent, about="the same of the 99th percentile of latencies"),
    throughput(),
]


def panel(effects: WhatIf) -> plots.Panel:
    """Effect of a fifth less and a fifth more of each number on throughput; numbers whose effects
    may both be chance are left out.
    """
    numbers: dict[str, dict[str, float]] = {}
    certain = set()
    for effect in effects.effects:
        if effect.change.kind == "number":
            key, before, _, after = effect.change.what.split()
            end = "-20 %" if _amount(after) < _amount(before) else "+20 %"
            numbers.setdefault(key, {})[end] = 100 * effect.throughput
            certain |= set() if effect.doubtful else {key}
    drawn = [(key, ends) for key, ends in numbers.items() if key in certain]
    spans = sorted(drawn, key=lambda item: -max(map(abs, item[1].values())))[:TORNADO]
    return plots.bars(dict(spans), job(effects), "change of throughput, %", lying=True)


def _amount(text: str) -> float:
    return float(re.match(r"[\d.]+", text)[0])  # type: ignore[index]

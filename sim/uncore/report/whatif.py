"""`uncore whatif`: what each change is worth, best first, and a picture of the machine's numbers.

Interface: `show(found)` prints, `panel(found)` draws; `job(found)`, what was run.
"""

from __future__ import annotations

import re
import shlex

from uncore.counterfactual import WhatIf
from uncore.report import plot as plots
from uncore.report import units
from uncore.report.spread import throughput
from uncore.report.table import Column, Row, emit, say

TORNADO = 12  # numbers that are drawn, those that matter most


def show(found: WhatIf, top: int) -> None:
    """As many changes as asked for from either end, then the runs that repeat them."""
    rows = found.to_rows()
    shown = rows if len(rows) <= top else [*rows[: top - top // 4], *rows[len(rows) - top // 4 :]]
    more = f", {len(shown)} of {len(rows)} changes" if len(shown) < len(rows) else ""
    base, (least, most) = found.base.median, found.base.ends
    apart = None if least is None or most is None else most - least
    title = f"{job(found)}: {units.rate(base.throughput, apart)}"
    p99 = f", p99 {units.duration(base.latency.p99)}" if base.latency else ""
    emit(shown, False, COLUMNS, f"{title}{p99}{more}")
    if any(row["doubtful"] for row in shown):
        say("~: chance alone may have done it, some repeats are as without the change\n", "dim")
    say(f"{shlex.join(found.words)}, and for each row:\n")
    for number, row in enumerate(shown, 1):
        print(f"{number:3}  {row['words']}")  # one line each, to be copied


def job(found: WhatIf) -> str:
    return f"{' '.join(found.words[2:4])}, {found.base.threads} threads"


def _percent(value: float | None) -> str:
    return units.EMPTY if value is None else f"{100 * value:+.1f} %"


def _throughput(row: Row) -> str:
    return ("~ " if row["doubtful"] else "") + _percent(row["throughput_change"])


COLUMNS = [
    Column("change", "change", left=True, about="the one thing that is otherwise"),
    Column(
        "throughput",
        _throughput,
        about="what it gains; ~ where some repeat has a throughput that occurs without it, too",
    ),
    Column("p99", "p99_change", _percent, about="the same of the 99th percentile of latencies"),
    throughput(),
]


def panel(found: WhatIf) -> plots.Panel:
    """What a fifth less and a fifth more of each number does to throughput, as far as one of the
    two does more than chance."""
    numbers: dict[str, dict[str, float]] = {}
    certain = set()
    for one in found.effects:
        if one.change.kind == "number":
            key, before, _, after = one.change.what.split()
            end = "-20 %" if _amount(after) < _amount(before) else "+20 %"
            numbers.setdefault(key, {})[end] = 100 * one.throughput
            certain |= set() if one.doubtful else {key}
    drawn = [(key, ends) for key, ends in numbers.items() if key in certain]
    spans = sorted(drawn, key=lambda item: -max(map(abs, item[1].values())))[:TORNADO]
    return plots.bars(dict(spans), job(found), "change of throughput, %", lying=True)


def _amount(text: str) -> float:
    return float(re.match(r"[\d.]+", text)[0])  # type: ignore[index]

"""`uncore lines` by object: what an operation's time is made of.

    show(result, observed, top)       for people
    rows(point, observed)             of `--json`, one an object: its counts, per operation

The critical path is that of the whole run, over its operations: what is left of an operation when
everything that passes beside something else is taken away.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from uncore.report import units
from uncore.report.table import Column, emit, say
from uncore.result import Observed, Point, Result
from uncore.result.objects import alike
from uncore.result.sharing import costs

NAMED = 4  # objects of the sum
COUNTS = ("reads", "writes", "misses", "needless")
Row = dict[str, Any]


def rows(point: Point, observed: Observed) -> list[Row]:
    ops, path = max(point.ops, 1), _path(observed)
    return [
        {
            "object": one.name,
            "lines": one.lines,
            "critical_ns": one.critical_ps / ops / 1000,
            "critical_share": one.critical_ps / path if path else None,
            "waited_ns": one.waited_ps / ops / 1000,
            "needless_ns": one.needless_ps / ops / 1000,
            **{name: getattr(one, name) / ops for name in COUNTS},
        }
        for one in observed.objects
    ]


def _path(observed: Observed) -> int:
    return observed.path_ps if isinstance(observed.path_ps, int) else 0


def show(result: Result, observed: Observed, top: int) -> None:
    """The sum, a row an object, and what shares a line without need."""
    machine, program = result.job["machine"]["id"], result.job["program"]["name"]
    point = result.point(observed.threads, observed.seed)
    found = rows(point, observed)
    seed = f", seed {observed.seed}" if isinstance(observed.seed, int) else ""
    title = f"{program} on {machine}, {observed.threads} threads{seed}: {_sum(point, observed)}"
    more = f"{min(top, len(found))} of {len(found)} objects, per operation"
    emit(found[:top], False, COLUMNS, f"{title}\n{more}")
    for fields, lines in _shared_without_need(observed).items():
        where = f"{lines} lines" if lines > 1 else "one line"
        advice = f"shared without need, on {where}: {fields}; --by address says by whom"
        say(advice)


def _sum(point: Point, observed: Observed) -> str:
    """`an operation takes 690 ns = nodes[].granted 182 + guarded 146 + 12 executing`."""
    each = _path(observed) / max(point.ops, 1)
    parts = [o for o in observed.objects if o.critical_ps][:NAMED]
    rest = _path(observed) - sum(one.critical_ps for one in observed.objects)
    others = sum(one.critical_ps for one in observed.objects) - sum(o.critical_ps for o in parts)
    words = [f"{o.name} {_ns(o.critical_ps, point)}" for o in parts]
    words += [f"{_ns(others, point)} other lines"] if others else []
    words += [f"{_ns(rest, point)} between waits"]
    return f"an operation takes {units.duration(each)} = {' + '.join(words)}"


def _ns(ps: int, point: Point) -> str:
    return f"{ps / max(point.ops, 1) / 1000:.3g}"


def _shared_without_need(observed: Observed) -> Counter[str]:
    """Fields that should not share a line, and on how many lines they do."""
    apart = [cost.apart for cost in costs(observed) if cost.apart]
    general = alike(name for groups in apart for group in groups for name in group.fields)
    return Counter(
        " | ".join(dict.fromkeys(", ".join(general[n] for n in group.fields) for group in groups))
        for groups in apart
    )


COLUMNS = [
    Column("object", "object", left=True),
    Column("critical path, ns", "critical_ns", "{:.1f}".format),
    Column("share", "critical_share", lambda v: units.EMPTY if v is None else f"{100 * v:.0f} %"),
    Column("waited, all harts, ns", "waited_ns", "{:.1f}".format),
    Column("misses", "misses", "{:.2f}".format),
    Column("needless", "needless", "{:.2f}".format),
    Column("reads", "reads", "{:.2f}".format),
    Column("writes", "writes", "{:.2f}".format),
    Column("lines", "lines"),
]

"""`uncore lines`: shows how much of an operation's time is spent on each variable and field.

    Lines(result, observed)           the rows of `--json`: for each object its counts per operation
    show(lines, top)                  prints the tables
    panel(lines)                      returns the critical path as a picture

The critical path of an operation is that of the whole run divided by its operations: the part of
an operation's time that does not overlap with anything else.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from uncore.drawing import formats as units
from uncore.drawing import plot as plots
from uncore.drawing.table import Column, emit, say
from uncore.program.frames import is_user_source
from uncore.program.objects import alike
from uncore.result import Observed, Point, Result
from uncore.result.frame import Framed
from uncore.result.sharing import LineCost, costs

MAX_SUM_OBJECTS = 4
MIN_WHOLE_NS = 999.5  # above this, three significant digits would need an exponent
MAX_DRAWN_OBJECTS = 12
MAX_SHARED_GROUPS = 4  # groups of fields on one line that are printed
COUNT_FIELDS = ("reads", "writes", "misses", "needless", "failed_scs")
Row = dict[str, Any]


@dataclass(frozen=True, repr=False)
class Lines(Framed):
    """Costs of each object at one point of a result."""

    result: Result
    observed: Observed

    @property
    def point(self) -> Point:
        return self.result.point(self.observed.threads, self.observed.seed)

    @property
    def title(self) -> str:
        machine, program = self.result.job["machine"]["id"], self.result.job["program"]["name"]
        seed = f", seed {self.observed.seed}" if isinstance(self.observed.seed, int) else ""
        return f"{program} on {machine}, {self.observed.threads} threads{seed}"

    @property
    def sum(self) -> str:
        """Returns a text such as `one operation every 690 ns = nodes[].granted 182 + guarded 146 +
        12 between waits`.
        """
        return _sum(self.point, self.observed)

    def __repr__(self) -> str:
        return f"<lines of {self.title}>"

    def to_rows(self) -> list[Row]:
        """Returns a row for each object; objects with most of the critical path come first."""
        ops, path = max(self.point.ops, 1), _path(self.observed)
        operation_ns = self.point.path_of_an_operation(path) / 1000
        return [
            {
                "object": object_.name,
                "source": object_.source,
                "chain": object_.chain,
                "lines": object_.lines,
                "critical_ns": object_.critical_ps / path * operation_ns if path else 0.0,
                "critical_share": object_.critical_ps / path if path else None,
                "waited_ns": object_.waited_ps / ops / 1000,
                "needless_ns": object_.needless_ps / ops / 1000,
                **{name: getattr(object_, name) / ops for name in COUNT_FIELDS},
            }
            for object_ in self.observed.objects
        ]

    def _dimensions(self) -> list[str]:
        return ["object"]


def _path(observed: Observed) -> int:
    return observed.path_ps if isinstance(observed.path_ps, int) else 0


def show(lines: Lines, top: int, chains: bool = False) -> None:
    """Prints the sum, a row for each of the first `top` objects, with `chains` their call chains,
    and groups of fields that share a line needlessly.
    """
    rows = lines.to_rows()
    title = f"{lines.title}: {lines.sum}"
    object_count = f"{min(top, len(rows))} of {len(rows)} objects, per operation"
    emit(rows[:top], False, COLUMNS, f"{title}\n{object_count}")
    if rows and (sentence := _users_costliest_line(lines.observed, rows[0]["source"])):
        say(sentence)
    for row in rows[:top] if chains else ():
        say(f"{row['object']}: " + " < ".join(map(units.from_here, row["chain"])))
    groups_by_fields = _shared_without_need(lines.observed)
    for fields, count in list(groups_by_fields.items())[:MAX_SHARED_GROUPS]:
        line_count = f"{count} lines" if count > 1 else "one line"
        say(f"shared without need, on {line_count}: {fields}")
    if groups_by_fields:
        hidden = len(groups_by_fields) - MAX_SHARED_GROUPS
        groups = f"{hidden} more such groups; " if hidden > 0 else ""
        say(f"{groups}--by address says which harts; uncore whatif, what lines of their own gain")


def _users_costliest_line(observed: Observed, first: str) -> str:
    """Returns a sentence on the costliest source line in the user's files, or "".

    `first` is the source of the costliest object. The sentence is only needed if that is not one of
    the user's files, for example if a library has threads of its own.
    """
    critical = Counter[str]()
    for use in (
        use for line in observed.lines for use in line.uses if _has_user_source(use.source)
    ):
        critical[use.source] += use.critical_ps
    if _has_user_source(first) or not any(critical.values()):
        return ""
    ((source, cost),) = critical.most_common(1)
    share = f"{100 * cost / _path(observed):.2g} % of the path"
    place = f"of your own files {units.from_here(source)} costs most, {share}"
    return f"{place}; nothing there calls what the first row shows"


def _has_user_source(source: str) -> bool:
    return is_user_source(source.rpartition(":")[0])


def panel(lines: Lines) -> plots.Panel:
    """Returns bars of the objects with most of the critical path."""
    hot = [row for row in lines.to_rows() if row["critical_ns"]][:MAX_DRAWN_OBJECTS]
    groups = {row["object"]: {"critical path": row["critical_ns"]} for row in hot}
    return plots.bars(groups, lines.title, "critical path, ns an operation", horizontal=True)


def _sum(point: Point, observed: Observed) -> str:
    """Formats the time of an operation as a sum (see Lines.sum)."""
    operation_ps = point.path_of_an_operation(_path(observed))
    parts = [o for o in observed.objects if o.critical_ps][:MAX_SUM_OBJECTS]
    path, total_critical = _path(observed), sum(object_.critical_ps for object_ in observed.objects)
    other_critical = total_critical - sum(o.critical_ps for o in parts)

    def ns(ps: int) -> str:
        return _ns(ps / path * operation_ps if path else 0)

    words = [f"{o.name} {ns(o.critical_ps)}" for o in parts]
    words += [f"{ns(other_critical)} other lines"] if other_critical else []
    words += [f"{ns(path - total_critical)} between waits"]
    return f"one operation every {units.duration(operation_ps)} = {' + '.join(words)}"


def _ns(ps: float) -> str:
    ns = ps / 1000
    return f"{ns:.3g}" if ns < MIN_WHOLE_NS else f"{ns:.0f}"


def _shared_without_need(observed: Observed) -> Counter[str]:
    """Returns the groups of fields that should not share a line, costliest first; each group with
    the number of lines on which it occurs.
    """
    field_groups = [cost.apart for cost in sorted(costs(observed), key=_sort_key) if cost.apart]
    general = alike(name for groups in field_groups for group in groups for name in group.fields)
    grouped = (
        dict.fromkeys(
            ", ".join(dict.fromkeys(general[n] for n in group.fields)) for group in groups
        )
        for groups in field_groups
    )
    return Counter(" | ".join(sorted(groups)) for groups in grouped)


def _sort_key(cost: LineCost) -> int:
    return -cost.needless_ps


COLUMNS = [
    Column(
        "object", "object", left=True, about="a variable, or one field of all elements of an array"
    ),
    Column(
        "costs most at",
        lambda row: units.from_here(row["source"]) or None,
        left=True,
        about="source line of your own files; --chain names the functions between it and the"
        " access",
    ),
    Column(
        "critical path, ns",
        "critical_ns",
        "{:.1f}".format,
        about="time that waiting for the object adds to an operation",
    ),
    Column(
        "share",
        "critical_share",
        lambda v: units.EMPTY if v is None else f"{100 * v:.0f} %",
        about="share of the critical path",
    ),
    Column(
        "waited, all harts, ns",
        "waited_ns",
        "{:.1f}".format,
        about="time per operation that all harts waited for the object, on and off the critical"
        " path",
    ),
    Column("misses", "misses", "{:.2f}".format, about="misses per operation in the core's caches"),
    Column(
        "needless",
        "needless",
        "{:.2f}".format,
        about="misses per operation by false sharing, which another layout would avoid",
    ),
    Column("reads", "reads", "{:.2f}".format, about="reads per operation, atomics included"),
    Column("writes", "writes", "{:.2f}".format, about="writes per operation, atomics included"),
    Column(
        "failed SCs",
        "failed_scs",
        "{:.2f}".format,
        minor=True,
        about="store-conditionals per operation that failed",
    ),
    Column("lines", "lines", about="number of cache lines that the object lies on"),
]

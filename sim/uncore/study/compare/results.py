"""Two results side by side: by how much one is faster at each thread count, and why.

    comparison = compare(a, b)     raises UserError where they share no thread count
    most_threads(a, b)             where the difference is looked for
    compare(a, b, seen)            with what the probe `lines` saw of both there

A ratio is b over a, of the medians of each one's repeats.  What makes the difference is counted
where both results have most threads: lines fetched per operation, by the distance class they came
from and by the object they hold (an array's elements together); the time waited for each object,
which tells a line that is far away from one that many want; and each object's part of the critical
path, which tells a wait that costs throughput from one that passes beside others.  What one result
does not have counts 0 there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import geometric_mean

import msgspec

from uncore.errors import UserError
from uncore.job import Job
from uncore.job.schema import options
from uncore.program.objects import alike, whole
from uncore.result.observed import Observed
from uncore.result.repeats import Repeats, repeats
from uncore.result.schema import Point, Result

MOST_LINES = 8  # objects kept
AT_START_AND_END, BETWEEN = "at the start and end", "between waits"


class Ratio(msgspec.Struct, frozen=True):
    """One thread count: operations a second of both, and b over a; with the least and the greatest
    of the repeats, None of one run, and of what their ratio can be."""

    threads: int
    a: float
    a_min: float | None
    a_max: float | None
    b: float
    b_min: float | None
    b_max: float | None
    ratio: float
    ratio_min: float | None
    ratio_max: float | None


class DifferencePart(msgspec.Struct, frozen=True):
    """Lines fetched or ns waited, per operation, of one class or of one object."""

    name: str
    a: float
    b: float
    difference: float  # b - a


class Comparison(msgspec.Struct, frozen=True):
    a: str  # label of one side: the workload, the machine, or both, as far as they differ
    b: str
    common: str  # what does not
    rows: list[Ratio]
    ratio_min: float
    ratio_mean: float  # geometric
    ratio_max: float
    seeds: list[int]  # of either's repeats
    threads: int  # count at which the parts were counted
    classes: list[DifferencePart] | None  # None: an engine cannot know them
    lines: list[DifferencePart] | None
    waits: list[DifferencePart] | None = None  # ns; None: nobody looked
    path: list[DifferencePart] | None = None  # ns of the critical path


def compare(a: Result, b: Result, seen: Sequence[Observed] = ()) -> Comparison:
    """All of it; parts are those that differ most first."""
    rows = [_ratio(p, q) for p, q in _common(a, b)]
    ratios = [row.ratio for row in rows]
    last_a, last_b = (same.median for same in _common(a, b)[-1])
    names = _names(a, b)
    points = zip((last_a, last_b), seen or (None, None), strict=True)
    sides = zip((last_a, last_b), seen, strict=True) if seen else ()
    return Comparison(
        a=names[0],
        b=names[1],
        common=names[2],
        rows=rows,
        ratio_min=min(ratios),
        ratio_mean=geometric_mean(ratios),
        ratio_max=max(ratios),
        seeds=sorted({*a.job.get("seeds", []), *b.job.get("seeds", [])}),
        threads=last_a.threads,
        classes=_parts(last_a, last_b, _classes(last_a), _classes(last_b)),
        lines=_most(_parts(last_a, last_b, *(_lines(*side) for side in points))),
        waits=_most(_times(last_a, last_b, [_waited(side) for side in seen])),
        path=_most(_times(last_a, last_b, [_critical(*side) for side in sides])),
    )


def most_threads(a: Result, b: Result) -> int:
    return _common(a, b)[-1][0].threads


def _common(a: Result, b: Result) -> list[tuple[Repeats, Repeats]]:
    of_a, of_b = ({s.threads: s for s in repeats(r) if s.median.throughput} for r in (a, b))
    both = [(same, of_b[threads]) for threads, same in of_a.items() if threads in of_b]
    if not both:
        counts = " and ".join(
            ", ".join(str(same.threads) for same in repeats(r)) or "none" for r in (a, b)
        )
        raise UserError(f"the results have thread counts {counts}: none in common to compare at")
    return sorted(both, key=lambda pair: pair[0].threads)


def _ratio(a: Repeats, b: Repeats) -> Ratio:
    """The slowest of one over the fastest of the other is the least that the ratio can be."""
    of_a, of_b = a.rate, b.rate
    (a_min, a_max), (b_min, b_max) = a.ends, b.ends
    has_spread = a_min is not None or b_min is not None
    low, high = (b_min or of_b) / (a_max or of_a), (b_max or of_b) / (a_min or of_a)
    return Ratio(
        threads=a.threads,
        a=of_a,
        a_min=a_min,
        a_max=a_max,
        b=of_b,
        b_min=b_min,
        b_max=b_max,
        ratio=of_b / of_a,
        ratio_min=low if has_spread else None,
        ratio_max=high if has_spread else None,
    )


def _names(a: Result, b: Result) -> tuple[str, str, str]:
    """Labels of both results and of what they share. Every setting that differs is in the
    labels.
    """
    mine, theirs = _settings(a), _settings(b)
    differ = [k for k in {**mine, **theirs} if mine.get(k) != theirs.get(k)] or ["workload"]
    common = [mine["workload"], mine["machine"]]
    return (
        " ".join(_setting(k, mine) for k in differ),
        " ".join(_setting(k, theirs) for k in differ),
        " on ".join(v for k, v in zip(("workload", "machine"), common, strict=True)
                    if k not in differ),
    )  # fmt: skip


def _setting(key: str, settings: Mapping[str, str]) -> str:
    value = settings.get(key, "-")
    return value if key in ("workload", "machine") else f"{key}={value}"


def _settings(result: Result) -> dict[str, str]:
    job = result.job
    words = [name for name, one in options(Job).items() if one.form.word and name in job]
    chosen = dict([*job["parameters"], *job["overrides"]])
    return {
        "workload": job["program"]["name"],
        "machine": job["machine"]["id"],
        **{name: str(job[name]) for name in words},
        **chosen,
    }


# ---- Parts of the difference ---------------------------------------------------------------------

Counts = Mapping[str, int] | None


def _classes(point: Point) -> Counts:
    return point.transfers


def _lines(point: Point, seen: Observed | None) -> Counts:
    if point.lines is None:
        return None
    names, counts = dict(point.names), Counter[str]()
    for line in seen.lines if seen else ():
        names[line.address] = ", ".join(dict.fromkeys(name for _, _, name in line.fields))
    general = alike(names.get(address, f"{address:#x}") for address, _ in point.lines)
    for address, count in point.lines:
        parts = general[names.get(address, f"{address:#x}")].split(", ")
        counts[", ".join(dict.fromkeys(map(whole, parts)))] += count
    return counts


def _waited(seen: Observed) -> Counter[str]:
    """Waiting by object; that outside the region of interest belongs to AT_START_AND_END."""
    waited = Counter({object_.name: object_.waited_ps for object_ in seen.objects})
    return waited + Counter({AT_START_AND_END: seen.waited_ps - waited.total()})


def _critical(point: Point, seen: Observed) -> Counter[str]:
    """The critical path by object, as long as the run's operations take at its rate."""
    path = seen.path_ps if isinstance(seen.path_ps, int) else 0
    scale = point.path_of_an_operation(path) * point.ops / path if path else 0
    critical = Counter({o.name: round(o.critical_ps * scale) for o in seen.objects})
    return critical + Counter({BETWEEN: round(path * scale) - critical.total()})


def _times(a: Point, b: Point, of_both: Sequence[Counter[str]]) -> list[DifferencePart] | None:
    """In ns."""
    parts = _parts(a, b, *of_both) if of_both else None
    return parts and [
        DifferencePart(part.name, part.a / 1e3, part.b / 1e3, part.difference / 1e3)
        for part in parts
    ]


def _parts(a: Point, b: Point, of_a: Counts, of_b: Counts) -> list[DifferencePart] | None:
    if of_a is None or of_b is None:
        return None
    parts = []
    for name in {**of_a, **of_b}:
        per_op = of_a.get(name, 0) / max(a.ops, 1), of_b.get(name, 0) / max(b.ops, 1)
        parts.append(DifferencePart(name, *per_op, per_op[1] - per_op[0]))
    return sorted(parts, key=lambda part: -abs(part.difference))


def _most(parts: list[DifferencePart] | None) -> list[DifferencePart] | None:
    return parts and parts[:MOST_LINES]

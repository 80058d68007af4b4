"""Compares two results: by how much one is faster at each thread count, and why.

    comparison = compare(a, b)     raises UserError if they have no thread count in common
    most_threads(a, b)             returns the largest common thread count
    compare(a, b, observed)        also uses what `lines` recorded at that thread count

A ratio is b over a, of the medians of the repeats. The parts of the difference are those at the
largest common thread count. They are the lines fetched per operation, by distance class and by
object (the elements of an array are one object); the time waited for each object, which
distinguishes a distant line from a contended one; and each object's part of the critical path,
which distinguishes waits that cost throughput from waits that overlap with others. If only one of
the results has an object, it counts 0 in the other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import geometric_mean

import msgspec

from uncore.errors import UserError
from uncore.job import Job
from uncore.job.schema import options
from uncore.program.objects import alike, whole_object
from uncore.result.observed import Observed
from uncore.result.repeats import Repeats, repeats
from uncore.result.schema import Point, Result

MAX_OBJECTS_COMPARED = 8  # only the objects with the largest differences are kept
AT_START_AND_END, BETWEEN_WAITS = "at the start and end", "between waits"


class Ratio(msgspec.Struct, frozen=True):
    """The operations per second of both results at one thread count, and the ratio b over a.

    The minima and maxima of a and b are those of the repeats (None for a single run). Those of the
    ratio are the smallest and the largest ratio that the repeats allow.
    """

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
    """Lines fetched per operation, or ns waited per operation, in one class or for one object."""

    name: str
    a: float
    b: float
    difference: float  # b - a


class Comparison(msgspec.Struct, frozen=True):
    # labels of both results: the settings in which they differ, such as the workload
    a: str
    b: str
    common: str  # the workload and the machine, if they are the same in both results
    rows: list[Ratio]
    ratio_min: float
    ratio_mean: float  # geometric mean
    ratio_max: float
    seeds: list[int]  # seeds of the repeats of both
    threads: int  # thread count at which the parts were counted
    classes: list[DifferencePart] | None  # None: an engine does not know them
    lines: list[DifferencePart] | None
    waits: list[DifferencePart] | None = None  # waiting in ns; None: not observed
    path: list[DifferencePart] | None = None  # parts of the critical path in ns; None: not observed


def compare(a: Result, b: Result, observed: Sequence[Observed] = ()) -> Comparison:
    """Compares two results. Parts with the largest differences come first."""
    rows = [_ratio(p, q) for p, q in _common_thread_counts(a, b)]
    ratios = [row.ratio for row in rows]
    last_a, last_b = (repeats_.median for repeats_ in _common_thread_counts(a, b)[-1])
    names = _names(a, b)
    points = zip((last_a, last_b), observed or (None, None), strict=True)
    sides = zip((last_a, last_b), observed, strict=True) if observed else ()
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
        lines=_largest_parts(_parts(last_a, last_b, *(_lines(*side) for side in points))),
        waits=_largest_parts(_times(last_a, last_b, [_waits_by_object(side) for side in observed])),
        path=_largest_parts(_times(last_a, last_b, [_critical(*side) for side in sides])),
    )


def most_threads(a: Result, b: Result) -> int:
    return _common_thread_counts(a, b)[-1][0].threads


def _common_thread_counts(a: Result, b: Result) -> list[tuple[Repeats, Repeats]]:
    of_a, of_b = ({s.threads: s for s in repeats(r) if s.median.throughput} for r in (a, b))
    common = [(repeats_, of_b[threads]) for threads, repeats_ in of_a.items() if threads in of_b]
    if not common:
        counts = " and ".join(
            ", ".join(str(repeats_.threads) for repeats_ in repeats(r)) or "none" for r in (a, b)
        )
        raise UserError(f"the results have thread counts {counts}: none in common to compare at")
    return sorted(common, key=lambda pair: pair[0].threads)


def _ratio(a: Repeats, b: Repeats) -> Ratio:
    """Returns the row of one thread count. The smallest ratio is the slowest repeat of b over the
    fastest repeat of a; the largest is the fastest of b over the slowest of a.
    """
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
    """Returns a label for each result, made of the settings that differ, and a label of the
    workload and the machine if both results share them.
    """
    of_a, of_b = _settings(a), _settings(b)
    differ = [k for k in {**of_a, **of_b} if of_a.get(k) != of_b.get(k)] or ["workload"]
    common = [of_a["workload"], of_a["machine"]]
    return (
        " ".join(_setting(k, of_a) for k in differ),
        " ".join(_setting(k, of_b) for k in differ),
        " on ".join(v for k, v in zip(("workload", "machine"), common, strict=True)
                    if k not in differ),
    )  # fmt: skip


def _setting(key: str, settings: Mapping[str, str]) -> str:
    value = settings.get(key, "-")
    return value if key in ("workload", "machine") else f"{key}={value}"


def _settings(result: Result) -> dict[str, str]:
    job = result.job
    words = [name for name, option in options(Job).items() if option.form.word and name in job]
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


def _lines(point: Point, observed: Observed | None) -> Counts:
    if point.lines is None:
        return None
    names, counts = dict(point.names), Counter[str]()
    for line in observed.lines if observed else ():
        names[line.address] = ", ".join(dict.fromkeys(name for _, _, name in line.fields))
    general_names = alike(names.get(address, f"{address:#x}") for address, _ in point.lines)
    for address, count in point.lines:
        parts = general_names[names.get(address, f"{address:#x}")].split(", ")
        counts[", ".join(dict.fromkeys(map(whole_object, parts)))] += count
    return counts


def _waits_by_object(observed: Observed) -> Counter[str]:
    """Returns the time waited for each object, in ps. Waits outside the region of interest are
    AT_START_AND_END.
    """
    waits = Counter({object_.name: object_.waited_ps for object_ in observed.objects})
    return waits + Counter({AT_START_AND_END: observed.waited_ps - waits.total()})


def _critical(point: Point, observed: Observed) -> Counter[str]:
    """Returns the critical path in ps by object, scaled to the operations of the whole point."""
    path = observed.path_ps if isinstance(observed.path_ps, int) else 0
    scale = point.path_of_an_operation(path) * point.ops / path if path else 0
    critical = Counter({o.name: round(o.critical_ps * scale) for o in observed.objects})
    return critical + Counter({BETWEEN_WAITS: round(path * scale) - critical.total()})


def _times(a: Point, b: Point, of_both: Sequence[Counter[str]]) -> list[DifferencePart] | None:
    """Returns the parts of both results, converted from ps to ns per operation."""
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


def _largest_parts(parts: list[DifferencePart] | None) -> list[DifferencePart] | None:
    return parts and parts[:MAX_OBJECTS_COMPARED]

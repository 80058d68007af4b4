"""The probes `lines` and `operations`: from an engine's columns to fields of result.observed.

    observed(job, run)   an Observed: the costliest lines are kept, the others summed up
    shared(job, run)     a Shared for each line that several harts used within the region of
                         interest and one wrote there

The rows of `run.lines()` are one a line, pc, hart and kind of operation
(sim/native/observe/attribution.hh); here they get names, and harts that used a line alike come
together.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from uncore.engine.native.sites import NO_END, Site, Sites, with_callers
from uncore.program.abi import WORD
from uncore.program.fields import Fields
from uncore.program.names import PAGE
from uncore.result.objects import alike

if TYPE_CHECKING:
    from uncore._native import Run
    from uncore.job import Job

MOST_LINES = 64
MOST_PARTS = 4096  # of an object whose places are kept
OUTSIDE = -2  # kind: outside the region of interest
BITS = 64  # of a mask of a line's bytes, which has one for each 64th of the line
COUNTED = (
    *("reads", "writes", "misses", "needless", "failed_scs"),
    *("waited_ps", "needless_ps", "critical_ps"),
)

Row = dict[str, Any]
Columns = dict[str, Any]  # of NumPy, by name


def observed(job: Job, run: Run, most: int = MOST_LINES) -> Row:
    """The fields of an Observed; `most` lines are kept."""
    seen, harts = run.lines(), job.threads[0]
    sites = Sites(job.program, seen["callers"])
    uses, passed, invalidated = with_callers(seen["uses"]), seen["passed"], seen["invalidations"]
    costliest, size = _costliest(uses, passed, most), job.machine.line
    fields = Fields.of(job.program, run.read, harts, sites.heap(seen["allocations"]))
    few = np.sort(costliest)
    kept, shown, known = (_among(of["line"], few) for of in (uses, passed, invalidated))
    rows, moves = _by_line(_of(uses, kept)), _by_line(_of(passed, shown))
    taken = dict(zip(*(c.tolist() for c in _of(invalidated, known).values()), strict=True))
    away = _distinct(np.concatenate([uses["line"][~kept], passed["line"][~shown]]))
    return {
        "threads": harts,
        **({} if job.seed is None else {"seed": job.seed}),
        "hart_ps": harts * run.now,
        "waited_ps": seen["waited_ps"],
        "path_ps": seen["path_ps"],
        "objects": _objects(fields, sites, uses, size),
        "lines": [
            {
                "address": address,
                "fields": list(_fields(fields, address, size, rows.get(address, []))),
                "transfers": _transfers(job, moves.get(address, [])),
                "taken": _taken(job, moves.get(address, [])),
                "invalidations": taken.get(address, 0),
                "uses": _uses(job, sites, rows.get(address, [])),
            }
            for address in costliest
        ],
        "others": {n: int(uses[n].sum()) - int(uses[n][kept].sum()) for n in COUNTED}
        | {
            "lines": len(away),
            "transfers": _transfers(job, _pairs(_of(passed, ~shown))),
            "invalidations": int(invalidated["times"][_among(invalidated["line"], away)].sum()),
        },
    }


def _objects(fields: Fields, sites: Sites, uses: Columns, line: int) -> list[Row]:
    """The fields of an Object for each that was touched in the region of interest."""
    selected = (uses["kind"] > OUTSIDE) | (uses["critical_ps"] > 0)
    inside = _of(uses, selected)
    part = line // BITS
    addresses = inside["line"] + first(inside["read"] | inside["written"]) * part
    distinct, part_of = np.unique(addresses, return_inverse=True)
    runs_ = list(_alike(fields, distinct))
    general = alike({run.name for run in runs_})
    found: dict[str, list[Alike]] = defaultdict(list)
    for run in runs_:
        found[general[run.name]].append(run)
    numbers = {name: number for number, name in enumerate(found)}
    objects_of = np.array([numbers[general[run.name]] for run in runs_], int)
    object_of = np.repeat(objects_of, [run.times for run in runs_])[part_of]
    sums = _summing(object_of, len(found))
    counts = {name: sums(inside[name]) for name in COUNTED}
    dearest = _dearest(sites, object_of, inside, len(found))
    lines = _distinct(object_of * (1 << 40) + inside["line"] // line) >> 40  # on each, once
    on = np.bincount(lines, minlength=len(found)).tolist()
    objects = [
        {
            "name": name,
            "at": sorted(set(chain(*(run.parts for run in same))))[:MOST_PARTS],
            "lines": on[number],
            **{counted: of[number] for counted, of in counts.items()},
            **dearest[number]._asdict(),
        }
        for number, (name, same) in enumerate(found.items())
    ]
    return sorted(objects, key=lambda o: (-o["critical_ps"], -o["waited_ps"], o["name"]))


class Alike(NamedTuple):
    """Addresses that go by one name, one behind the other."""

    name: str
    times: int
    parts: list[tuple[int, int]]  # start and size of each, of MOST_PARTS


def _alike(fields: Fields, addresses: Any) -> Iterator[Alike]:
    """What is at the addresses, which rise: field by field in objects; elsewhere a name stands for
    all up to an edge."""
    words = addresses - addresses % WORD
    bounds = (
        np.searchsorted(_sorted(fields.edges()), addresses, "right"),
        np.searchsorted(_sorted(fields.names.edges()), words, "right"),
        words // PAGE,
    )
    begins = np.flatnonzero(np.any([np.diff(bound, prepend=-1) != 0 for bound in bounds], axis=0))
    for begin, end in pairwise([*begins.tolist(), len(addresses)]):
        address = int(addresses[begin])
        if object_ := fields.object_at(address):
            for part in map(object_.at, addresses[begin:end].tolist()):
                yield Alike(part.name, 1, [(part.start, part.size)])
        else:
            starts = _distinct(words[begin:end])[:MOST_PARTS].tolist()
            parts = [(start, WORD) for start in starts]
            yield Alike(fields.names.at(int(words[begin])), end - begin, parts)


def _sorted(addresses: Iterable[int]) -> Any:
    return np.array(sorted(min(address, NO_END) for address in addresses), np.int64)


def _distinct(values: Any) -> Any:
    """Sorts them, each once: np.unique hashes, and of a million misses the cache."""
    values = np.sort(values)
    return values[np.diff(values, prepend=-1) != 0]


def _among(values: Any, some: Any) -> Any:
    """Whether each is one of some, which rise."""
    return np.searchsorted(some, values, "right") > np.searchsorted(some, values, "left")


def _dearest(sites: Sites, objects: Any, uses: Columns, count: int) -> list[Site]:
    """Of each object, the site that costs most."""
    waits = (uses["critical_ps"] > 0) | (uses["waited_ps"] > 0)
    pcs, pc_of = np.unique(uses["pc"][waits], return_inverse=True)
    most = int(uses["callers"].max(initial=0)) + 1
    keys = (objects[waits] * len(pcs) + pc_of) * most + uses["callers"][waits]
    ways, way_of = np.unique(keys, return_inverse=True)
    sums = _summing(way_of, len(ways))
    critical, waited = (sums(uses[name][waits]) for name in ("critical_ps", "waited_ps"))
    costs: dict[tuple[int, Site], tuple[int, int]] = defaultdict(lambda: (0, 0))
    for key, c, w in zip(ways.tolist(), critical, waited, strict=True):
        place, callers = divmod(key, most)
        number, pc = divmod(place, len(pcs))
        way = number, sites.at(int(pcs[pc]), callers)
        costs[way] = costs[way][0] + c, costs[way][1] + w
    dearest = [Site("")] * count
    for (number, site), _ in sorted(costs.items(), key=lambda item: item[1]):
        dearest[number] = site
    return dearest


def _summing(groups: Any, count: int) -> Callable[[Any], list[int]]:
    """What sums values by their group, exactly."""
    order = np.argsort(groups, kind="stable")
    present, first_ = np.unique(groups[order], return_index=True)

    def sums(values: Any) -> list[int]:
        found = np.zeros(count, np.int64)
        found[present] = np.add.reduceat(values[order], first_)
        each: list[int] = found.tolist()
        return each

    return sums


def shared(job: Job, run: Run) -> list[Row]:
    """The fields of a result.observed.Shared for each line."""
    seen = run.lines()
    uses, sites = with_callers(seen["uses"]), Sites(job.program, seen["callers"])
    inside = uses["kind"] > OUTSIDE
    rows = _by_line(_of(uses, inside))
    fields = Fields.of(job.program, run.read, job.threads[0], sites.heap(seen["allocations"]))
    return [
        {
            "address": a,
            "fields": list(_fields(fields, a, job.machine.line, used)),
            "uses": _uses(job, sites, used),
        }
        for a, used in sorted(rows.items())
        if len({row["hart"] for row in used}) > 1 and any(row["written"] for row in used)
    ]


def _of(columns: Columns, rows: Any) -> Columns:
    return {name: column[rows] for name, column in columns.items()}


def _by_line(columns: Columns) -> dict[int, list[Row]]:
    rows: dict[int, list[Row]] = defaultdict(list)
    for values in zip(*(column.tolist() for column in columns.values()), strict=True):
        row = dict(zip(columns, values, strict=True))
        rows[row["line"]].append(row)
    return rows


def _costliest(uses: Columns, passed: Columns, most: int) -> list[int]:
    """Addresses of lines, longest waited for first, then most often passed on."""
    addresses, index = np.unique(uses["line"], return_inverse=True)
    waited = np.bincount(index, weights=uses["waited_ps"], minlength=len(addresses))
    moving = _among(passed["line"], addresses)
    at = np.searchsorted(addresses, passed["line"][moving])
    moved = np.bincount(at, weights=passed["times"][moving], minlength=len(addresses))
    costly: list[int] = addresses[np.lexsort((addresses, -moved, -waited))[:most]].tolist()
    return costly


def _pairs(passed: Columns) -> list[Row]:
    """Transfers of all lines together, by source and target."""
    names = ("source", "target")
    pairs, pair_of = np.unique(np.stack([passed[n] for n in names]), axis=1, return_inverse=True)
    times = _summing(pair_of.ravel(), pairs.shape[1])(passed["times"])
    rows = zip(times, *pairs.tolist(), strict=True)
    return [dict(zip(("times", *names), row, strict=True)) for row in rows]


def _transfers(job: Job, passed: Iterable[Row]) -> dict[str, int]:
    """Counts transfers by the line's origin, in the words of Point.transfers."""
    machine, transfers = job.machine, Counter[str]()
    levels = ("system", *(level for level in machine.levels if level != "thread"))
    cores = len(machine.core_stops)
    for row in passed:
        source = row["source"]
        if 0 <= source < cores:
            pairs = zip(machine.shape[source], machine.shape[row["target"]], strict=True)
            depth = next((d for d, (a, b) in enumerate(pairs) if a != b), len(levels) - 1)
            transfers[levels[depth]] += row["times"]
        elif cores <= source < cores + len(machine.resolvers):
            transfers[f"{machine.resolvers[source - cores].level} data"] += row["times"]
        else:
            transfers["memory"] += row["times"]
    return dict(sorted(transfers.items()))


def _taken(job: Job, passed: Iterable[Row]) -> list[tuple[int, int, int]]:
    cores = range(len(job.machine.core_stops))
    pairs = [(r["source"], r["target"], r["times"]) for r in passed if r["source"] in cores]
    return sorted(pairs, key=lambda pair: (-pair[2], pair[:2]))


def _uses(job: Job, sites: Sites, rows: Iterable[Row]) -> list[Row]:
    alike: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for row in _merged(sites, rows):
        alike[row["pc"], row["kind"], row["read"], row["written"], row["site"]].append(row)
    uses_ = [_use(job, same) for same in alike.values()]
    return sorted(uses_, key=lambda use: (-use["waited_ps"], use["pc"], use["kind"], use["harts"]))


def _merged(sites: Sites, rows: Iterable[Row]) -> Iterable[Row]:
    """One for each pc, kind, hart and line of the user's, whatever the chain of callers."""
    merged: dict[tuple[Any, ...], Row] = {}
    for row in rows:
        site = sites.at(row["pc"], row["callers"])
        key = row["pc"], row["kind"], row["hart"], site.source
        same = merged.setdefault(key, row | dict.fromkeys(COUNTED, 0) | {"site": site})
        for name in COUNTED:
            same[name] += row[name]
        for mask in ("read", "written"):
            same[mask] |= row[mask]
    return merged.values()


def _use(job: Job, rows: list[Row]) -> Row:
    pc, part = rows[0]["pc"], job.machine.line // BITS
    return {
        "pc": pc,
        "function": job.program.function_at(pc),
        **rows[0]["site"]._asdict(),
        "kind": rows[0]["kind"],
        "harts": sorted(row["hart"] for row in rows),
        **{name: sum(row[name] for row in rows) for name in COUNTED},
        **{name: list(runs(rows[0][name], part)) for name in ("read", "written")},
    }


def first(masks: Any) -> Any:
    """The place of the lowest one of each mask; of none, 0."""
    lowest = masks & (~masks + np.uint64(1))
    return np.log2(np.maximum(lowest, 1)).astype(np.int64)


def runs(bits: int, part: int = 1) -> Iterator[tuple[int, int]]:
    """The runs of ones in a mask of bytes, a bit for each `part` of them: (offset, size)."""
    at = 0
    while bits >> at:
        if bits >> at & 1:
            size = (~(bits >> at) & -~(bits >> at)).bit_length() - 1
            yield at * part, size * part
            at += size
        else:
            at += 1


def _fields(
    fields: Fields, line: int, size: int, rows: Iterable[Row]
) -> Iterator[tuple[int, int, str]]:
    """What was touched, each field cut at the line's ends."""
    touched = 0
    for row in rows:
        touched |= row["read"] | row["written"]
    at, bytes_ = 0, size // BITS
    while at < size:
        if touched >> at // bytes_ & 1:
            part = fields.at(line + at)
            start, end = max(part.start - line, 0), min(part.start + part.size - line, size)
            yield start, end - start, part.name
            at = max(end, at + 1)
        else:
            at += 1

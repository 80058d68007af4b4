"""The probes `lines` and `operations`: from an engine's columns to fields of result.observed.

    observed(job, run)   an Observed: the costliest lines are kept, the others summed up
    shared(job, run)     a Shared for each line that several harts used within the region of
                         interest and one wrote there

The rows are one a line, pc, hart, kind of operation and chain of callers
(sim/native/observe/attribution.hh), of which there may be a million: the engine sums them up where
they go by one name (summary.hh), and gives those of few lines.  Here they get names, and harts that
used a line alike come together.
"""

from __future__ import annotations

import gc
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from itertools import chain, islice, pairwise, repeat
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from uncore.engine.native.sites import NO_END, Site, Sites
from uncore.program.abi import WORD
from uncore.program.fields import Fields
from uncore.program.names import PAGE
from uncore.program.objects import alike

if TYPE_CHECKING:
    from uncore._native import Run
    from uncore.job import Job

MOST_LINES = 64
MOST_PARTS = 4096  # parts of an object whose places are kept
OUTSIDE = -2  # kind: outside the region of interest
BITS = 64  # bits of a mask of a line's bytes: one for each 64th of the line
COUNTED = (
    *("reads", "writes", "misses", "needless", "failed_scs"),
    *("waited_ps", "needless_ps", "critical_ps"),
)

Row = dict[str, Any]
Columns = dict[str, Any]  # NumPy columns, by name


@contextmanager
def _all_kept() -> Iterator[None]:
    """Whoever looks for garbage among what is made here, most of a million values, finds none."""
    looks = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()  # and back among the old: nobody looks through them for being new
        gc.unfreeze()
        if looks:
            gc.enable()


@_all_kept()
def observed(job: Job, run: Run, most: int = MOST_LINES) -> Row:
    """The fields of an Observed; `most` lines are kept."""
    seen, harts = run.lines(), job.threads[0]
    sites, size = Sites(job.program, seen["callers"]), job.machine.line
    fields = Fields.of(job.program, run.read, harts, sites.heap(seen["allocations"]))
    stretches = Stretches.of(fields)
    sums, others, waiting = run.summary(*(c.tolist() for c in stretches), size // BITS)
    every = {n: np.concatenate([sums[n], others[n]]) for n in ("line", *COUNTED)}
    passed, invalidated = seen["passed"], seen["invalidations"]
    costliest = _costliest(every, passed, most)
    few, uses = np.sort(costliest), _merged(sites, run.uses(costliest))
    kept, shown, known = (_among(of["line"], few) for of in (every, passed, invalidated))
    rows, moves = _by_line(uses), _by_line(_of(passed, shown))
    taken = dict(zip(*(c.tolist() for c in _of(invalidated, known).values()), strict=True))
    away = _distinct(np.concatenate([every["line"][~kept], passed["line"][~shown]]))
    return {
        "threads": harts,
        **({} if job.seed is None else {"seed": job.seed}),
        "hart_ps": harts * run.now,
        "waited_ps": seen["waited_ps"],
        "path_ps": seen["path_ps"],
        "objects": _objects(fields, stretches, sums, size, partial(_dearest, sites, waiting)),
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
        "others": {n: int(every[n][~kept].sum()) for n in COUNTED}
        | {
            "lines": len(away),
            "transfers": _transfers(job, _pairs(_of(passed, ~shown))),
            "invalidations": int(invalidated["times"][_among(invalidated["line"], away)].sum()),
        },
    }


def _objects(
    fields: Fields,
    stretches: Stretches,
    sums: Columns,
    line: int,
    dearest_of: Callable[[Any, int], list[Site]],
) -> list[Row]:
    """Objects that were touched in the region of interest."""
    addresses = sums["line"] + first(sums["firsts"]) * (line // BITS)
    order = np.argsort(addresses)
    runs_ = list(_alike(fields, stretches, _of(sums, order), addresses[order], line // BITS))
    general = alike({run.name for run in runs_})
    found: dict[str, list[Alike]] = defaultdict(list)
    for run_ in runs_:
        found[general[run_.name]].append(run_)
    numbers = {name: number for number, name in enumerate(found)}
    objects_of = np.array([numbers[general[run.name]] for run in runs_], int)
    object_of = np.empty(len(order), int)
    object_of[order] = np.repeat(objects_of, [run.times for run in runs_])
    summed = _summing(object_of, len(found))
    counts: dict[str, Any] = {name: summed(sums[name]) for name in COUNTED}
    dearest = dearest_of(object_of, len(found))
    lines = _distinct(object_of * (1 << 40) + sums["line"] // line) >> 40  # on each, once
    on = np.bincount(lines, minlength=len(found)).tolist()
    objects = [
        {
            "name": name,
            "at": _parts(same),
            "lines": on[number],
            **{counted: of[number] for counted, of in counts.items()},
            "source": dearest[number].source,
            "chain": [*dearest[number].chain],
        }
        for number, (name, same) in enumerate(found.items())
    ]
    return sorted(objects, key=lambda o: (-o["critical_ps"], -o["waited_ps"], o["name"]))


class Stretches(NamedTuple):
    """Addresses at which names may change, and flags of the stretches before the first of these
    edges and behind each. A flag is set where an object is, whose fields have names of their own.
    """

    edges: Any
    apart: Any

    @classmethod
    def of(cls, fields: Fields) -> Stretches:
        words = (edge + -edge % WORD for edge in fields.names.edges())  # names are of words
        edges = np.unique(_sorted(chain(fields.edges(), words)))
        begins, ends = (
            np.searchsorted(edges, _sorted(getattr(o, which) for o in fields.objects))
            for which in ("start", "end")
        )
        steps = np.zeros(len(edges) + 2, int)
        np.add.at(steps, begins + 1, 1)
        np.add.at(steps, ends + 1, -1)
        apart = np.cumsum(steps)[: len(edges) + 1] > 0
        for number in np.flatnonzero(apart).tolist():
            apart[number] = fields.object_at(int(edges[number - 1])) is not None
        return cls(edges, apart)


class Alike(NamedTuple):
    """Sums that go by one name, one behind the other."""

    name: str
    times: int
    words: Sequence[int] = ()
    part: tuple[int, int] | None = None  # part of an object: start and size


def _parts(same: list[Alike]) -> list[tuple[int, int]]:
    """Start and size of each, of MOST_PARTS; most are words."""
    starts: Iterable[int] = same[0].words
    if len(same) > 1:
        starts = sorted(set(chain(*(run.words for run in same))))
    words = zip(islice(starts, MOST_PARTS), repeat(WORD))
    parts = {run.part for run in same if run.part}
    return sorted({*words, *parts})[:MOST_PARTS] if parts else list(words)


def _alike(
    fields: Fields, stretches: Stretches, sums: Columns, addresses: Any, part: int
) -> Iterator[Alike]:
    """Groups sums, whose addresses rise, by name: field by field in objects; elsewhere one name
    stands for all addresses up to an edge.
    """
    stretch, page = np.searchsorted(stretches.edges, addresses, "right"), addresses // PAGE
    begins = np.flatnonzero(np.diff(stretch, prepend=-1) | np.diff(page, prepend=-1))
    starts, bounds = _words(sums, part, begins)
    apart = stretches.apart[stretch[begins]].tolist()
    for number, (begin, end) in enumerate(pairwise([*begins.tolist(), len(addresses)])):
        address = int(addresses[begin])
        if apart[number] and (object_ := fields.object_at(address)):
            for at in map(object_.at, addresses[begin:end].tolist()):
                yield Alike(at.name, 1, part=(at.start, at.size))
        else:
            name = fields.names.at(address - address % WORD)
            yield Alike(name, end - begin, starts[bounds[number] : bounds[number + 1]])


def _words(sums: Columns, part: int, begins: Any) -> tuple[list[int], list[int]]:
    """The words that sums are of, by run, and where those of each run begin; `begins`: of sums."""
    masks = sums["firsts"].astype("<u8").view(np.uint8).reshape(-1, BITS // 8)
    sum_, byte = np.nonzero(masks)  # most have few bits
    of, bit = np.nonzero(np.unpackbits(masks[sum_, byte, None], axis=1, bitorder="little"))
    sum_, bit = sum_[of], byte[of] * 8 + bit
    addresses = sums["line"][sum_] + bit * part
    words = addresses - addresses % WORD
    run = np.searchsorted(begins, sum_, "right") - 1
    new = (np.diff(words, prepend=-1) != 0) | (np.diff(run, prepend=-1) != 0)
    return words[new].tolist(), np.searchsorted(run[new], np.arange(len(begins) + 1)).tolist()


def _sorted(addresses: Iterable[int]) -> Any:
    return np.array(sorted(min(address, NO_END) for address in addresses), np.int64)


def _distinct(values: Any) -> Any:
    """Sorts them, each once: np.unique hashes, and of a million misses the cache."""
    values = np.sort(values)
    return values[np.diff(values, prepend=-1) != 0]


def _among(values: Any, some: Any) -> Any:
    """True for each value that is in `some`, which rises."""
    return np.searchsorted(some, values, "right") > np.searchsorted(some, values, "left")


def _dearest(sites: Sites, waiting: Columns, object_of: Any, count: int) -> list[Site]:
    """The site of each object with the largest cost."""
    pcs, pc_of = np.unique(waiting["pc"], return_inverse=True)
    most = int(waiting["callers"].max(initial=0)) + 1
    ways, way_of = np.unique(
        (object_of[waiting["sum"]] * len(pcs) + pc_of) * most + waiting["callers"],
        return_inverse=True,
    )
    sums = _summing(way_of, len(ways))
    critical, waited = sums(waiting["critical_ps"]), sums(waiting["waited_ps"])
    costs: dict[tuple[int, int], tuple[int, int]] = {}
    addresses = pcs.tolist()
    for key, c, w in zip(ways.tolist(), critical, waited, strict=True):
        place, callers = divmod(key, most)
        number, pc = divmod(place, len(addresses))
        way = number, sites.number(addresses[pc], callers)
        c_, w_ = costs.get(way, (0, 0))
        costs[way] = c_ + c, w_ + w
    dearest = [Site("")] * count
    for (number, site), _ in sorted(costs.items(), key=lambda item: item[1]):
        dearest[number] = sites.all[site]
    return dearest


def _summing(groups: Any, count: int) -> Callable[[Any], list[int]]:
    """Returns a function that sums values by their group, exactly."""

    def sums(values: Any) -> list[int]:
        # np.add.at is slow with another name of the same type
        found = np.zeros(count, values.dtype)
        np.add.at(found, groups, values)
        each: list[int] = found.tolist()
        return each

    return sums


def shared(job: Job, run: Run) -> list[Row]:
    """The fields of a result.observed.Shared for each line."""
    seen = run.lines()
    uses, sites = run.uses(), Sites(job.program, seen["callers"])
    rows = _by_line(_merged(sites, _of(uses, uses["kind"] > OUTSIDE)))
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


def _costliest(sums: Columns, passed: Columns, most: int) -> list[int]:
    """Addresses of lines, longest waited for first, then most often passed on."""
    addresses, index = np.unique(sums["line"], return_inverse=True)
    waited = np.array(_summing(index, len(addresses))(sums["waited_ps"]))
    moving = _among(passed["line"], addresses)
    at = np.searchsorted(addresses, passed["line"][moving])
    moved = np.bincount(at, weights=passed["times"][moving], minlength=len(addresses))
    costly: list[int] = addresses[np.lexsort((addresses, -moved, -waited))[:most]].tolist()
    return costly


def _pairs(passed: Columns) -> list[Row]:
    """Transfers of all lines together, by source and target."""
    agents = int(passed["target"].max(initial=0)) + 1
    pairs, pair_of = np.unique(passed["source"] * agents + passed["target"], return_inverse=True)
    times = _summing(pair_of, len(pairs))(passed["times"])
    return [
        {"times": n, "source": pair // agents, "target": pair % agents}
        for n, pair in zip(times, pairs.tolist(), strict=True)
    ]


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
    """Uses of a line, harts with equal uses as one; `rows` as they are merged."""
    alike: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for row in rows:
        alike[row["pc"], row["kind"], row["read"], row["written"], row["site"]].append(row)
    uses_ = [_use(job, sites, same) for same in alike.values()]
    return sorted(uses_, key=lambda use: (-use["waited_ps"], use["pc"], use["kind"], use["harts"]))


def _merged(sites: Sites, uses: Columns) -> Columns:
    """One row for each line, pc, kind, hart and line of the user's, whatever the chain of callers,
    where the first of them was."""
    site = np.array([*map(sites.number, uses["pc"].tolist(), uses["callers"].tolist())], int)
    lines: dict[str, int] = {}
    source = np.array([lines.setdefault(s.source, len(lines)) for s in sites.all], int)[site]
    keys = np.array([source, *(uses[name] for name in ("hart", "kind", "pc", "line"))], np.int64)
    order = np.lexsort(keys)
    new = np.diff(keys[:, order], prepend=-1).any(axis=0)
    firsts = order[new]
    appear = np.argsort(firsts)
    group = np.empty(len(order), int)
    group[order] = np.argsort(appear)[np.cumsum(new) - 1]
    merged = _of(uses | {"site": site}, firsts[appear])
    summed = _summing(group, len(firsts))
    for name in COUNTED:
        merged[name] = np.array(summed(uses[name]))
    for mask in ("read", "written"):
        merged[mask] = np.zeros(len(firsts), uses[mask].dtype)
        np.bitwise_or.at(merged[mask], group, uses[mask])
    return merged


def _use(job: Job, sites: Sites, rows: list[Row]) -> Row:
    one, part = rows[0], job.machine.line // BITS
    summed = one if len(rows) == 1 else {n: sum(row[n] for row in rows) for n in COUNTED}
    return {
        "pc": one["pc"],
        "function": sites.function(one["pc"]),
        **sites.all[one["site"]]._asdict(),
        "kind": one["kind"],
        "harts": sorted(row["hart"] for row in rows),
        **{name: summed[name] for name in COUNTED},
        "read": _runs(one["read"], part),
        "written": _runs(one["written"], part),
    }


@cache
def _runs(bits: int, part: int) -> list[tuple[int, int]]:
    return list(runs(bits, part))


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
    """Fields that were touched, each cut at the line's ends."""
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

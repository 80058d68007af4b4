"""Turns an engine's columns into the fields of result.observed, for the observers `lines` and
`operations`.

    observed(job, run)   an Observed, which lists the costliest lines and sums up the others
    shared(job, run)     a Shared for each line that several harts used in the region of
                         interest, if at least one of them wrote it

The engine counts by line, pc, hart, kind of operation and chain of callers
(sim/native/observe/attribution.hh), which may give a million rows. It sums up rows that have the
same name (summary.hh), and returns full rows for selected lines only.  This module adds names, and
joins the harts that use a line in the same way.
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

from uncore.engine.native.sites import ADDRESSES_END, Site, Sites
from uncore.program.abi import WORD_BYTES
from uncore.program.fields import Fields
from uncore.program.names import PAGE_BYTES
from uncore.program.objects import alike

if TYPE_CHECKING:
    from uncore._native import Run
    from uncore.job import Job

MAX_LINES_LISTED = 64
MAX_PARTS_KEPT = 4096  # maximum number of parts of an object whose addresses are kept
OUTSIDE_REGION = -2  # kind of accesses outside the region of interest
MASK_BITS = 64  # bits of a mask of a line's bytes; each bit stands for 1/64 of the line
COUNTED_FIELDS = (
    *("reads", "writes", "misses", "needless", "failed_scs"),
    *("waited_ps", "needless_ps", "critical_ps"),
)

Row = dict[str, Any]
Columns = dict[str, Any]  # NumPy arrays by name of the column


@contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """Turns garbage collection off, because the block makes many values and keeps nearly all."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        # moves the new values to the oldest generation, so that they are not searched soon
        gc.freeze()
        gc.unfreeze()
        if was_enabled:
            gc.enable()


@_without_garbage_collection()
def observed(job: Job, run: Run, max_lines: int = MAX_LINES_LISTED) -> Row:
    """Returns the fields of an Observed that lists at most `max_lines` lines one by one."""
    recorded, harts = run.lines(), job.threads[0]
    sites, size = Sites(job.program, recorded["callers"]), job.machine.line
    fields = Fields.of(job.program, run.read, harts, sites.heap(recorded["allocations"]))
    stretches = Stretches.of(fields)
    sums, others, waiting = run.summary(*(c.tolist() for c in stretches), size // MASK_BITS)
    all_sums = {n: np.concatenate([sums[n], others[n]]) for n in ("line", *COUNTED_FIELDS)}
    passed, invalidated = recorded["passed"], recorded["invalidations"]
    costliest = _costliest_lines(all_sums, passed, max_lines)
    selected, uses = np.sort(costliest), _merge_by_source_line(sites, run.uses(costliest))
    is_selected, is_selected_transfer, is_selected_invalidation = (
        _is_in(columns["line"], selected) for columns in (all_sums, passed, invalidated)
    )
    rows, moves = _by_line(uses), _by_line(_select(passed, is_selected_transfer))
    invalidations_of_line = dict(
        zip(
            *(c.tolist() for c in _select(invalidated, is_selected_invalidation).values()),
            strict=True,
        )
    )
    other_lines = _distinct(
        np.concatenate([all_sums["line"][~is_selected], passed["line"][~is_selected_transfer]])
    )
    return {
        "threads": harts,
        **({} if job.seed is None else {"seed": job.seed}),
        "hart_ps": harts * run.now,
        "waited_ps": recorded["waited_ps"],
        "path_ps": recorded["path_ps"],
        "objects": _objects(
            fields, stretches, sums, size, partial(_costliest_sites, sites, waiting)
        ),
        "lines": [
            {
                "address": address,
                "fields": list(_fields(fields, address, size, rows.get(address, []))),
                "transfers": _transfers(job, moves.get(address, [])),
                "taken": _transfers_between_cores(job, moves.get(address, [])),
                "invalidations": invalidations_of_line.get(address, 0),
                "uses": _uses(job, sites, rows.get(address, [])),
            }
            for address in costliest
        ],
        "others": {n: int(all_sums[n][~is_selected].sum()) for n in COUNTED_FIELDS}
        | {
            "lines": len(other_lines),
            "transfers": _transfers(job, _pairs(_select(passed, ~is_selected_transfer))),
            "invalidations": int(
                invalidated["times"][_is_in(invalidated["line"], other_lines)].sum()
            ),
        },
    }


def _objects(
    fields: Fields,
    stretches: Stretches,
    sums: Columns,
    line: int,
    costliest_sites_of: Callable[[Any, int], list[Site]],
) -> list[Row]:
    """Returns the objects that were touched in the region of interest, the costliest first."""
    addresses = sums["line"] + first(sums["firsts"]) * (line // MASK_BITS)
    order = np.argsort(addresses)
    named_runs_ = list(
        _named_runs(fields, stretches, _select(sums, order), addresses[order], line // MASK_BITS)
    )
    general = alike({run.name for run in named_runs_})
    runs_of_object: dict[str, list[NamedRun]] = defaultdict(list)
    for run_ in named_runs_:
        runs_of_object[general[run_.name]].append(run_)
    numbers = {name: number for number, name in enumerate(runs_of_object)}
    objects_of = np.array([numbers[general[run.name]] for run in named_runs_], int)
    object_of = np.empty(len(order), int)
    object_of[order] = np.repeat(objects_of, [run.times for run in named_runs_])
    summed = _group_summer(object_of, len(runs_of_object))
    counts: dict[str, Any] = {name: summed(sums[name]) for name in COUNTED_FIELDS}
    costliest_site = costliest_sites_of(object_of, len(runs_of_object))
    # counts each object once per line
    lines = _distinct(object_of * (1 << 40) + sums["line"] // line) >> 40
    line_counts = np.bincount(lines, minlength=len(runs_of_object)).tolist()
    objects = [
        {
            "name": name,
            "at": _parts(named_runs),
            "lines": line_counts[number],
            **{counted: sums_of_object[number] for counted, sums_of_object in counts.items()},
            "source": costliest_site[number].source,
            "chain": [*costliest_site[number].chain],
        }
        for number, (name, named_runs) in enumerate(runs_of_object.items())
    ]
    return sorted(objects, key=lambda o: (-o["critical_ps"], -o["waited_ps"], o["name"]))


class Stretches(NamedTuple):
    """Ranges of addresses between `edges`, at which the name of the memory may change.

    `is_object` has a flag for the range before the first edge and for the range after each edge:
    True within an object, whose fields have names of their own.
    """

    edges: Any
    is_object: Any

    @classmethod
    def of(cls, fields: Fields) -> Stretches:
        # names apply to whole words
        words = (edge + -edge % WORD_BYTES for edge in fields.names.edges())
        edges = np.unique(_sorted_addresses(chain(fields.edges(), words)))
        begins, ends = (
            np.searchsorted(edges, _sorted_addresses(getattr(o, which) for o in fields.objects))
            for which in ("start", "end")
        )
        steps = np.zeros(len(edges) + 2, int)
        np.add.at(steps, begins + 1, 1)
        np.add.at(steps, ends + 1, -1)
        is_object = np.cumsum(steps)[: len(edges) + 1] > 0
        for number in np.flatnonzero(is_object).tolist():
            is_object[number] = fields.object_at(int(edges[number - 1])) is not None
        return cls(edges, is_object)


class NamedRun(NamedTuple):
    """Consecutive sums that share a name."""

    name: str
    times: int
    words: Sequence[int] = ()
    part: tuple[int, int] | None = None  # start and size of a part of an object


def _parts(named_runs: list[NamedRun]) -> list[tuple[int, int]]:
    """Returns start and size of each part, at most MAX_PARTS_KEPT; most are words."""
    starts: Iterable[int] = named_runs[0].words
    if len(named_runs) > 1:
        starts = sorted(set(chain(*(run.words for run in named_runs))))
    words = zip(islice(starts, MAX_PARTS_KEPT), repeat(WORD_BYTES))
    parts = {run.part for run in named_runs if run.part}
    return sorted({*words, *parts})[:MAX_PARTS_KEPT] if parts else list(words)


def _named_runs(
    fields: Fields, stretches: Stretches, sums: Columns, addresses: Any, part: int
) -> Iterator[NamedRun]:
    """Groups the sums by name: within objects by field, elsewhere by stretch and page.

    `addresses` are those of the sums, in ascending order.
    """
    stretch, page = np.searchsorted(stretches.edges, addresses, "right"), addresses // PAGE_BYTES
    begins = np.flatnonzero(np.diff(stretch, prepend=-1) | np.diff(page, prepend=-1))
    starts, bounds = _touched_words(sums, part, begins)
    in_object = stretches.is_object[stretch[begins]].tolist()
    for number, (begin, end) in enumerate(pairwise([*begins.tolist(), len(addresses)])):
        address = int(addresses[begin])
        if in_object[number] and (object_ := fields.object_at(address)):
            for object_field in map(object_.at, addresses[begin:end].tolist()):
                yield NamedRun(object_field.name, 1, part=(object_field.start, object_field.size))
        else:
            name = fields.names.at(address - address % WORD_BYTES)
            yield NamedRun(name, end - begin, starts[bounds[number] : bounds[number + 1]])


def _touched_words(sums: Columns, part: int, begins: Any) -> tuple[list[int], list[int]]:
    """Returns the touched words, and the index of the first word of each run.  `begins` has the
    index of each run's first sum.
    """
    masks = sums["firsts"].astype("<u8").view(np.uint8).reshape(-1, MASK_BITS // 8)
    sum_, byte = np.nonzero(masks)  # most masks have few bits
    byte_index, bit = np.nonzero(np.unpackbits(masks[sum_, byte, None], axis=1, bitorder="little"))
    sum_, bit = sum_[byte_index], byte[byte_index] * 8 + bit
    addresses = sums["line"][sum_] + bit * part
    words = addresses - addresses % WORD_BYTES
    run = np.searchsorted(begins, sum_, "right") - 1
    new = (np.diff(words, prepend=-1) != 0) | (np.diff(run, prepend=-1) != 0)
    return words[new].tolist(), np.searchsorted(run[new], np.arange(len(begins) + 1)).tolist()


def _sorted_addresses(addresses: Iterable[int]) -> Any:
    return np.array(sorted(min(address, ADDRESSES_END) for address in addresses), np.int64)


def _distinct(values: Any) -> Any:
    """Returns the sorted distinct values; np.unique's hashing is slow for a million of them."""
    values = np.sort(values)
    return values[np.diff(values, prepend=-1) != 0]


def _is_in(values: Any, sorted_values: Any) -> Any:
    """Returns True for each value that is in `sorted_values`."""
    return np.searchsorted(sorted_values, values, "right") > np.searchsorted(
        sorted_values, values, "left"
    )


def _costliest_sites(sites: Sites, waiting: Columns, object_of: Any, count: int) -> list[Site]:
    """Returns, for each object, the source location at which it costs most."""
    pcs, pc_index_of = np.unique(waiting["pc"], return_inverse=True)
    num_callers = int(waiting["callers"].max(initial=0)) + 1
    pairs, pair_index_of = np.unique(
        (object_of[waiting["sum"]] * len(pcs) + pc_index_of) * num_callers + waiting["callers"],
        return_inverse=True,
    )
    sums = _group_summer(pair_index_of, len(pairs))
    critical, waited = sums(waiting["critical_ps"]), sums(waiting["waited_ps"])
    costs: dict[tuple[int, int], tuple[int, int]] = {}
    addresses = pcs.tolist()
    for key, c, w in zip(pairs.tolist(), critical, waited, strict=True):
        pair_index, callers = divmod(key, num_callers)
        number, pc = divmod(pair_index, len(addresses))
        site_key = number, sites.number(addresses[pc], callers)
        c_, w_ = costs.get(site_key, (0, 0))
        costs[site_key] = c_ + c, w_ + w
    costliest_site = [Site("")] * count
    for (number, site), _ in sorted(costs.items(), key=lambda item: item[1]):
        costliest_site[number] = sites.all[site]
    return costliest_site


def _group_summer(groups: Any, count: int) -> Callable[[Any], list[int]]:
    """Returns a function that sums values by their group, exactly."""

    def sums(values: Any) -> list[int]:
        # np.add.at is slow if the array's dtype is another object than that of the values
        totals = np.zeros(count, values.dtype)
        np.add.at(totals, groups, values)
        values_list: list[int] = totals.tolist()
        return values_list

    return sums


def shared(job: Job, run: Run) -> list[Row]:
    """Returns the fields of a result.observed.Shared for each line."""
    columns = run.lines()
    uses, sites = run.uses(), Sites(job.program, columns["callers"])
    rows = _by_line(_merge_by_source_line(sites, _select(uses, uses["kind"] > OUTSIDE_REGION)))
    fields = Fields.of(job.program, run.read, job.threads[0], sites.heap(columns["allocations"]))
    return [
        {
            "address": a,
            "fields": list(_fields(fields, a, job.machine.line, used)),
            "uses": _uses(job, sites, used),
        }
        for a, used in sorted(rows.items())
        if len({row["hart"] for row in used}) > 1 and any(row["written"] for row in used)
    ]


def _select(columns: Columns, rows: Any) -> Columns:
    return {name: column[rows] for name, column in columns.items()}


def _by_line(columns: Columns) -> dict[int, list[Row]]:
    rows: dict[int, list[Row]] = defaultdict(list)
    for values in zip(*(column.tolist() for column in columns.values()), strict=True):
        row = dict(zip(columns, values, strict=True))
        rows[row["line"]].append(row)
    return rows


def _costliest_lines(sums: Columns, passed: Columns, max_lines: int) -> list[int]:
    """Returns addresses of lines, sorted by the time that harts waited for them, then by the number
    of transfers.
    """
    addresses, index = np.unique(sums["line"], return_inverse=True)
    waited = np.array(_group_summer(index, len(addresses))(sums["waited_ps"]))
    moving = _is_in(passed["line"], addresses)
    line_of = np.searchsorted(addresses, passed["line"][moving])
    moved = np.bincount(line_of, weights=passed["times"][moving], minlength=len(addresses))
    costly: list[int] = addresses[np.lexsort((addresses, -moved, -waited))[:max_lines]].tolist()
    return costly


def _pairs(passed: Columns) -> list[Row]:
    """Sums transfers of all lines by source and target."""
    agents = int(passed["target"].max(initial=0)) + 1
    pairs, pair_index_of = np.unique(
        passed["source"] * agents + passed["target"], return_inverse=True
    )
    times = _group_summer(pair_index_of, len(pairs))(passed["times"])
    return [
        {"times": n, "source": pair // agents, "target": pair % agents}
        for n, pair in zip(times, pairs.tolist(), strict=True)
    ]


def _transfers(job: Job, passed: Iterable[Row]) -> dict[str, int]:
    """Counts transfers by the line's origin, with the names of Point.transfers."""
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


def _transfers_between_cores(job: Job, passed: Iterable[Row]) -> list[tuple[int, int, int]]:
    cores = range(len(job.machine.core_stops))
    pairs = [(r["source"], r["target"], r["times"]) for r in passed if r["source"] in cores]
    return sorted(pairs, key=lambda pair: (-pair[2], pair[:2]))


def _uses(job: Job, sites: Sites, rows: Iterable[Row]) -> list[Row]:
    """Returns the uses of a line, with harts joined whose uses are equal; `rows` come from
    `_merge_by_source_line`.
    """
    alike: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for row in rows:
        alike[row["pc"], row["kind"], row["read"], row["written"], row["site"]].append(row)
    uses_ = [_use(job, sites, equal_rows) for equal_rows in alike.values()]
    return sorted(uses_, key=lambda use: (-use["waited_ps"], use["pc"], use["kind"], use["harts"]))


def _merge_by_source_line(sites: Sites, uses: Columns) -> Columns:
    """Sums rows with the same line, pc, kind, hart and user's source line, whatever their callers.

    The rows stay in the order of their first appearance.
    """
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
    merged = _select(uses | {"site": site}, firsts[appear])
    summed = _group_summer(group, len(firsts))
    for name in COUNTED_FIELDS:
        merged[name] = np.array(summed(uses[name]))
    for mask in ("read", "written"):
        merged[mask] = np.zeros(len(firsts), uses[mask].dtype)
        np.bitwise_or.at(merged[mask], group, uses[mask])
    return merged


def _use(job: Job, sites: Sites, rows: list[Row]) -> Row:
    first_row, part = rows[0], job.machine.line // MASK_BITS
    summed = (
        first_row if len(rows) == 1 else {n: sum(row[n] for row in rows) for n in COUNTED_FIELDS}
    )
    return {
        "pc": first_row["pc"],
        "function": sites.function(first_row["pc"]),
        **sites.all[first_row["site"]]._asdict(),
        "kind": first_row["kind"],
        "harts": sorted(row["hart"] for row in rows),
        **{name: summed[name] for name in COUNTED_FIELDS},
        "read": _runs(first_row["read"], part),
        "written": _runs(first_row["written"], part),
    }


@cache
def _runs(bits: int, part: int) -> list[tuple[int, int]]:
    return list(runs(bits, part))


def first(masks: Any) -> Any:
    """Returns the position of the lowest set bit of each mask; 0 for an empty mask."""
    lowest = masks & (~masks + np.uint64(1))
    return np.log2(np.maximum(lowest, 1)).astype(np.int64)


def runs(bits: int, part: int = 1) -> Iterator[tuple[int, int]]:
    """Yields runs of set bits as (offset, size) in bytes, each bit standing for `part` bytes."""
    position = 0
    while bits >> position:
        if bits >> position & 1:
            size = (~(bits >> position) & -~(bits >> position)).bit_length() - 1
            yield position * part, size * part
            position += size
        else:
            position += 1


def _fields(
    fields: Fields, line: int, size: int, rows: Iterable[Row]
) -> Iterator[tuple[int, int, str]]:
    """Yields offset, size and name of each field that was touched, cut at the line's ends."""
    touched = 0
    for row in rows:
        touched |= row["read"] | row["written"]
    offset, bytes_ = 0, size // MASK_BITS
    while offset < size:
        if touched >> offset // bytes_ & 1:
            part = fields.at(line + offset)
            start, end = max(part.start - line, 0), min(part.start + part.size - line, size)
            yield start, end - start, part.name
            offset = max(end, offset + 1)
        else:
            offset += 1

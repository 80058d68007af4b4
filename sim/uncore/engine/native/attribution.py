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
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from uncore.program.fields import Fields
from uncore.result.objects import alike

if TYPE_CHECKING:
    from uncore._native import Run
    from uncore.job import Job

MOST_LINES = 64
MOST_PARTS = 4096  # of an object whose places are kept
OUTSIDE = -2  # kind: outside the region of interest
LINE = 64
COUNTED = (
    *("reads", "writes", "misses", "needless", "failed_scs"),
    *("waited_ps", "needless_ps", "critical_ps"),
)

Row = dict[str, Any]


def observed(job: Job, run: Run, most: int = MOST_LINES) -> Row:
    """The fields of an Observed; `most` lines are kept."""
    seen, harts = run.lines(), job.threads[0]
    uses, passed = seen["uses"], _by_line(seen["passed"])
    taken = dict(zip(*(column.tolist() for column in seen["invalidations"].values()), strict=True))
    costliest = _costliest(uses, passed, most)
    fields = Fields.of(job.program, run.read, harts)
    rows = _by_line(
        {name: column[np.isin(uses["line"], costliest)] for name, column in uses.items()}
    )
    others = ~np.isin(uses["line"], costliest)
    rest = {name: int(uses[name][others].sum()) for name in COUNTED}
    away = [
        address for address in {*passed, *uses["line"].tolist()} if address not in set(costliest)
    ]
    return {
        "threads": harts,
        **({} if job.seed is None else {"seed": job.seed}),
        "hart_ps": harts * run.now,
        "waited_ps": seen["waited_ps"],
        "path_ps": seen["path_ps"],
        "objects": _objects(fields, uses),
        "lines": [
            {
                "address": address,
                "fields": list(_fields(fields, address, rows.get(address, []))),
                "transfers": _transfers(job, passed.get(address, [])),
                "taken": _taken(job, passed.get(address, [])),
                "invalidations": taken.get(address, 0),
                "uses": _uses(job, rows.get(address, [])),
            }
            for address in costliest
        ],
        "others": rest
        | {
            "lines": len(away),
            "transfers": _transfers(job, [p for a in away for p in passed.get(a, [])]),
            "invalidations": sum(taken.get(a, 0) for a in away),
        },
    }


def _objects(fields: Fields, uses: dict[str, Any]) -> list[Row]:
    """The fields of an Object for each that was touched in the region of interest."""
    selected = (uses["kind"] > OUTSIDE) | (uses["critical_ps"] > 0)
    inside = {name: column[selected] for name, column in uses.items()}
    touched = (inside["read"] | inside["written"]).tolist()
    lines = inside["line"].tolist()
    parts = [fields.at(a + first(bits)) for a, bits in zip(lines, touched, strict=True)]
    names = [part.name for part in parts]
    general = alike(set(names))
    found: dict[str, list[int]] = defaultdict(list)
    for row, name in enumerate(names):
        found[general[name]].append(row)
    objects = [
        {
            "name": name,
            "at": sorted({(parts[row].start, parts[row].size) for row in rows})[:MOST_PARTS],
            "lines": len(set(inside["line"][rows].tolist())),
            **{counted: int(inside[counted][rows].sum()) for counted in COUNTED},
        }
        for name, rows in found.items()
    ]
    return sorted(objects, key=lambda o: (-o["critical_ps"], -o["waited_ps"], o["name"]))


def shared(job: Job, run: Run) -> list[Row]:
    """The fields of a result.observed.Shared for each line."""
    uses = run.lines()["uses"]
    inside = uses["kind"] > OUTSIDE
    rows = _by_line({name: column[inside] for name, column in uses.items()})
    fields = Fields.of(job.program, run.read, job.threads[0])
    return [
        {"address": a, "fields": list(_fields(fields, a, used)), "uses": _uses(job, used)}
        for a, used in sorted(rows.items())
        if len({row["hart"] for row in used}) > 1 and any(row["written"] for row in used)
    ]


def _by_line(columns: dict[str, Any]) -> dict[int, list[Row]]:
    rows: dict[int, list[Row]] = defaultdict(list)
    for values in zip(*(column.tolist() for column in columns.values()), strict=True):
        row = dict(zip(columns, values, strict=True))
        rows[row["line"]].append(row)
    return rows


def _costliest(uses: dict[str, Any], passed: dict[int, list[Row]], most: int) -> list[int]:
    """Addresses of lines, longest waited for first, then most often passed on."""
    addresses, index = np.unique(uses["line"], return_inverse=True)
    waited = np.bincount(index, weights=uses["waited_ps"], minlength=len(addresses))
    moved = {address: sum(row["times"] for row in rows) for address, rows in passed.items()}
    cost = [(-w, -moved.get(a, 0), a) for a, w in zip(addresses.tolist(), waited, strict=True)]
    return [address for _, _, address in sorted(cost)[:most]]


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


def _uses(job: Job, rows: Iterable[Row]) -> list[Row]:
    alike: dict[tuple[int, ...], list[Row]] = defaultdict(list)
    for row in rows:
        alike[row["pc"], row["kind"], row["read"], row["written"]].append(row)
    uses_ = [_use(job, same) for same in alike.values()]
    return sorted(uses_, key=lambda use: (-use["waited_ps"], use["pc"], use["kind"], use["harts"]))


def _use(job: Job, rows: list[Row]) -> Row:
    pc, guest = rows[0]["pc"], job.program
    return {
        "pc": pc,
        "function": (guest.symbol_at(pc) or "").partition("+")[0],
        "source": guest.source_line(pc) or "",
        "kind": rows[0]["kind"],
        "harts": sorted(row["hart"] for row in rows),
        **{name: sum(row[name] for row in rows) for name in COUNTED},
        "read": list(runs(rows[0]["read"])),
        "written": list(runs(rows[0]["written"])),
    }


def first(bits: int) -> int:
    """The lowest one of a mask of bytes; of none, 0."""
    return max((bits & -bits).bit_length() - 1, 0)


def runs(bits: int) -> Iterator[tuple[int, int]]:
    """The runs of ones in a mask of bytes: (offset, size)."""
    at = 0
    while bits >> at:
        if bits >> at & 1:
            size = (~(bits >> at) & -~(bits >> at)).bit_length() - 1
            yield at, size
            at += size
        else:
            at += 1


def _fields(fields: Fields, line: int, rows: Iterable[Row]) -> Iterator[tuple[int, int, str]]:
    """What was touched, each field cut at the line's ends."""
    touched = 0
    for row in rows:
        touched |= row["read"] | row["written"]
    at = 0
    while at < LINE:
        if touched >> at & 1:
            part = fields.at(line + at)
            start, end = max(part.start - line, 0), min(part.start + part.size - line, LINE)
            yield start, end - start, part.name
            at = max(end, at + 1)
        else:
            at += 1

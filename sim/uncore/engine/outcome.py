"""Turns the counts of one of our engines into the fields of a Point.

Interface: `point(job, run)`, `percentiles(buckets)`; `CountedRun` is the interface of an ended run,
native or reference.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Protocol, cast

from uncore.engine import tasks
from uncore.errors import GuestError
from uncore.program import readback
from uncore.program.names import Names
from uncore.protocol import impossible, tables

if TYPE_CHECKING:
    from uncore.job import Job
    from uncore.program import Program
    from uncore.topology.machine import Machine

# order in which states of harts are named in a message
MODES_BY_SUSPICION = ["stopped", "running", "waiting", "spinning", "idle"]
MOST_SUSPECTS = 16
NO_OPERATIONS = "the workload marks no operations"  # why a point has no latency
NOT_TOGETHER = "fewer than 20 operations were done while all threads took part (W2)"
HOTTEST_LINES = 64  # number of lines kept in a result
PERCENTILES = (50, 90, 99)
MOST_NAMED = 5  # hottest lines in a message
MOST_OUTPUT = tasks.MOST_OUTPUT
KEPT_FOR_SC = "a core keeps a line for the SC no longer than 64 instructions take (C6.2)"


class CountedRun(tasks.EndedRun, Protocol):
    """The same of an engine of ours, and what it counts."""

    @property
    def end(self) -> str:
        """running, exited, fatal, stuck, watchdog or protocol; `reason` in words."""

    @property
    def reason(self) -> str: ...

    def harts(self) -> list[dict[str, Any]]:
        """pc, clock, instructions, mode, and the address it waits for."""

    def counters(self, lines: int = ...) -> dict[str, Any]:
        """`lines`: of how many at most, those that were fetched most."""


def point(job: Job, engine: CountedRun) -> dict[str, Any]:
    """The fields of the job's one Point, or a GuestError that says who was where."""
    if engine.end != "exited":
        raise GuestError(_why(job, engine))
    guest, harts = job.program, job.threads[0]
    fields = (
        tasks.fields(job, cast(tasks.OfLinux, engine))
        if guest.linux
        else _told(guest, engine, harts)
    )
    counts = engine.counters(HOTTEST_LINES)
    lines = counts["lines"]
    names = Names.of(guest, engine.read, harts)
    point = fields | {
        "steady": next(iter(counts["steady"]), None),
        "latency": percentiles(counts["latencies"]),
        "transfers": _transfers(job, counts),
        "lines": lines,
        "names": [(address, names.at(address)) for address, _ in lines],
        "invalidations": counts["invalidations"],
        "failed_scs": counts["failed_scs"],
        "links": _busy(channels(job.machine), counts["channel_busy"], engine.now),
        "resolvers": _busy(
            [r.name for r in job.machine.resolvers], counts["resolver_busy"], engine.now
        ),
        "instructions": sum(hart["instructions"] for hart in engine.harts()),
        "transactions": counts["transactions"],
        "events": counts.get("events"),
        "absent": {},
    }
    if caches := _memory_caches(job.machine, counts):
        point["memory_caches"] = caches
    if guest.linux and point["latency"] is None:
        point["latency"] = tasks.latency(point)
    if point["latency"] is None:
        point["absent"]["latency"] = NO_OPERATIONS
    if point["steady"] is None:
        point["absent"]["steady"] = NOT_TOGETHER
    return point


def whereabouts(job: Job, engine: CountedRun) -> list[str]:
    """For a message, of a program of Linux: its threads, and the lines that were fetched most."""
    if not job.program.linux:
        return []
    lines = engine.counters(MOST_NAMED)["lines"]
    names = Names.of(job.program, engine.read, job.threads[0])
    hot = [f"  {count} fetches of the line of {names.at(line)}" for line, count in lines]
    return [*tasks.stacks(job, cast(tasks.OfLinux, engine)), *hot]


def _told(guest: Program, engine: CountedRun, harts: int) -> dict[str, Any]:
    """Fields from a workload's records and tables."""
    records = readback.records(guest, engine.read, harts)
    fields = readback.fields(records, readback.tables(guest, engine.read))
    if engine.exit_code and not fields["failures"]:
        lines = dict.fromkeys(engine.console.split("\n"))  # several harts may say the same
        message = readback.trap_from_text(guest, engine.console) or "\n".join(lines).strip()
        raise GuestError(f"{guest.name} ended with status {engine.exit_code}: {message}")
    return fields


def percentiles(buckets: list[tuple[int, int]]) -> dict[str, int] | None:
    """Percentiles of latencies counted by bucket (lower bound, ascending); None without any."""
    total = sum(count for _, count in buckets)
    if not total:
        return None

    def percentile(per_cent: int) -> int:
        rest = -(-total * per_cent // 100)
        for latency, count in buckets:
            rest -= count
            if rest <= 0:
                return latency
        return buckets[-1][0]

    shares = {f"p{per_cent}": percentile(per_cent) for per_cent in PERCENTILES}
    return shares | {"max": buckets[-1][0]}


def _transfers(job: Job, counts: dict[str, Any]) -> dict[str, int]:
    """Fills by where they came from: the common level, a level's data, or memory."""
    between, stored = origins(job.machine)
    out: Counter[str] = Counter()
    for level, count in zip(between[-len(counts["between"]) :], counts["between"], strict=True):
        out[level] += count
    for resolver, count in zip(stored, counts["stored"], strict=True):
        out[resolver] += count
    out["memory"] += counts["memory"]
    return {name: count for name, count in out.items() if count}


def _memory_caches(machine: Machine, counts: dict[str, Any]) -> list[tuple[str, int, int]]:
    """Hits and misses at each node that has such a cache."""
    nodes = enumerate(zip(machine.memories, counts["memory_caches"], strict=True))
    return [(f"node{n}", *uses) for n, (memory, uses) in nodes if memory.cache_sets]


def origins(machine: Machine) -> tuple[list[str], list[str]]:
    """Names of the sources between the children of a level, and of each resolver's data."""
    between = ["system", *(level for level in machine.levels if level != "thread")]
    return between, [f"{resolver.level} data" for resolver in machine.resolvers]


def traffic(job: Job, run: CountedRun) -> dict[str, list[int]]:
    """The probe: how often messages without and with a line took a channel, by its level."""
    levels = {link.channel: link.level for link in job.machine.links if link.channel >= 0}
    by_level: dict[str, list[int]] = {}
    for channel, (control, data, snoop) in enumerate(run.counters()["channel_taken"]):
        counts = by_level.setdefault(levels[channel], [0, 0])
        counts[0] += control + snoop
        counts[1] += data
    return by_level


def channels(machine: Machine) -> list[str]:
    """A name per channel: its first link's ends."""
    stops = machine.stops
    names: dict[int, str] = {}
    for link in machine.links:
        if link.channel >= 0:
            names.setdefault(link.channel, f"{stops[link.source]}>{stops[link.target]}")
    return [names[channel] for channel in sorted(names)]


def _busy(names: list[str], busy: list[int], elapsed: int) -> list[tuple[str, int]]:
    shares = [
        (name, used * 10**6 // max(elapsed, 1)) for name, used in zip(names, busy, strict=True)
    ]
    return sorted((s for s in shares if s[1]), key=lambda s: (-s[1], s[0]))


def _broken_rule(machine: Machine, reason: str) -> str:
    return impossible.worded(reason, tables.of(machine.protocol, machine.tables))


def _failed_scs(job: Job, engine: CountedRun) -> list[str]:
    """Sentences on SCs that failed while no operation was done: a loop around them may never
    end.
    """
    failed = engine.counters()["failed_lately"]
    if engine.end != "watchdog" or not failed:
        return []
    names = Names.of(job.program, engine.read, job.threads[0])
    total = sum(times for _, times in failed)
    return [
        f"  meanwhile {total} SCs failed: their loops may never end; {KEPT_FOR_SC}",
        *(
            f"  {times} SCs failed on the line of {address:#x}, {names.at(address)}"
            for address, times in failed[:MOST_SUSPECTS]
        ),
    ]


def _why(job: Job, engine: CountedRun) -> str:
    """The run ended badly: who was where, in the words of the source."""
    guest = job.program
    failed = _failed_scs(job, engine)
    heads = {
        "fatal": f"{guest.name}: {tasks.worded(engine.reason)}",
        "stuck": f"{guest.name}: every hart waits and nothing is under way",
        "watchdog": f"{guest.name}: no operation in {job.watchdog / 10**9:g} simulated ms;"
        " --watchdog allows more",
        "protocol": f"protocol {job.machine.protocol}: {_broken_rule(job.machine, engine.reason)}",
    }
    lines = [heads[engine.end], *failed]
    if guest.linux:
        return "\n".join([*lines, *whereabouts(job, engine)])
    harts = sorted(
        enumerate(engine.harts()), key=lambda pair: MODES_BY_SUSPICION.index(pair[1]["mode"])
    )
    for number, hart in harts[:MOST_SUSPECTS]:
        where = guest.symbol_at(hart["pc"]) or "no symbol"
        source = guest.source_line(hart["pc"]) or "no line known"
        waits = f", waits for the line of {hart['address']:#x}" if hart["address"] else ""
        lines.append(f"  hart {number} {hart['mode']} at {hart['pc']:#x} {where} ({source}){waits}")
    if len(harts) > MOST_SUSPECTS:
        lines.append(f"  and {len(harts) - MOST_SUSPECTS} more harts")
    if engine.end in ("stuck", "watchdog") and not failed:
        lines += ["  " + line for line in engine.reason.splitlines()[:16]]
    return "\n".join(lines)

"""Turns the counts of a run on one of uncore's own engines into the fields of a Point.

`point(job, engine)` returns the fields; `CountedRun` is the interface of a finished run, which the
native and the reference engine share.
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

# modes of harts in the order in which a message lists them; the most likely causes are first
MODES_IN_REPORT_ORDER = ["stopped", "running", "waiting", "spinning", "idle"]
MAX_HARTS_NAMED = 16
NO_OPERATIONS_REASON = "the workload marks no operations"  # reason for an absent latency
NO_STEADY_STATE_REASON = "fewer than 20 operations were done while all threads took part (W2)"
MAX_LINES_KEPT = 64  # maximum number of lines in a result
PERCENTILES = (50, 90, 99)
MAX_LINES_NAMED = 5  # maximum number of lines that a message lists
MAX_OUTPUT_LETTERS = tasks.MAX_OUTPUT_LETTERS
SC_LIMIT_NOTE = "a core keeps a line for the SC no longer than 64 instructions take (C6.2)"


class CountedRun(tasks.EndedRun, Protocol):
    """A finished run of one of uncore's own engines, with its counters."""

    @property
    def end(self) -> str:
        """One of running, exited, fatal, stuck, watchdog and protocol; `reason` explains it."""

    @property
    def reason(self) -> str: ...

    def harts(self) -> list[dict[str, Any]]:
        """Returns for each hart pc, clock, instructions, mode, and the address it waits for."""

    def counters(self, lines: int = ...) -> dict[str, Any]:
        """Returns the counters, including those of the `lines` lines that were fetched most."""


def point(job: Job, engine: CountedRun) -> dict[str, Any]:
    """Returns the fields of the job's single Point. If the run ended badly, raises a GuestError
    with the position of each hart.
    """
    if engine.end != "exited":
        raise GuestError(_failure_message(job, engine))
    guest, harts = job.program, job.threads[0]
    fields = (
        tasks.fields(job, cast(tasks.LinuxRun, engine))
        if guest.linux
        else _workload_fields(guest, engine, harts)
    )
    counts = engine.counters(MAX_LINES_KEPT)
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
        point["absent"]["latency"] = NO_OPERATIONS_REASON
    if point["steady"] is None:
        point["absent"]["steady"] = NO_STEADY_STATE_REASON
    return point


def thread_positions(job: Job, engine: CountedRun) -> list[str]:
    """Returns lines of a message on a Linux program: the positions of its threads, and the cache
    lines that were fetched most.
    """
    if not job.program.linux:
        return []
    lines = engine.counters(MAX_LINES_NAMED)["lines"]
    names = Names.of(job.program, engine.read, job.threads[0])
    line_texts = [f"  {count} fetches of the line of {names.at(line)}" for line, count in lines]
    return [*tasks.stacks(job, cast(tasks.LinuxRun, engine)), *line_texts]


def _workload_fields(guest: Program, engine: CountedRun, harts: int) -> dict[str, Any]:
    """Returns the fields that come from the records and tables of the workload itself."""
    records = readback.records(guest, engine.read, harts)
    fields = readback.fields(records, readback.tables(guest, engine.read))
    if engine.exit_code and not fields["failures"]:
        lines = dict.fromkeys(engine.console.split("\n"))  # several harts may print the same line
        message = readback.trap_from_text(guest, engine.console) or "\n".join(lines).strip()
        raise GuestError(f"{guest.name} ended with status {engine.exit_code}: {message}")
    return fields


def percentiles(buckets: list[tuple[int, int]]) -> dict[str, int] | None:
    """Returns percentiles of latencies counted in buckets (lower bound, ascending); None if
    empty.
    """
    total = sum(count for _, count in buckets)
    if not total:
        return None

    def percentile(per_cent: int) -> int:
        remaining = -(-total * per_cent // 100)
        for latency, count in buckets:
            remaining -= count
            if remaining <= 0:
                return latency
        return buckets[-1][0]

    shares = {f"p{per_cent}": percentile(per_cent) for per_cent in PERCENTILES}
    return shares | {"max": buckets[-1][0]}


def _transfers(job: Job, counts: dict[str, Any]) -> dict[str, int]:
    """Counts fills by their source: another core, by the level that both cores share; a level's
    data; or memory.
    """
    between, stored = origins(job.machine)
    fills: Counter[str] = Counter()
    for level, count in zip(between[-len(counts["between"]) :], counts["between"], strict=True):
        fills[level] += count
    for resolver, count in zip(stored, counts["stored"], strict=True):
        fills[resolver] += count
    fills["memory"] += counts["memory"]
    return {name: count for name, count in fills.items() if count}


def _memory_caches(machine: Machine, counts: dict[str, Any]) -> list[tuple[str, int, int]]:
    """Returns (name, hits, misses) of each memory node with a memory-side cache."""
    nodes = enumerate(zip(machine.memories, counts["memory_caches"], strict=True))
    return [(f"node{n}", *uses) for n, (memory, uses) in nodes if memory.cache_sets]


def origins(machine: Machine) -> tuple[list[str], list[str]]:
    """Returns names of the sources of fills: for each level, another core below it; for each
    resolver, its data.
    """
    between = ["system", *(level for level in machine.levels if level != "thread")]
    return between, [f"{resolver.level} data" for resolver in machine.resolvers]


def traffic(job: Job, run: CountedRun) -> dict[str, list[int]]:
    """Returns, for each level, the numbers of messages over its channels without and with a line
    (observer `traffic`).
    """
    levels = {link.channel: link.level for link in job.machine.links if link.channel >= 0}
    by_level: dict[str, list[int]] = {}
    for channel, (control, data, snoop) in enumerate(run.counters()["channel_taken"]):
        counts = by_level.setdefault(levels[channel], [0, 0])
        counts[0] += control + snoop
        counts[1] += data
    return by_level


def channels(machine: Machine) -> list[str]:
    """Returns a name for each channel: both ends of its first link."""
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
    """Returns lines of a message on SCs that failed since the last operation, because their loops
    may never end.
    """
    failed_lines = engine.counters()["failed_lately"]
    if engine.end != "watchdog" or not failed_lines:
        return []
    names = Names.of(job.program, engine.read, job.threads[0])
    total = sum(times for _, times in failed_lines)
    return [
        f"  meanwhile {total} SCs failed: their loops may never end; {SC_LIMIT_NOTE}",
        *(
            f"  {times} SCs failed on the line of {address:#x}, {names.at(address)}"
            for address, times in failed_lines[:MAX_HARTS_NAMED]
        ),
    ]


def _failure_message(job: Job, engine: CountedRun) -> str:
    """Describes why the run failed, with the position of each hart in the source."""
    guest = job.program
    failed_scs = _failed_scs(job, engine)
    message_by_end = {
        "fatal": f"{guest.name}: {tasks.with_call_names(engine.reason)}",
        "stuck": f"{guest.name}: every hart waits and nothing is under way",
        "watchdog": f"{guest.name}: no operation in {job.watchdog / 10**9:g} simulated ms;"
        " --watchdog allows more",
        "protocol": f"protocol {job.machine.protocol}: {_broken_rule(job.machine, engine.reason)}",
    }
    lines = [message_by_end[engine.end], *failed_scs]
    if guest.linux:
        return "\n".join([*lines, *thread_positions(job, engine)])
    harts = sorted(
        enumerate(engine.harts()), key=lambda pair: MODES_IN_REPORT_ORDER.index(pair[1]["mode"])
    )
    for number, hart in harts[:MAX_HARTS_NAMED]:
        symbol = guest.symbol_at(hart["pc"]) or "no symbol"
        source = guest.source_line(hart["pc"]) or "no line known"
        waits = f", waits for the line of {hart['address']:#x}" if hart["address"] else ""
        lines.append(
            f"  hart {number} {hart['mode']} at {hart['pc']:#x} {symbol} ({source}){waits}"
        )
    if len(harts) > MAX_HARTS_NAMED:
        lines.append(f"  and {len(harts) - MAX_HARTS_NAMED} more harts")
    if engine.end in ("stuck", "watchdog") and not failed_scs:
        lines += ["  " + line for line in engine.reason.splitlines()[:16]]
    return "\n".join(lines)

"""The native engine: fast, exact, deterministic; the default.

Everything that happens is decided in C++ (sim/native/engine); this module hands it a resolved
machine and a program's initial memory, lets it run in slices so that Ctrl-C is heard, and turns
what it counted into the fields of a Point.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from uncore.engine import Probes, Tick, silent
from uncore.errors import GuestError, UserError
from uncore.program import abi, readback
from uncore.program.names import Names
from uncore.protocol import tables
from uncore.topology.route import nearest_memories

if TYPE_CHECKING:
    from uncore._native import Run
    from uncore.job import Job

ABOUT = "our own: fast, exact, deterministic (C++)"
GIVES = frozenset(
    "threads ops elapsed_ps thread_ops latency transfers lines invalidations links resolvers"
    " instructions transactions events tables failures".split()
)

PROBES = frozenset({"log"})

TIMEBASE = 1_000_000_000  # Hz: the engine's CSR time counts nanoseconds
NO_LIMIT = 2**64 - 1
SUSPECTS = ["stopped", "running", "waiting", "spinning", "idle"]  # whom to name first in a message
MOST_SUSPECTS = 16
SLICE = 200_000  # events between two looks at the keyboard
MOST_LINES = 64  # hottest lines kept in a result
HOME_KINDS = {"addressed": 0, "node": 1, "interleave": 2, "first-touch": 3, "pair": 3}


def missing() -> str:
    """What is needed to run here: nothing, it is part of the package."""
    return ""


def run(job: Job, probes: Probes, tick: Tick = silent, **limits: Any) -> dict[str, Any]:
    """One point; `limits` as in `start`."""
    harts = job.threads[0]
    engine = start(job, probes, **limits)
    while engine.step(SLICE):
        tick(engine.operations)
    return _point(job, engine, harts) | {"observed": _observed(engine)}


def start(
    job: Job,
    probes: Probes = frozenset(),
    *,
    lookahead: int = NO_LIMIT,
    sleep: bool = True,
    fences: bool = True,
) -> Run:
    """A run of the job's first thread count that has not begun.

    What comes of a run depends neither on `lookahead`, how far (ps) a core may run ahead, nor on
    `sleep`, whether waiting harts are passed over.  Without `fences` a FENCE does nothing: a broken
    machine, for tests.
    """
    from uncore._native import Run

    machine, guest, harts = job.machine, job.program, job.threads[0]
    _refuse_what_is_missing(job)
    memory = guest.patched(
        harts=harts,
        nodes=len(machine.memories),
        node_size=machine.memories[0].size,
        timebase_hz=TIMEBASE,
        near=nearest_memories(machine, job.harts[:harts]),
        values=_values(job),
    )
    text = next(segment for segment in guest.segments if guest.entry in segment)
    kind, node = _home(job.home)
    description = {
        "placement": list(job.harts[:harts]),
        "entry": guest.entry,
        "text_begin": text.address,
        "text_size": len(text.data),
        "stacks": guest.symbol("uc_stacks").address,
        "stack_stride": abi.CONSTANTS["UC_STACK_STRIDE"],
        "stack_guard": abi.CONSTANTS["UC_STACK_GUARD"],
        "home_kind": kind,
        "home_node": node,
        "slice": -1 if job.slices == "hash" else int(job.slices),
        "watchdog": job.watchdog,
        "lookahead": lookahead,
        "sleep": sleep,
        "fences": fences,
        "log": "log" in probes,
    }
    return Run(machine, tables.pack(tables.load(machine.protocol)), description, memory)


def _refuse_what_is_missing(job: Job) -> None:
    if job.machine.core.far_atomics:
        raise UserError(
            f"{job.machine.id}: core.atomics = far: the native engine has atomics in the core's"
            " cache only; write core.atomics=near"
        )
    if job.machine.interrupt.multicast:
        raise UserError(
            f"{job.machine.id}: interrupt.multicast = yes: the native engine sends one interrupt at"
            " a time; write interrupt.multicast=no"
        )


def _values(job: Job) -> dict[str, str]:
    """The program's parameters; where the home follows the pair, each pair has a line to touch."""
    values = dict(job.parameters)
    if job.home != "pair":
        return values
    if "flags" not in {parameter.name for parameter in job.program.params}:
        raise UserError(
            f"--home pair: {job.program.name} has no pairs of harts with lines of their own"
            " (parameter flags, as in latency/pingpong); write first-touch"
        )
    return values | {"flags": "own"}


def _home(text: str) -> tuple[int, int]:
    if text.startswith("node"):
        return HOME_KINDS["node"], int(text.removeprefix("node"))
    return HOME_KINDS[text], 0


# ---- What came of it -----------------------------------------------------------------------------


def _point(job: Job, engine: Run, harts: int) -> dict[str, Any]:
    if engine.end != "exited":
        raise GuestError(_why(job, engine))
    guest = job.program
    records = readback.records(guest, engine.read, harts)
    failures = [record.why for record in records if record.failures]
    if engine.exit_code and not failures:
        said = readback.trap_from_text(guest, engine.console) or engine.console.strip()
        raise GuestError(f"{guest.name} ended with status {engine.exit_code}: {said}")
    counts = engine.counters()
    lines = counts["lines"][:MOST_LINES]
    names = Names.of(guest, engine.read, harts)
    begin = min(record.begin_ns for record in records)
    end = max(record.end_ns for record in records)
    point: dict[str, Any] = {
        "threads": harts,
        "ops": sum(record.ops for record in records),
        "elapsed_ps": (end - begin) * 1000,
        "thread_ops": [record.ops for record in records],
        "latency": _latency(counts["latencies"]),
        "transfers": _transfers(job, counts),
        "lines": lines,
        "names": [(address, names.at(address)) for address, _ in lines],
        "invalidations": counts["invalidations"],
        "links": _busy(_channels(job), counts["channel_busy"], engine.now),
        "resolvers": _busy(
            [r.name for r in job.machine.resolvers], counts["resolver_busy"], engine.now
        ),
        "instructions": sum(hart["instructions"] for hart in engine.harts()),
        "transactions": counts["transactions"],
        "events": counts["events"],
        "tables": {
            name: [list(row) for row in rows]
            for name, rows in readback.tables(guest, engine.read).items()
        },
        "failures": failures,
        "absent": {},
    }
    if point["latency"] is None:
        point["absent"]["latency"] = "the workload marks no operations"
    return point


def _observed(engine: Run) -> dict[str, Any]:
    """What each probe saw."""
    log = engine.log()
    return {"log": _log(log)} if log else {}


def _log(columns: dict[str, Any]) -> dict[str, Any]:
    from uncore import _native

    names = _native.protocol_names()
    rights = ["" if state == "I" else state for state in names["states"]]  # I: nothing was granted
    for column, words in (("op", names["requests"]), ("right", rights)):
        columns[column] = [words[position] for position in columns[column].tolist()]
    return columns


def _latency(buckets: list[tuple[int, int]]) -> dict[str, int] | None:
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

    return {
        "p50": percentile(50),
        "p90": percentile(90),
        "p99": percentile(99),
        "max": buckets[-1][0],
    }


def _transfers(job: Job, counts: dict[str, Any]) -> dict[str, int]:
    """Fills by where they came from: the common level, a level's data, or memory."""
    levels = ("system", *(level for level in job.machine.levels if level != "thread"))
    out: Counter[str] = Counter()
    for level, count in zip(levels[-len(counts["between"]) :], counts["between"], strict=True):
        out[level] += count
    for resolver, count in zip(job.machine.resolvers, counts["stored"], strict=True):
        out[f"{resolver.level} data"] += count
    out["memory"] += counts["memory"]
    return {name: count for name, count in out.items() if count}


def _channels(job: Job) -> list[str]:
    """A name per channel: its first link's ends."""
    stops = job.machine.stops
    names: dict[int, str] = {}
    for link in job.machine.links:
        if link.channel >= 0:
            names.setdefault(link.channel, f"{stops[link.source]}>{stops[link.target]}")
    return [names[channel] for channel in sorted(names)]


def _busy(names: list[str], busy: list[int], elapsed: int) -> list[tuple[str, int]]:
    shares = [
        (name, used * 10**6 // max(elapsed, 1)) for name, used in zip(names, busy, strict=True)
    ]
    return sorted((s for s in shares if s[1]), key=lambda s: (-s[1], s[0]))


def _why(job: Job, engine: Run) -> str:
    """The run ended badly: who was where, in the words of the source."""
    guest = job.program
    heads = {
        "fatal": f"{guest.name}: {engine.reason}",
        "stuck": f"{guest.name}: every hart waits and nothing is under way",
        "watchdog": f"{guest.name}: no operation in {job.watchdog / 10**9:g} simulated ms;"
        " --watchdog allows more",
        "protocol": f"protocol {job.machine.protocol}: {engine.reason}",
    }
    lines = [heads[engine.end]]
    harts = sorted(enumerate(engine.harts()), key=lambda pair: SUSPECTS.index(pair[1]["mode"]))
    for number, hart in harts[:MOST_SUSPECTS]:
        where = guest.symbol_at(hart["pc"]) or "no symbol"
        source = guest.source_line(hart["pc"]) or "no line known"
        waits = f", waits for the line of {hart['address']:#x}" if hart["address"] else ""
        lines.append(f"  hart {number} {hart['mode']} at {hart['pc']:#x} {where} ({source}){waits}")
    if len(harts) > MOST_SUSPECTS:
        lines.append(f"  and {len(harts) - MOST_SUSPECTS} more harts")
    if engine.end in ("stuck", "watchdog"):
        lines += ["  " + line for line in engine.reason.splitlines()[:16]]
    return "\n".join(lines)

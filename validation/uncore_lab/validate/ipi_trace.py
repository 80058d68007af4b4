"""Compares the interrupts in a machine's trace with simulated ones: `validate --trace FILE`.

    run(request) -> Section            a row for each distance class of sender and receiver
    pair(records) -> PairedSends

The measured time begins at the record of the send, which Linux writes just before it writes to the
interrupt controller, and ends at the record of the handler's entry on the receiving CPU.  `uncore
matrix --ipi` simulates nearly the same time, from just before the sender's store to the handler's
first instruction in a waiting hart.  The table shows its medians for a sample of the harts next to
the measured ones.

A CPU has a single pending bit for each kind of interrupt.  If several sends of a kind are pending
when the handler is entered, it is unknown which of them caused the entry, so all are left out.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from uncore import topology
from uncore.drawing.table import Column, Row
from uncore.errors import UserError
from uncore.job.forms import FIRST_SEED
from uncore.study import matrix
from uncore.topology.cpus import hart_of_cpu
from uncore.topology.distance import classes, distance
from uncore.topology.machine import Machine
from uncore_lab.validate.ipi_records import LOST, SHARED_CLOCK_ADVICE, IpiRecord, IpiTrace, read
from uncore_lab.validate.section import Request, Section
from uncore_lab.validate.trace_text import signed_pct, whole_ns

SAMPLED_HARTS = 12  # harts whose pairs are simulated, chosen so that every distance occurs
WAITED_TOGETHER = "sends that waited together for one entry"
UNANSWERED = "sends without an entry"
UNSENT = "entries without a send"
OWN = "interrupts of the sender's own CPU"
NO_HART = "interrupts of CPUs that are no harts of the machine"
QUEUED = "calls that were queued, not sent (or whose callback has no name: record as root)"

PROSE = (
    "Times from the record of a send to the record of the handler's entry, by the innermost level"
    " that holds both harts; beside them the median of the simulated interrupts between a sample of"
    " the harts, each of which waits. Measured times hold what a record costs, what the receiver"
    " did with interrupts off, and how long it took to wake: the first quartile is nearer to the"
    " hardware than the median."
)


class IpiLatency(NamedTuple):
    """The time from the send of an interrupt to the entry into its handler on the receiver."""

    sender: int  # CPU
    receiver: int  # CPU
    ns: int


@dataclass(frozen=True)
class PairedSends:
    latencies: list[IpiLatency]
    left_out: Counter[str]  # number of records that are left out, by reason


def pair(records: Iterable[IpiRecord]) -> PairedSends:
    """Pairs each send with the entry that it caused. `records` must be in the order of time."""
    waiting: dict[tuple[str, int], list[IpiRecord]] = {}
    latencies, left_out = list[IpiLatency](), Counter[str]()
    for record in records:
        if record.kind == LOST:
            left_out[UNANSWERED] += sum(map(len, waiting.values()))
            waiting.clear()
        elif record.targets is not None:
            for target in record.targets:
                waiting.setdefault((record.kind, target), []).append(record)
        elif sends := waiting.pop((record.kind, record.cpu), None):
            if len(sends) > 1:
                left_out[WAITED_TOGETHER] += len(sends)
            elif sends[0].cpu == record.cpu:
                left_out[OWN] += 1
            else:
                latencies.append(IpiLatency(sends[0].cpu, record.cpu, record.ns - sends[0].ns))
        else:
            left_out[UNSENT] += 1
    left_out[UNANSWERED] += sum(map(len, waiting.values()))
    return PairedSends(latencies, left_out)


def run(request: Request) -> Section:
    path, name = request.of_trace()
    machine = topology.load(name)
    harts = hart_of_cpu(machine)
    trace = read(path, len(harts))
    paired = pair(trace.records)
    measured = _by_class(paired, machine, harts)
    if not measured:
        raise UserError(
            f"{path}: no send could be paired with the entry that it caused."
            f" {_left_out(paired, trace)}"
        )
    simulated = _simulated_medians(name, request.cores)
    return Section(
        name="trace",
        title=f"{path.name} beside {machine.name}: interrupts from send to entry",
        prose=PROSE,
        columns=COLUMNS,
        rows=[_row(label, found, simulated) for label, found in measured.items()],
        notes=[*_notes(paired, trace, path)],
    )


def _by_class(
    paired: PairedSends, machine: Machine, harts: Sequence[int | None]
) -> dict[str, list[IpiLatency]]:
    """Returns the latencies of each distance class that occurs, with the nearest class first."""
    found: dict[str, list[IpiLatency]] = {label: [] for label in classes(machine)}
    for latency in paired.latencies:
        sender, receiver = harts[latency.sender], harts[latency.receiver]
        if sender is None or receiver is None:
            paired.left_out[NO_HART] += 1
        else:
            found[distance(machine, sender, receiver)].append(latency)
    return {label: latencies for label, latencies in found.items() if latencies}


def _simulated_medians(name: str, cores: int) -> Mapping[str, float]:
    """Returns the medians of the distance classes, as `uncore matrix --ipi` prints them for one
    seed.
    """
    measured = matrix.measure(
        name,
        ipi=True,
        overrides={},
        smt=True,
        seeds=lambda _: (FIRST_SEED,),
        only=(SAMPLED_HARTS, 0),
        workers=cores,
    )
    return {row["class"]: row["median_ns"] for row in measured.by_class()}


def _row(label: str, latencies: Sequence[IpiLatency], simulated: Mapping[str, float]) -> Row:
    times = [latency.ns for latency in latencies]
    if len(times) > 1:
        first, median, third = statistics.quantiles(times, n=4, method="inclusive")
    else:
        first = median = third = float(times[0])
    simulated_ns = simulated.get(label)
    return {
        "class": label,
        "sends": len(times),
        "pairs": len({(one.sender, one.receiver) for one in latencies}),
        "first_quartile_ns": first,
        "median_ns": median,
        "third_quartile_ns": third,
        "simulated_ns": simulated_ns,
        "err_pct": None
        if simulated_ns is None or not median
        else 100 * (simulated_ns / median - 1),
    }


def _notes(paired: PairedSends, trace: IpiTrace, path: Path) -> Iterable[str]:
    if words := _left_out(paired, trace):
        yield words
    if paired.left_out[UNANSWERED] or paired.left_out[UNSENT]:
        yield (
            "A send or an entry is alone where a record was lost or the CPUs' clocks disagree:"
            f" {SHARED_CLOCK_ADVICE}."
        )
    if trace.in_microseconds:
        yield (
            f"{path.name} has whole microseconds, as long as an interrupt: perf script --ns and"
            " trace-cmd report -t print nanoseconds."
        )


def _left_out(paired: PairedSends, trace: IpiTrace) -> str:
    counts = {**paired.left_out, QUEUED: trace.queued_calls}
    sentences = [f"{reason}: {count}" for reason, count in counts.items() if count]
    return f"Left out: {'; '.join(sentences)}." if sentences else ""


COLUMNS = [
    Column(
        "within one",
        "class",
        left=True,
        key=True,
        about="trace: innermost level that contains the harts of both CPUs",
    ),
    Column("sends", "sends", about="trace: interrupts whose send and entry were found"),
    Column("pairs", "pairs", about="trace: different pairs of sender and receiver"),
    Column(
        "quartile ns",
        "first_quartile_ns",
        whole_ns,
        about="trace: a quarter of the interrupts took less",
    ),
    Column(
        "median ns", "median_ns", whole_ns, about="trace: median time from the send to the entry"
    ),
    Column(
        "3rd quartile ns",
        "third_quartile_ns",
        whole_ns,
        about="trace: a quarter of the interrupts took more",
    ),
    Column(
        "simulated ns",
        "simulated_ns",
        whole_ns,
        about="trace: median of a sample of harts, as uncore matrix MACHINE --ipi measures it",
    ),
    Column("err %", "err_pct", signed_pct, about="trace: error of the simulated median"),
]

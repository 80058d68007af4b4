"""The plan of a measurement: programs, their processors, and repetitions.

    take(bench, computer, effort, ...)    yields the sections of a Measurement, one at a time

Each section is a function that takes a bench and a computer and returns a part of the file.  If a
program cannot do its work on this computer, its section is left out, with the program's message as
the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from msgspec import Struct

from uncore.errors import GuestError
from uncore.host.computer import Computer
from uncore.result.schema import Point
from uncore_lab.figures import CONTENDED
from uncore_lab.measure.bench import Bench, Parameters
from uncore_lab.measure.record import (
    Again,
    Barrier,
    Handoffs,
    Percentiles,
    Throughput,
    Transfer,
    Wakeup,
)

FLAG_NODE = 0  # memory node of the line that is handed over
SHORT_RUN_SHARE = 0.02  # length of a short run as a share of the full length
RUN_TIMEOUT = "60s"  # a fair lock is slow if other programs use its processors

Tick = Callable[[], None]


class Effort(Struct, frozen=True):
    """The effort of a measurement: numbers of samples, rounds and runs."""

    samples: int  # samples of each pair; FULL_EFFORT has as many as the public collections
    rounds: int
    repeated_pairs: int  # number of pairs that are measured twice
    runs: int  # runs of each workload at each thread count
    run_ns: float  # intended length of one run, ns
    wakes: int
    calls: int
    threads: tuple[int, ...] = ()  # thread counts of atomics and locks; if empty, `counts` chooses


FULL_EFFORT = Effort(
    samples=300, rounds=1000, repeated_pairs=16, runs=5, run_ns=2e8, wakes=500, calls=5000
)
QUICK_EFFORT = Effort(
    samples=30, rounds=300, repeated_pairs=4, runs=2, run_ns=2e7, wakes=100, calls=500
)


def tick_count(computer: Computer, effort: Effort) -> int:
    """Returns the number of times that the whole plan calls `tick`."""
    cpus = len(computer.cpus)
    pairs = cpus * (cpus - 1) // 2
    runs = len(CONTENDED) * len(effort.threads or counts(computer)) * effort.runs
    pair_experiments = len(pairs_with_first(computer)) + len(growing_groups(computer))
    return pairs + min(effort.repeated_pairs, pairs) + runs + 4 * pair_experiments


def take(
    bench: Bench, computer: Computer, effort: Effort, tick: Tick
) -> Iterator[tuple[str, Any, str]]:
    """Yields for each section its name, its value, and ""; if it could not be measured, its name,
    None, and the reason.
    """
    sections: dict[str, Callable[..., Any]] = {
        "handoffs": handoffs,
        "throughput": throughput,
        "transfers": transfers,
        "wakeups": wakeups,
        "barriers": barriers,
    }
    for name, measure in sections.items():
        try:
            yield name, measure(bench, computer, effort, tick), ""
        except GuestError as error:
            yield name, None, str(error)


def _checked(point: Point) -> Point:
    """Returns the point. Raises GuestError if one of its self-checks failed, because its times then
    mean nothing.
    """
    if point.failures:
        raise GuestError(point.failures[0])
    return point


# ---- The matrix ----------------------------------------------------------------------------------


def handoffs(bench: Bench, computer: Computer, effort: Effort, tick: Tick) -> Handoffs:
    cpus = sorted(computer.numbers)
    play: Parameters = {
        "samples": effort.samples,
        "rounds": effort.rounds,
        "flag_node": FLAG_NODE,
    }
    point = _checked(bench.play("latency/pingpong", cpus, play, tick))
    tables = {
        name: _lower_triangle(point.tables[name]) for name in ("handoff", "median", "deviation")
    }
    repeated = _spread_over(len(cpus), effort.repeated_pairs)
    repeated_pairs = []
    for a, b in repeated:
        pair = _checked(bench.play("latency/pingpong", [cpus[a], cpus[b]], play, tick))
        first, later = tables["median"][b][a], pair.tables["median"][1][0] / 1000
        repeated_pairs.append(Again(cpus=(cpus[a], cpus[b]), first_ns=first, again_ns=later))
    return Handoffs(
        cpus=cpus,
        samples=effort.samples,
        rounds=effort.rounds,
        node=FLAG_NODE,
        mean_ns=tables["handoff"],
        median_ns=tables["median"],
        deviation_ns=tables["deviation"],
        again=repeated_pairs,
    )


def _lower_triangle(table: Sequence[Sequence[int]]) -> list[list[float]]:
    return [[ps / 1000 for ps in row[:index]] for index, row in enumerate(table)]


def _spread_over(cpus: int, count: int) -> list[tuple[int, int]]:
    pairs = [(a, b) for b in range(cpus) for a in range(b)]
    step = max(1, len(pairs) // count)
    return pairs[::step][:count]


def noise_pct(handoffs: Handoffs) -> float:
    differences = [
        100 * deviation / median
        for deviations, medians in zip(handoffs.deviation_ns, handoffs.median_ns, strict=True)
        for deviation, median in zip(deviations, medians, strict=True)
        if median
    ]
    return round(float(np.median(differences)), 2)


# ---- Atomics and locks ---------------------------------------------------------------------------


def counts(computer: Computer) -> list[int]:
    """Returns the thread counts to measure: all counts if there are at most 8 processors; otherwise
    powers of two, and counts that fill a cache, a package, or all cores.
    """
    total = len(computer.cpus)
    if total <= 8:
        return list(range(1, total + 1))
    last = computer.typical(3)
    cores_of = {cpu: index for index, core in enumerate(computer.cores()) for cpu in core}
    full = [len({cores_of[cpu] for cpu in last.cpus})] if last else []
    packages = [cpu.package for cpu in computer.cpus if cpu.number == cpu.core[0]]
    full += [packages.count(packages[0]), len(packages), total]
    doubled = [1 << n for n in range(total.bit_length())]
    return sorted({n for n in (*doubled, *full) if n <= total})


def throughput(bench: Bench, computer: Computer, effort: Effort, tick: Tick) -> list[Throughput]:
    order, threads = computer.compact(), effort.threads or counts(computer)
    return [
        series
        for workload in CONTENDED
        for series in _throughputs(bench, workload, order, threads, effort, tick)
    ]


def _throughputs(
    bench: Bench,
    workload: str,
    order: Sequence[int],
    threads: Sequence[int],
    effort: Effort,
    tick: Tick,
) -> Iterator[Throughput]:
    """Measures the workload at each thread count. A short run shows how many operations take
    `run_ns`. The length of this short run follows from the rate at the previous thread count, with
    a margin, because a second thread may cost a lock most of its rate.
    """
    rate = _rate(bench.play(workload, order[:1], {"ops": 1000}))
    for count in threads:
        cpus = list(order[:count])
        ops, rates, failures = 0, list[float](), set[str]()
        try:
            short = max(50, int(rate * effort.run_ns / 1e9 / count * SHORT_RUN_SHARE))
            rate = _rate(bench.play(workload, cpus, {"ops": short, "patience": RUN_TIMEOUT}))
            ops = max(50, int(rate * effort.run_ns / 1e9 / count))
            for _ in range(effort.runs):
                point = bench.play(workload, cpus, {"ops": ops, "patience": RUN_TIMEOUT})
                failures |= set(point.failures)
                rates.append(round(_rate(point), 1))
                tick()
            rate = float(np.median(rates))
        # Runs at one thread count that do not end in time leave the other counts unaffected.
        except GuestError as error:
            failures.add(str(error))
        yield Throughput(
            workload=workload,
            threads=count,
            cpus=cpus,
            ops=ops,
            ops_per_second=sorted(rates),
            failures=sorted(failures),
        )


def _rate(point: Point) -> float:
    """Returns the operations per second."""
    return point.ops * 1e12 / max(point.elapsed_ps, 1000)


# ---- Loads followed by changes -------------------------------------------------------------------


def transfers(bench: Bench, computer: Computer, effort: Effort, tick: Tick) -> list[Transfer]:
    """Measures pairs at all distances from the first processor, then growing numbers of threads at
    once.
    """
    measured_transfers = []
    for cpus in (*map(list, pairs_with_first(computer)), *growing_groups(computer)):
        first, *other_cpus = cpus
        measured_transfers.append(
            Transfer(
                cpus=cpus,
                distance=_farthest_distance(computer, first, other_cpus),
                changed_ns=_alternation_ns(bench, cpus, "blind", effort),
                looked_ns=_alternation_ns(bench, cpus, "look", effort),
            )
        )
        tick()
    return measured_transfers


def _alternation_ns(bench: Bench, cpus: Sequence[int], way: str, effort: Effort) -> list[float]:
    """Returns the time of one operation in each run, in ns, in ascending order."""
    play: Parameters = {"by": way, "rounds": effort.rounds}
    points = [_checked(bench.play("latency/alternate", cpus, play)) for _ in range(effort.runs)]
    return sorted(round(point.elapsed_ps / point.ops / 1000, 1) for point in points)


# ---- Wake-ups and interrupts ---------------------------------------------------------------------


def pairs_with_first(computer: Computer) -> list[tuple[int, int]]:
    """Returns the pairs of the first processor with each other one, which cover all distances from
    the first.
    """
    first, *other_cpus = sorted(computer.numbers)
    return [(first, other_cpu) for other_cpu in other_cpus]


def growing_groups(computer: Computer) -> list[list[int]]:
    """Returns the first 4, 8, 16 ... processors and all of them, in the order in which threads are
    placed.
    """
    order = computer.compact()
    sizes = sorted({min(1 << n, len(order)) for n in range(2, len(order).bit_length() + 1)})
    return [order[:size] for size in sizes if size > 2]


def wakeups(bench: Bench, computer: Computer, effort: Effort, tick: Tick) -> list[Wakeup]:
    measured_wakeups = []
    idle = 100_000
    for waker, sleeper in pairs_with_first(computer):
        play = {"wakes": effort.wakes, "idle": idle}
        rows = _checked(bench.play("host/linux/wakeup", [waker, sleeper], play)).tables["wake"]
        slept = [row for row in rows if row[2]]
        tick()
        if wake := percentiles([row[0] for row in slept]):
            call = percentiles([row[1] for row in slept])
            assert call
            measured_wakeups.append(
                Wakeup(
                    waker=waker,
                    sleeper=sleeper,
                    distance=computer.distance(waker, sleeper),
                    idle_ns=idle,
                    wake_ns=wake,
                    call_ns=call,
                )
            )
    return measured_wakeups


def barriers(bench: Bench, computer: Computer, effort: Effort, tick: Tick) -> list[Barrier]:
    """Measures a barrier to each single other processor, once with its thread running and once with
    its thread asleep; then to growing groups of processors.
    """
    rows = []
    for sender, other_cpu in pairs_with_first(computer):
        for running in (True, False):
            rows.append(_barrier(bench, computer, effort, [sender, other_cpu], running))
            tick()
    for cpus in growing_groups(computer):
        rows.append(_barrier(bench, computer, effort, cpus, True))
        tick()
    return rows


def _barrier(
    bench: Bench, computer: Computer, effort: Effort, cpus: Sequence[int], running: bool
) -> Barrier:
    sender, *other_cpus = cpus
    play = {"calls": effort.calls, "others": 0 if running else 1}
    rows = _checked(bench.play("host/linux/membarrier", cpus, play)).tables["call"]
    sent = [row[0] for row in rows if row[1] == len(other_cpus)]
    return Barrier(
        sender=sender,
        others=list(other_cpus),
        running=running,
        distance=_farthest_distance(computer, sender, other_cpus),
        sent_ns=percentiles(sent),
        unseen_ns=percentiles([row[0] for row in rows if row[1] != len(other_cpus)]),
    )


def _farthest_distance(computer: Computer, first: int, other_cpus: Sequence[int]) -> str:
    distances = (computer.distance(first, other_cpu) for other_cpu in other_cpus)
    return max(distances, key=DISTANCE_NAMES.index)


DISTANCE_NAMES = ("core", "L2", "L3", "node", "package", "system")


def percentiles(durations: Sequence[float]) -> Percentiles | None:
    if not durations:
        return None
    p10, p50, p90, p99 = (round(float(p), 1) for p in np.percentile(durations, [10, 50, 90, 99]))
    return Percentiles(count=len(durations), p10=p10, p50=p50, p90=p90, p99=p99)

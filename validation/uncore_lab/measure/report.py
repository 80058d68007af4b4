"""Prints the report of a measurement, with one table for each section."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

from uncore.drawing.formats import EMPTY
from uncore.drawing.table import Column, emit, say
from uncore_lab.figures import CONTENDED
from uncore_lab.measure.plan import DISTANCE_NAMES
from uncore_lab.measure.record import Measurement, Percentiles, Transfer

LOAD_THEN_CHANGE = "load, then change, of a line written elsewhere"
PAIR_THREADS = 2  # threads of a transfer between a pair of processors
MAX_CPUS_SHOWN = 4
# The limit lies between the values of Transfer.ratio on eight simulated machines: 0.95 to 1.01 if a
# load already gets the right to write (R12), 2.08 to 2.63 if it does not.
MAX_RATIO_OF_ONE_TRANSFER = 1.3
MIN_RATIO_OF_TWO_TRANSFERS = 1.7
BUSY_TASKS = 0.5  # a computer with at least this many runnable tasks is busy


def show(measurement: Measurement) -> None:
    _print_facts(measurement)
    _print_handoffs(measurement)
    _print_throughput(measurement)
    _print_transfers(measurement)
    _print_wakeups(measurement)
    _print_barriers(measurement)
    for section, why in measurement.absent.items():
        say(f"not measured: {section} ({why})")


def _print_facts(measurement: Measurement) -> None:
    setting, computer = measurement.setting, measurement.computer
    say(f"{computer.name}: {len(computer.cpus)} processors; Linux {setting.kernel},"
          f" clock source {setting.clock_source or 'not told'},"
          f" governor {setting.governor or 'not told'}, load {setting.load}")  # fmt: skip
    if setting.hypervisor:
        say(f"a virtual machine ({setting.hypervisor}): interrupts and wake-ups pass its host")
    if setting.load > BUSY_TASKS:
        say(f"it was busy ({setting.load} tasks the minute before): threads waited for"
              " processors, and what needs several at once (queue locks) shows that")  # fmt: skip
    if measurement.noise_pct is not None:
        say(f"noise: half of a pair's samples are within {measurement.noise_pct} % of their median")
    print()


def _print_handoffs(measurement: Measurement) -> None:
    if not (matrix := measurement.handoffs):
        return
    classes: dict[str, list[tuple[float, float]]] = {}
    for row, a in enumerate(matrix.cpus):
        for column, b in enumerate(matrix.cpus[:row]):
            pair = matrix.median_ns[row][column], matrix.mean_ns[row][column]
            classes.setdefault(measurement.computer.distance(a, b), []).append(pair)
    rows = [
        {"distance": name, "pairs": len(pairs)}
        | {"min": min(pairs)[0], "max": max(pairs)[0]}
        | {"median": statistics.median(m for m, _ in pairs)}
        | {"mean": statistics.median(m for _, m in pairs)}
        for name in DISTANCE_NAMES
        if (pairs := classes.get(name))
    ]
    columns = [
        Column("nearest thing shared", "distance", left=True),
        Column("pairs", "pairs"),
        *(Column(f"{key} ns", key, "{:.1f}".format) for key in ("min", "median", "max")),
        Column("of the means ns", "mean", "{:.1f}".format),
    ]
    emit(rows, False, columns, "one handoff of a line, medians of samples")


def _print_throughput(measurement: Measurement) -> None:
    points = measurement.throughput or []
    rows: list[dict[str, Any]] = [
        {"workload": name}
        | {
            str(p.threads): statistics.median(p.ops_per_second)
            for p in points
            if p.workload == name and p.ops_per_second
        }
        for name in CONTENDED
    ]
    counts = sorted({p.threads for p in points})
    columns = [Column("threads", "workload", left=True)]
    columns += [Column(str(n), str(n), _millions_text) for n in counts]
    if points:
        emit(rows, False, columns, "million operations a second, median of runs")
    for point in points:
        for failure in point.failures:
            say(f"{point.workload} at {point.threads} threads: {failure}")


def _print_transfers(measurement: Measurement) -> None:
    transfers = measurement.transfers or []
    rows: list[dict[str, Any]] = [
        {"threads": len(transfer.cpus), "distance": transfer.distance}
        | {"cpus": ", ".join(map(str, transfer.cpus[:MAX_CPUS_SHOWN]))}
        | {"changed": statistics.median(transfer.changed_ns)}
        | {"looked": statistics.median(transfer.looked_ns)}
        | {"ratio": transfer.ratio}
        for transfer in transfers
    ]
    columns = [
        Column("threads", "threads"),
        Column("cpus", "cpus", left=True),
        Column("nearest thing shared", "distance", left=True),
        Column("change ns", "changed", "{:.1f}".format),
        Column("load, then change ns", "looked", "{:.1f}".format),
        Column("ratio", "ratio", "{:.2f}".format),
    ]
    if rows:
        emit(rows, False, columns, "a turn at one count, median of runs")
        say(transfers_text(transfers))


def transfers_text(transfers: Sequence[Transfer]) -> str:
    """Returns a sentence on the number of transfers of a line that is loaded and then changed."""
    ratio = statistics.median(
        transfer.ratio for transfer in transfers if len(transfer.cpus) == PAIR_THREADS
    )
    if ratio <= MAX_RATIO_OF_ONE_TRANSFER:
        return f'{LOAD_THEN_CHANGE} is 1 transfer: protocol = "migratory-moesi" or its kin'
    if ratio >= MIN_RATIO_OF_TWO_TRANSFERS:
        return f'{LOAD_THEN_CHANGE} is 2 transfers: protocol = "moesi" or its kin'
    return f"{LOAD_THEN_CHANGE} is neither 1 nor 2 transfers: its ratio in pairs is {ratio:.2f}"


def _millions_text(rate: float | None) -> str:
    return EMPTY if rate is None else f"{rate / 1e6:.2f}"


def _percentiles_text(percentiles: Percentiles | None) -> str:
    return (
        f"{percentiles.p50:.0f} ({percentiles.p10:.0f} to {percentiles.p99:.0f})"
        if percentiles
        else EMPTY
    )


def _print_wakeups(measurement: Measurement) -> None:
    rows: list[dict[str, Any]] = [
        {"pair": f"{w.waker} wakes {w.sleeper}", "distance": w.distance}
        | {"wake": _percentiles_text(w.wake_ns), "call": _percentiles_text(w.call_ns)}
        for w in measurement.wakeups or []
    ]
    columns = [Column(head, head, left=True) for head in ("pair", "distance")]
    columns += [Column(f"{key} ns", key) for key in ("wake", "call")]
    if rows:
        emit(rows, False, columns, "remote wake-up: median (10th to 99th of 100)")


def _print_barriers(measurement: Measurement) -> None:
    rows: list[dict[str, Any]] = [
        {"sender": b.sender, "to": len(b.others), "distance": b.distance}
        | {"others": "run" if b.running else "sleep"}
        | {"sent": _percentiles_text(b.sent_ns), "seen": b.sent_ns.count if b.sent_ns else 0}
        | {"unseen": _percentiles_text(b.unseen_ns)}
        for b in measurement.barriers or []
    ]
    columns = [
        Column("sender", "sender"),
        Column("to", "to"),
        Column("distance", "distance", left=True),
        Column("others", "others", left=True),
        Column("all interrupted ns", "sent"),
        Column("calls", "seen"),
        Column("else ns", "unseen"),
    ]
    if rows:
        emit(rows, False, columns, "membarrier: IPIs and their answers, median (10th to 99th)")

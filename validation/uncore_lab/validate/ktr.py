"""Compares DragonFly's kernel traces (KTR), as ktrdump prints them, with simulated events.

    read(path) -> [KtrRecord]                 UserError with file and line
    compare(records, machine, ...) -> rows    a row for each event on each CPU

Each line is a record: its number, the CPU, the time since the previous record of the same CPU (none
at the start of a sequence), and the event.  Intervals on one CPU are compared, so the clocks of two
CPUs need not agree within a row; but the rows of the two directions of an exchange differ by twice
the offset of the clocks.  Events that no workload reproduces have measured values only.
"""

from __future__ import annotations

import re
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from uncore.drawing.table import Column, Row
from uncore.errors import UserError
from uncore.execution.execute import execute
from uncore.execution.request import make_job
from uncore_lab.validate.trace_text import numbered, signed_pct, unreadable, whole_ns

_LINE = re.compile(r"\s*(\d+)\s+(\d+)\s+(?:(\d+(?:\.\d+)?)\s*uS\s+)?([A-Za-z]\S*(?: \S+)*)\s*$")
_EXAMPLE = "653 1 1.008 uS PING"


@dataclass(frozen=True)
class KtrRecord:
    number: int
    cpu: int
    ns: float | None  # ns since the previous record; None at the start of a sequence
    event: str  # name of the event, in capitals joined by _


@dataclass(frozen=True)
class EventSource:
    """A workload of two harts that reproduces an event, and the cell of its table for each CPU."""

    workload: str
    values: Mapping[str, str]
    table: str
    cells: tuple[tuple[int, int], tuple[int, int]]  # cells of CPU 0 and of CPU 1


# cells (row, column) of messages from CPU 1 to CPU 0, and from CPU 0 to CPU 1
_MESSAGE = ((1, 0), (0, 1))
_FROM_OTHER_CPU = {"distance": "1", "by": "message", "crossbar": "2005"}
EVENTS = {
    "PING": EventSource("ipi/ipiq", {"burst": "1", "crossbar": "2005"}, "one_way", _MESSAGE),
    "PONG": EventSource("ipi/ipiq", {"burst": "1", "crossbar": "2005"}, "one_way", _MESSAGE),
    "PIPELINE": EventSource("ipi/ipiq", {"burst": "5", "crossbar": "2005"}, "one_way", _MESSAGE),
    "PIPELINE+": EventSource("ipi/ipiq", {"burst": "5", "crossbar": "2005"}, "pipelined", _MESSAGE),
    "WAKEUP_END": EventSource("sched/wakeup", {"distance": "0"}, "wakeup", ((0, 0), (0, 0))),
    "TSLEEP_END": EventSource("sched/wakeup", {"distance": "0"}, "woken", ((0, 0), (0, 0))),
    "WAKEUP_END, other": EventSource("sched/wakeup", _FROM_OTHER_CPU, "wakeup", ((0, 0), (0, 0))),
    "TSLEEP_END, other": EventSource("sched/wakeup", _FROM_OTHER_CPU, "woken", ((0, 0), (0, 0))),
}


def read(path: Path) -> list[KtrRecord]:
    records = [_record(place, line) for place, line in numbered(path)]
    if not records:
        raise UserError(f"{path}: no records; expected lines such as '{_EXAMPLE}'")
    return records


def _record(place: str, line: str) -> KtrRecord:
    match = _LINE.match(line)
    if not match:
        raise unreadable(place, line, "number, CPU, interval and event", _EXAMPLE)
    number, cpu, interval, event = match.groups()
    ns = None if interval is None else 1000 * float(interval)
    return KtrRecord(int(number), int(cpu), ns, re.sub(r"\s+", "_", event.upper()))


def named(records: Sequence[KtrRecord]) -> list[tuple[str, KtrRecord]]:
    """Returns each record with the name of its event. A "+" marks the events of a pipeline after
    the first one; ", other" marks wakeups across CPUs, at the waking and at the woken CPU.
    """
    named_records = []
    for event, run in groupby(records, key=lambda record: record.event):
        named_records += [
            (f"{event}{'+' * (event == 'PIPELINE' and n > 0)}", r) for n, r in enumerate(run)
        ]
    for index, (event, record) in enumerate(named_records):
        waker = record
        if event == "WAKEUP_END" and index + 1 < len(named_records):
            waker = named_records[index + 1][1]
        elif event == "TSLEEP_END" and index:
            waker = named_records[index - 1][1]
        if waker.cpu != record.cpu:
            named_records[index] = (f"{event}, other", record)
    return named_records


def compare(
    records: Sequence[KtrRecord], machine: str, overrides: Mapping[str, str], trace_ns: float
) -> list[Row]:
    """Returns a row for each event and CPU. `trace_ns` is the cost of writing a record; each
    measured interval contains this cost once.
    """
    intervals: dict[tuple[str, int], list[float]] = {}
    for event, record in named(records):
        if record.ns is not None:
            intervals.setdefault((event, record.cpu), []).append(record.ns)
    rows: list[Row] = []
    for (event, cpu), measured in intervals.items():
        measured_ns = statistics.median(measured)
        simulated_ns = _simulated_time(event, cpu, machine, overrides)
        total = None if simulated_ns is None else simulated_ns + trace_ns
        rows.append(
            {
                "event": event,
                "cpu": cpu,
                "records": len(measured),
                "least_ns": min(measured),
                "median_ns": measured_ns,
                "most_ns": max(measured),
                "simulated_ns": total,
                "err_pct": None
                if total is None or not measured_ns
                else 100 * (total / measured_ns - 1),
            }
        )
    return rows


def _simulated_time(
    event: str, cpu: int, machine: str, overrides: Mapping[str, str]
) -> float | None:
    source = EVENTS.get(event)
    if source is None or cpu > 1:
        return None
    job = make_job(machine, source.workload, (2,), parameters=source.values, overrides=overrides)
    tables = execute([job])[0].points[0].tables or {}
    row, col = source.cells[cpu]
    return float(tables[source.table][row][col]) / 1000


COLUMNS = [
    Column("event", "event", left=True),
    Column("cpu", "cpu"),
    Column("records", "records"),
    Column("least ns", "least_ns", whole_ns),
    Column("median ns", "median_ns", whole_ns),
    Column("most ns", "most_ns", whole_ns),
    Column("simulated ns", "simulated_ns", whole_ns),
    Column("err %", "err_pct", signed_pct),
]

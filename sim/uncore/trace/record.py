"""Traces one run: the native engine's events, in tables.

    record(job, Window(start, until, lines=("lock",), harts=(3,)))
                                             a job of one point
    record(job, Window(around="slowest"))    the operation that took longest

A table is a polars frame, in the order of time; its columns are in docs/trace.md.  A window that
needs knowledge of the run (its slowest operation, the addresses of named objects) gets it from a
first run, since runs are repeatable.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from uncore.engine import NO_OPTIONS, EngineOptions, native, outcome
from uncore.engine.limits import Limits, watch
from uncore.engine.native import MAX_SLICE_EVENTS, MAX_SLICE_HOST_S, MAX_SLICE_PS, spec
from uncore.engine.options import take
from uncore.errors import UserError
from uncore.program.fields import Fields
from uncore.trace import named_tables as tables
from uncore.trace import operations
from uncore.trace.operations import MarkedOperation

if TYPE_CHECKING:
    from polars import DataFrame

    from uncore.job import Job

AROUND_SLOWEST, MEASURED = "slowest", "measured"
MAX_NAMES_PER_LINE = 3
MARGIN_DIVISOR = 10  # a view shows the operation and 1/MARGIN_DIVISOR of its time on either side


@dataclass(frozen=True)
class Window:
    """The part of a run to record; without any argument, the whole run."""

    start: int = 0  # ps
    until: int = spec.NO_LIMIT
    span: int = 0  # length in ps, from the start that `around` finds; 0: to the end of the run
    lines: tuple[str, ...] = ()  # names of objects, or addresses; (): all lines
    harts: tuple[int, ...] = ()
    # AROUND_SLOWEST: the operation that took longest; MEASURED: from the first measured one on
    around: str = ""


@dataclass(frozen=True)
class Trace:
    """The recorded run.

    `tables` has, by name: messages, states, held, holds, turns, accesses, harts, transactions.
    """

    job: Job
    window: Window
    point: Mapping[str, Any]  # fields of a result.Point
    tables: Mapping[str, DataFrame]
    fields: Fields

    @cached_property
    def lines(self) -> list[int]:
        """Lines that messages are about, those with the most messages first."""
        counts = self.tables["messages"].filter(self.tables["messages"]["line"] > 0)
        by_count = counts.group_by("line").len().sort(["len", "line"], descending=[True, False])
        return [line for line, _ in by_count.iter_rows()]

    def name(self, line: int) -> str:
        """Returns a line's name: the objects on it that were accessed, else the object at its
        start.
        """
        return ", ".join(self._used.get(line, [])[:MAX_NAMES_PER_LINE]) or self.fields.at(line).name

    @cached_property
    def _used(self) -> dict[int, list[str]]:
        used: dict[int, dict[str, None]] = {}
        accesses = self.tables["accesses"]
        for line, name in accesses.select("line", "object").sort("line", "object").iter_rows():
            used.setdefault(line, {})[name] = None
        return {line: list(names) for line, names in used.items()}

    @cached_property
    def operations(self) -> list[MarkedOperation]:
        """Operations that ended within the window, by the program's markers."""
        return operations.of(self.tables["harts"])


def record(job: Job, window: Window, engine_options: EngineOptions = NO_OPTIONS) -> Trace:
    _refuse(job)
    if window.around:
        window = _resolve_around(job, window, engine_options)
    addresses = _addresses(job, window, engine_options)
    recorded = _run_traced(
        job, spec.Trace(True, window.start, window.until, addresses), engine_options
    )
    machine = job.machine
    lines = {address - address % machine.line for address in addresses}
    selected = tables.within(recorded.tables, window.start, window.until, lines)
    cores = {machine.core_of(job.harts[hart]) for hart in window.harts}
    return replace(recorded, window=window, tables=tables.of_harts(selected, window.harts, cores))


def _refuse(job: Job) -> None:
    if job.engine != "native" or len(list(job.points())) > 1:
        raise UserError(
            "one run of engine native is traced: write one thread count, and --seed for another"
        )


def _run_traced(job: Job, window: spec.Trace, engine_options: EngineOptions) -> Trace:
    run = native.start(job, frozenset({"trace"}), trace=window)
    watched = watch(
        take(Limits, engine_options), job.program.name, lambda operations, reached: None
    )
    while run.step(MAX_SLICE_EVENTS, MAX_SLICE_PS, MAX_SLICE_HOST_S):
        watched(run.operations, run.now, run.touched)
    fields = Fields.of(job.program, run.read, job.threads[0])
    named = tables.named(job, run, fields)
    return Trace(job, Window(), outcome.point(job, run), named, fields)


def _scout(job: Job, engine_options: EngineOptions) -> Trace:
    """Runs without recording any line, for the harts' events and the objects' names at the end."""
    nowhere = (spec.NO_LIMIT,)
    return _run_traced(job, spec.Trace(True, 0, spec.NO_LIMIT, nowhere), engine_options)


def _resolve_around(job: Job, window: Window, engine_options: EngineOptions) -> Window:
    """Returns the window with the times that `around` asks for, found in a first run."""
    if window.around not in (AROUND_SLOWEST, MEASURED):
        raise UserError(f"--around {window.around}: expected {AROUND_SLOWEST} or {MEASURED}")
    scouted = _scout(job, engine_options)
    candidates = [
        operation
        for operation in scouted.operations
        if window.start <= operation.end <= window.until
    ]
    if window.around == MEASURED:
        first_begin = operations.begin(scouted.tables["harts"])
        start = max(window.start, first_begin)
        until = min(window.until, start + window.span) if window.span else window.until
        return replace(window, start=start, until=until, around="")
    if not candidates:
        raise UserError(f"--around {AROUND_SLOWEST}: the workload marks no operations there")
    longest = max(candidates, key=lambda operation: (operation.took, -operation.begin))
    margin = longest.took // MARGIN_DIVISOR
    start, until = max(0, longest.begin - margin), longest.end + margin
    return replace(window, start=start, until=until, around="")


def _addresses(job: Job, window: Window, engine_options: EngineOptions) -> tuple[int, ...]:
    """Returns an address on each line that is to be recorded; () for all lines."""
    numbers = {word: number for word in window.lines if (number := _number(word)) is not None}
    if len(numbers) == len(window.lines):
        return tuple(numbers.values())
    fields = _scout(job, engine_options).fields
    named = {
        word: [numbers[word]] if word in numbers else fields.addresses(word)
        for word in window.lines
    }
    for word, addresses in named.items():
        if not addresses:
            raise UserError(
                f"--line {word}: expected the name of an object, such as 'lock', or an address in"
                " hexadecimal; `uncore lines` lists them"
            )
    return tuple(address for addresses in named.values() for address in addresses)


def _number(word: str) -> int | None:
    try:
        return int(word, 16) if word.startswith("0x") else None
    except ValueError:
        return None

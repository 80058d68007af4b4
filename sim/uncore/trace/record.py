"""Traces one run: records the events of the native engine in tables.

    record(job, Window(start, until, lines=("lock",), harts=(3,)))    a part of a job of one point
    record(job, Window(around="slowest"))                             the longest operation

A table is a polars frame, in the order of time; docs/trace.md describes its columns.  If a window
depends on the run (on its slowest operation, or the addresses of named objects), the job is run
twice, because runs are repeatable: the first run determines the window.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from uncore.engine import NO_OPTIONS, EngineOptions, native, outcome
from uncore.engine.limits import Limits, watch
from uncore.engine.native import MAX_STEP_EVENTS, MAX_STEP_HOST_S, MAX_STEP_PS, spec
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
MARGIN_DIVISOR = 10  # a window around an operation is longer by 1/10 of its time on either side


@dataclass(frozen=True)
class Window:
    """The part of a run that is recorded; without arguments, the whole run."""

    start: int = 0  # ps
    until: int = spec.NO_LIMIT  # ps
    span: int = 0  # length in ps, from the start that `around` finds; 0: to the end of the run
    lines: tuple[str, ...] = ()  # names of objects, or addresses; (): all lines
    harts: tuple[int, ...] = ()  # (): all harts
    # AROUND_SLOWEST: the operation that took longest; MEASURED: from the first measured operation
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
        """Returns the lines to which messages refer; lines with most messages come first."""
        with_line = self.tables["messages"].filter(self.tables["messages"]["line"] > 0)
        by_count = with_line.group_by("line").len().sort(["len", "line"], descending=[True, False])
        return [line for line, _ in by_count.iter_rows()]

    def name(self, line: int) -> str:
        """Returns a line's name: the objects on it that were accessed; without accesses, the object
        at its start.
        """
        accessed = self._accessed_objects.get(line, [])[:MAX_NAMES_PER_LINE]
        return ", ".join(accessed) or self.fields.at(line).name

    @cached_property
    def _accessed_objects(self) -> dict[int, list[str]]:
        by_line: dict[int, dict[str, None]] = {}
        accesses = self.tables["accesses"]
        for line, name in accesses.select("line", "object").sort("line", "object").iter_rows():
            by_line.setdefault(line, {})[name] = None
        return {line: list(names) for line, names in by_line.items()}

    @cached_property
    def operations(self) -> list[MarkedOperation]:
        """Returns the operations that ended within the window, according to the markers."""
        return operations.marked_operations(self.tables["harts"])


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
    selected = tables.in_window(recorded.tables, window.start, window.until, lines)
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
    while run.step(MAX_STEP_EVENTS, MAX_STEP_PS, MAX_STEP_HOST_S):
        watched(run.operations, run.now, run.touched)
    fields = Fields.of(job.program, run.read, job.threads[0])
    named_tables = tables.named_tables(job, run, fields)
    return Trace(job, Window(), outcome.point(job, run), named_tables, fields)


def _scout(job: Job, engine_options: EngineOptions) -> Trace:
    """Runs the job once without recording any line; the result has the events of harts and the
    names of objects.
    """
    no_line = (spec.NO_LIMIT,)
    return _run_traced(job, spec.Trace(True, 0, spec.NO_LIMIT, no_line), engine_options)


def _resolve_around(job: Job, window: Window, engine_options: EngineOptions) -> Window:
    """Returns the window with the times that `around` selects, which a first run determines."""
    if window.around not in (AROUND_SLOWEST, MEASURED):
        raise UserError(f"--around {window.around}: expected {AROUND_SLOWEST} or {MEASURED}")
    scouted = _scout(job, engine_options)
    candidates = [
        operation
        for operation in scouted.operations
        if window.start <= operation.end <= window.until
    ]
    if window.around == MEASURED:
        first_begin = operations.first_begin(scouted.tables["harts"])
        start = max(window.start, first_begin)
        until = min(window.until, start + window.span) if window.span else window.until
        return replace(window, start=start, until=until, around="")
    if not candidates:
        raise UserError(f"--around {AROUND_SLOWEST}: the workload marks no operations there")
    longest = max(candidates, key=lambda operation: (operation.mean_ps, -operation.begin))
    margin = longest.mean_ps // MARGIN_DIVISOR
    start, until = max(0, longest.begin - margin), longest.end + margin
    return replace(window, start=start, until=until, around="")


def _addresses(job: Job, window: Window, engine_options: EngineOptions) -> tuple[int, ...]:
    """Returns an address on each line of the window; () for all lines."""
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

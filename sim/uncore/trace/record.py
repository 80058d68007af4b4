"""One run, traced: what the probe `trace` of the native engine saw, in tables.

    record(job, Window(start, until, lines=("lock",), harts=(3,)))    a job of one point
    record(job, Window(around="slowest"))               the operation that took longest

A table is a polars frame, in the order of time; its columns are in docs/trace.md.  What a window
needs to know of the run before, where the slowest operation and the objects with names are, a first
run tells: runs repeat.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from uncore.engine import NO_OPTIONS, EngineOptions, native, outcome
from uncore.engine.limits import Limits, watch
from uncore.engine.native import LOOK_S, SLICE, SPAN, spec
from uncore.engine.options import take
from uncore.errors import UserError
from uncore.program.fields import Fields
from uncore.trace import named_tables as tables
from uncore.trace import operations
from uncore.trace.operations import MarkedOperation

if TYPE_CHECKING:
    from polars import DataFrame

    from uncore.job import Job

SLOWEST, MEASURED = "slowest", "measured"
MAX_NAMES_PER_LINE = 3
MARGIN_DIVISOR = 10  # a view shows the operation and 1/MARGIN_DIVISOR of its time on either side


@dataclass(frozen=True)
class Window:
    """The part of a run to record; without any argument, everything."""

    start: int = 0  # ps
    until: int = spec.NO_LIMIT
    span: int = 0  # ps from its beginning, where that is found; 0: to the end
    lines: tuple[str, ...] = ()  # names of objects, or addresses
    harts: tuple[int, ...] = ()
    around: str = ""  # SLOWEST: the operation that took longest; MEASURED: since one began


@dataclass(frozen=True)
class Trace:
    """`tables` by name: messages, states, held, holds, turns, accesses, harts, transactions."""

    job: Job
    window: Window
    point: Mapping[str, Any]  # fields of a result.Point
    tables: Mapping[str, DataFrame]
    fields: Fields

    @cached_property
    def lines(self) -> list[int]:
        """Lines in falling order of their messages."""
        counts = self.tables["messages"].filter(self.tables["messages"]["line"] > 0)
        by_count = counts.group_by("line").len().sort(["len", "line"], descending=[True, False])
        return [line for line, _ in by_count.iter_rows()]

    def name(self, line: int) -> str:
        """The name of a line: what was used of it, else what is at its beginning."""
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
        """Operations that ended within the window, as the program marks them."""
        return operations.of(self.tables["harts"])


def record(job: Job, window: Window, engine_options: EngineOptions = NO_OPTIONS) -> Trace:
    _refuse(job)
    if window.around:
        window = _around(job, window, engine_options)
    addresses = _addresses(job, window, engine_options)
    seen = _seen(job, spec.Trace(True, window.start, window.until, addresses), engine_options)
    machine = job.machine
    lines = {address - address % machine.line for address in addresses}
    selected = tables.within(seen.tables, window.start, window.until, lines)
    cores = {machine.core_of(job.harts[hart]) for hart in window.harts}
    return replace(seen, window=window, tables=tables.of_harts(selected, window.harts, cores))


def _refuse(job: Job) -> None:
    if job.engine != "native" or len(list(job.points())) > 1:
        raise UserError(
            "one run of engine native is traced: write one thread count, and --seed for another"
        )


def _seen(job: Job, window: spec.Trace, engine_options: EngineOptions) -> Trace:
    run = native.start(job, frozenset({"trace"}), trace=window)
    watched = watch(
        take(Limits, engine_options), job.program.name, lambda operations, reached: None
    )
    while run.step(SLICE, SPAN, LOOK_S):
        watched(run.operations, run.now, run.touched)
    fields = Fields.of(job.program, run.read, job.threads[0])
    named = tables.named(job, run, fields)
    return Trace(job, Window(), outcome.point(job, run), named, fields)


def _scout(job: Job, engine_options: EngineOptions) -> Trace:
    """The run without its lines: what harts did, and the names of objects at the end."""
    nowhere = (spec.NO_LIMIT,)
    return _seen(job, spec.Trace(True, 0, spec.NO_LIMIT, nowhere), engine_options)


def _around(job: Job, window: Window, engine_options: EngineOptions) -> Window:
    """The window's times, where something in the run decides them."""
    if window.around not in (SLOWEST, MEASURED):
        raise UserError(f"--around {window.around}: expected {SLOWEST} or {MEASURED}")
    seen = _scout(job, engine_options)
    within = [
        operation for operation in seen.operations if window.start <= operation.end <= window.until
    ]
    if window.around == MEASURED:
        begun = operations.begin(seen.tables["harts"])
        start = max(window.start, begun)
        until = min(window.until, start + window.span) if window.span else window.until
        return replace(window, start=start, until=until, around="")
    if not within:
        raise UserError(f"--around {SLOWEST}: the workload marks no operations there")
    longest = max(within, key=lambda operation: (operation.took, -operation.begin))
    margin = longest.took // MARGIN_DIVISOR
    start, until = max(0, longest.begin - margin), longest.end + margin
    return replace(window, start=start, until=until, around="")


def _addresses(job: Job, window: Window, engine_options: EngineOptions) -> tuple[int, ...]:
    """One on each line that is wanted."""
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

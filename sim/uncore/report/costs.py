"""`uncore lines --by address`: the costliest lines, the cores between which they moved, and the
source lines that accessed them.

`show(result, observed, top)` prints the tables.  The rows of `--json` are `sharing.LineCost`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from uncore.drawing import formats as units
from uncore.drawing.table import Column, emit, say
from uncore.result import Observed, Result
from uncore.result.observed import Use
from uncore.result.sharing import FieldGroup, LineCost, costs

MAX_CORE_PAIRS = 3
MAX_INSTRUCTIONS_LISTED = 6  # instructions listed for each line


def show(result: Result, observed: Observed, top: int) -> None:
    """Prints a table of lines, then for each line a table of the instructions that missed."""
    machine, program = result.job["machine"]["id"], result.job["program"]["name"]
    listed = [cost for cost in costs(observed) if cost.waited_ps][:top]
    seed = f", seed {observed.seed}" if isinstance(observed.seed, int) else ""
    waiting = observed.waited_ps * 10**6 // max(observed.hart_ps, 1)
    emit(
        [_row(cost) for cost in listed],
        False,
        LINE_COLUMNS,
        f"{program} on {machine}, {observed.threads} threads{seed}: {units.percent(waiting)} of the"
        f" harts' time waited for memory, {len(listed)} of"
        f" {len(observed.lines) + observed.others.lines} lines",
    )
    for cost in listed:
        _explain(cost)


def _row(cost: LineCost) -> dict[str, object]:
    core_pairs = [f"{a}>{b} {units.count(n)}" for a, b, n in cost.taken[:MAX_CORE_PAIRS]]
    sources = [f"{source} {units.count(n)}" for source, n in cost.transfers.items()]
    return {
        "line": f"{cost.line:#x}",
        "holds": ", ".join(_first_names(cost.holds)),
        "waited": cost.waited_ps,
        "share": cost.waited_ppm,
        "needless": cost.needless_ps,
        "reads": cost.reads,
        "writes": cost.writes,
        "moved": "  ".join(sources),
        "taken": "  ".join(core_pairs),
        "invalidations": cost.invalidations,
    }


def _explain(cost: LineCost) -> None:
    rows = [_use(use) for use in cost.uses if use.misses or use.waited_ps][:MAX_INSTRUCTIONS_LISTED]
    emit(rows, False, INSTRUCTION_COLUMNS, f"{cost.line:#x}  {', '.join(_first_names(cost.holds))}")
    if cost.apart:
        say(_advice(cost) + "\n")


def _use(use: Use) -> dict[str, object]:
    touched = sorted({*use.read, *use.written})
    return {
        "source": units.from_here(use.source) or f"{use.pc:#x}",
        "function": use.function,
        "bytes": " ".join(f"{start}-{start + size - 1}" for start, size in touched),
        "harts": numbers(use.harts),
        "reads": use.reads,
        "writes": use.writes,
        "misses": use.misses,
        "needless": use.needless,
        "failed_scs": use.failed_scs,
        "waited": use.waited_ps,
    }


def _advice(cost: LineCost) -> str:
    groups = "; ".join(_group(group) for group in cost.apart)
    return (
        f"shared without need: {groups}. On lines of their own about"
        f" {units.duration(cost.needless_ps)} of {units.duration(cost.waited_ps)} would go:"
        f" {cost.needless} of {cost.misses} misses brought nothing another core had made."
    )


def _group(group: FieldGroup) -> str:
    accesses = [
        f"{verb} by {'hart' if len(harts) == 1 else 'harts'} {numbers(harts)}"
        for verb, harts in (("written", group.writers), ("read", group.readers))
        if harts
    ]
    return f"{', '.join(_first_names(group.fields))} ({', '.join(accesses)})"


def _first_names(names: Sequence[str]) -> list[str]:
    return [*names[:4], *(["..."] if len(names) > 4 else [])]


def numbers(harts: Iterable[int]) -> str:
    """Formats hart numbers as ranges: `0-3,8`."""
    runs = [list(run) for _, run in groupby(enumerate(sorted(harts)), lambda p: p[1] - p[0])]
    bounds = [(run[0][1], run[-1][1]) for run in runs]
    return ",".join(f"{a}-{b}" if b > a else f"{a}" for a, b in bounds)


LINE_COLUMNS = [
    Column("line", "line", left=True, about="address of a cache line, with --by address"),
    Column("holds", "holds", left=True, about="variables and fields on the line"),
    Column(
        "waited",
        "waited",
        units.duration,
        about="time that all harts together waited for the line, in the whole run",
    ),
    Column(
        "of run", "share", lambda ppm: f"{ppm / 10_000:.1f} %", about="share of all harts' time"
    ),
    Column("needless", "needless", units.duration, about="part of the waiting in needless misses"),
    Column("reads", "reads", units.count),
    Column("writes", "writes", units.count),
    Column("fetched from", "moved", left=True, about="sources of copies, with their numbers"),
    Column(
        "core took from core",
        "taken",
        left=True,
        about="core pairs between which the line moved most often",
    ),
    Column("invalidations", "invalidations", units.count, about="copies that were invalidated"),
]
INSTRUCTION_COLUMNS = [
    Column("source", "source", left=True, about="file and line of an instruction that missed"),
    Column("function", "function", left=True, about="function of the instruction"),
    Column("bytes", "bytes", left=True, about="bytes of the line that the instruction touched"),
    Column("harts", "harts", left=True, about="harts that executed the instruction"),
    Column("reads", "reads", units.count),
    Column("writes", "writes", units.count),
    Column("misses", "misses", units.count),
    Column("needless", "needless", units.count),
    Column("failed SCs", "failed_scs", units.count, minor=True),
    Column("waited", "waited", units.duration),
]
COLUMNS = [*LINE_COLUMNS, *INSTRUCTION_COLUMNS]

"""Compares loads of a line that another core holds, by the home of the line, with Intel's MLC.

    run(request) -> Section
    simulated(machine, case) -> ns per load

A reader loads lines, one at a time.  Before that, a core in the reader's or the other socket has
read or written them, or no core holds them; their home is one of the two sockets.  The times show
where the owner of a line is recorded.  If the directory is in memory, the home must read it before
it can ask an owner in another socket.  So a line whose home is in the reader's socket arrives later
than a line whose home is in the holder's.  If the home snoops, or keeps its tags on chip, both take
equally long.

The figures are the `[directory]` tables of figures/machines.
"""

from __future__ import annotations

import statistics
from typing import NamedTuple

import msgspec

from uncore import topology
from uncore.drawing.table import Column
from uncore.engine import Observers, native
from uncore.execution.request import make_job
from uncore.topology.machine import Machine
from uncore_lab.figures import hardware as figures
from uncore_lab.results.table import Table
from uncore_lab.validate.bar import Bar, Value
from uncore_lab.validate.section import Request, Section

WORKLOAD = "latency/chase"
NO_OBSERVERS: Observers = frozenset()
LOAD_MEDIAN_BAR = Bar("median error", 12, 12, "%")
LOAD_WORST_BAR = Bar("worst error", 30, 30, "%")
MIN_HOME_DIFFERENCE_NS = 20.0  # homes whose times differ by less count as equal

PROSE = (
    "Dependent loads, one line after the other, as Intel's Memory Latency Checker does. `clean`"
    " and `dirty`: what a core of the same socket (`here`) or of the other did with the line; `with"
    " holder`, `with reader`: the socket of the line's home; `memory`: nobody holds it. The time to"
    " look up an owner (`lookup`) and memory's are from `memory_here`; no other number was fitted"
    " to these figures. Meshes have their ways from loads within a socket, and what a handoff takes"
    " beyond them is how long a core keeps a line that it has won (`hold`); so both are met. Rings"
    " were given half of that, for the sake of contended counts. Between sockets the ways are from"
    " these loads, too (20 ns a link, for all); what a handoff takes beyond them is the turn at the"
    " home (`turn`), for there the next request waits already."
)


class Case(NamedTuple):
    """One measured case: the state of the holder's copy, True if the holder is in the reader's
    socket, and the node of the home.
    """

    state: str
    near: bool
    node: int  # node of the line's home; the reader is in socket 0


CASES = {
    "clean_here": Case("clean", True, 0),
    "dirty_here": Case("dirty", True, 0),
    "dirty_with_holder": Case("dirty", False, 1),
    "dirty_with_reader": Case("dirty", False, 0),
    "memory_here": Case("none", True, 0),
    "memory_away": Case("none", True, 1),
}


class DirectoryFigures(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A `[directory]` table of a machine, in ns per load; None for a case that was not measured."""

    source: str
    quality: str  # quality of the measurement: A (best), A-, B or C
    clean_here: float | None = None
    dirty_here: float | None = None
    dirty_with_holder: float | None = None
    dirty_with_reader: float | None = None
    memory_here: float | None = None
    memory_away: float | None = None

    def known(self) -> dict[str, float]:
        return {name: ns for name in CASES if (ns := getattr(self, name)) is not None}


class DirectoryRow(msgspec.Struct, frozen=True):
    machine: str
    case: str
    measured_ns: float
    simulated_ns: float
    err_pct: float


def run(request: Request) -> Section:
    names = request.chosen(
        figures.machines_with_figures("directory"), "no directory was measured on"
    )
    rows = [row for name in names for row in rows_of(name)]
    return Section(
        name="directory",
        title="Reading a line that another core holds, by the place of its home",
        prose=PROSE,
        columns=[
            Column(f, f, left=f in ("machine", "case")) for f in DirectoryRow.__struct_fields__
        ],
        rows=[msgspec.to_builtins(row) for row in rows],
        bars=values(rows),
        broken=[sentence for name in names for sentence in homes_broken(name, rows)],
        notes=[
            f"{name}: {figures.part(name, 'directory', DirectoryFigures).source}" for name in names
        ],
        tables=[table(rows)],
    )


def table(rows: list[DirectoryRow]) -> Table:
    return Table("directory", ("machine", "case"), [msgspec.to_builtins(row) for row in rows])


def values(rows: list[DirectoryRow]) -> list[Value]:
    """Returns two bars with their values: the median and the largest error."""
    errors_pct = [abs(row.err_pct) for row in rows]
    return [(LOAD_MEDIAN_BAR, statistics.median(errors_pct)), (LOAD_WORST_BAR, max(errors_pct))]


def rows_of(name: str) -> list[DirectoryRow]:
    machine, rows = topology.load(name), []
    for case, measured in figures.part(name, "directory", DirectoryFigures).known().items():
        ns = simulated(machine, CASES[case])
        error_pct = round(100 * (ns / measured - 1), 1)
        rows.append(DirectoryRow(name, case, measured, round(ns, 1), error_pct))
    return rows


def simulated(machine: Machine, case: Case) -> float:
    """Simulates a case and returns the ns per load. The reader is the middle core of socket 0, away
    from the ends of a ring or mesh.
    """
    cores = sum(core[1] == 0 for core in machine.shape)
    reader = cores // 2
    holder = cores - 1 if case.near else cores + reader
    job = make_job(
        machine,
        WORKLOAD,
        (2,),
        parameters={"state": case.state},
        placement=",".join(str(machine.harts_of(core)[0]) for core in (reader, holder)),
        home=f"node{case.node}",
    )
    point = native.run(job, NO_OBSERVERS)
    return float(point["tables"]["load"][0][1]) / 1000


def homes_broken(name: str, rows: list[DirectoryRow]) -> list[str]:
    """Returns sentences on a machine whose two homes differ in the simulation but not in the
    measurement, or the reverse.
    """
    row_of = {row.case: row for row in rows if row.machine == name}
    reader, holder = row_of["dirty_with_reader"], row_of["dirty_with_holder"]
    measured = reader.measured_ns - holder.measured_ns
    simulated_difference_ns = reader.simulated_ns - holder.simulated_ns
    if (measured > MIN_HOME_DIFFERENCE_NS) == (simulated_difference_ns > MIN_HOME_DIFFERENCE_NS):
        return []
    return [
        f"{name}: a line homed with its reader comes {simulated_difference_ns:.0f} ns later,"
        f" measured {measured:.0f} ns"
    ]

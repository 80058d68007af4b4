"""Input and output of every experiment of `uncore validate`.

    run(request: Request) -> Section         the function of each module in `EXPERIMENTS` (__init__)

An experiment prints nothing.  `uncore validate` prints its Section as a table or as JSON, saves the
Section's `tables` in validation/results, and exits with status 1 if the Section has `broken` laws
or a bar does not hold.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from uncore import topology
from uncore.drawing.plot import Panel
from uncore.drawing.table import Column, Row
from uncore.errors import UserError, suggestion
from uncore_lab.figures.hardware import numbered
from uncore_lab.results.table import Table
from uncore_lab.validate.bar import Value, exceeded

TRACE_ALONE = "--trace: is laid beside one machine; leave the other options out"


class NoFigures(UserError):
    """Raised if the user names a machine of which the experiment has no figures."""


@dataclass(frozen=True)
class Request:
    """Arguments that the user gives to all experiments."""

    # machines to compare; if empty, all machines for which the experiment has figures
    machines: tuple[str, ...] = ()
    matrices: Path | None = None  # a directory of measured matrices, MACHINE.csv
    matrix: Path | None = None  # a single matrix, of the one machine in `machines`
    home: str = ""  # home of the line of `matrix`, if the user knows it
    trace: Path | None = None  # a trace of interrupts, of the one machine in `machines`
    cores: int = 1  # number of cores of the host to use
    pictures: bool = False  # draw pictures, because a report is being written
    every: bool = False  # simulate every measured point instead of a selection

    def chosen(self, known: Collection[str], lacking: str, instead: str = "") -> list[str]:
        """Returns the named machines, or all known ones if none is named. Raises NoFigures for an
        unknown name. `lacking` is the beginning of its message; `instead` is the end, which says
        what else the user can do.
        """
        for name in self.machines:
            if name not in known:
                raise NoFigures(
                    f"{lacking} '{name}'.{suggestion(name, known)} Expected one of"
                    f" {', '.join(known)}{instead}"
                )
        return list(self.machines or known)

    def of_matrix(self) -> list[str]:
        """Returns the machine on which the user's matrix was measured, as a list of one. Raises
        UserError unless exactly one machine is named.
        """
        return [self._machine_of(f"--matrix {self.matrix}")]

    def of_trace(self) -> tuple[Path, str]:
        """Returns the user's trace and the machine on which it was recorded."""
        assert self.trace
        if self.matrices or self.matrix or self.home:
            raise UserError(TRACE_ALONE)
        return self.trace, self._machine_of(f"--trace {self.trace}")

    def _machine_of(self, option: str) -> str:
        if len(self.machines) != 1:
            raise UserError(f"{option}: name the one machine it was measured on")
        return self.machines[0]

    @property
    def order(self) -> list[str]:
        """A note on the order of CPUs in the user's matrix, if the machine file has another one."""
        word = self.matrix and numbered(self.matrix, topology.load(self.machines[0]))
        return [word] if word else []


@dataclass(frozen=True)
class ReportPicture:
    """A figure of a report, with its caption."""

    name: str  # file name without its suffix
    caption: str
    panels: Sequence[Panel]


@dataclass(frozen=True)
class Section:
    """The result of one experiment."""

    name: str
    title: str
    prose: str  # a paragraph on what was simulated, and on how to read the table
    columns: Sequence[Column]
    rows: Sequence[Row]
    bars: Sequence[Value] = ()
    broken: Sequence[str] = ()  # sentences about other laws that do not hold
    notes: Sequence[str] = ()  # notes below the table, one on each line
    pictures: Sequence[ReportPicture] = ()
    tables: Sequence[Table] = ()  # tables to save in validation/results

    @property
    def exceeded(self) -> list[str]:
        """Sentences about every bar or law that does not hold."""
        return [*self.broken, *exceeded(self.bars)]

    @property
    def lines(self) -> list[str]:
        """The lines printed below the table."""
        return [*(bar.text(value) for bar, value in self.bars), *self.notes]


Experiment = Callable[[Request], Section]

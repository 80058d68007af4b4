"""Input and output of every experiment of `uncore validate`.

    run(request: Request) -> Section         one such function a module (`EXPERIMENTS` in __init__)

A Section is all there is to show: the frame prints it as a table or as JSON, saves its `tables` in
validation/results, and ends with status 1 where something is `broken` or a bar does not hold.  An
experiment prints nothing itself.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from uncore import topology
from uncore.drawing.plot import Panel
from uncore.drawing.table import Column, Row
from uncore.errors import UserError, nearest
from uncore_lab.figures.hardware import numbered
from uncore_lab.results.table import Table
from uncore_lab.validate.bar import Value, past

TRACE_ALONE = "--trace: is laid beside one machine; leave the other options out"


class Lacking(UserError):
    """Raised when the experiment has no figures of a machine that was named."""


@dataclass(frozen=True)
class Request:
    """Arguments that the user gives to all experiments."""

    # machines to take; empty: all that the experiment has figures of
    machines: tuple[str, ...] = ()
    matrices: Path | None = None  # a directory of measured matrices, MACHINE.csv
    matrix: Path | None = None  # a single matrix, of the one machine named
    home: str = ""  # home of that matrix's line, if the user knows
    trace: Path | None = None  # a trace of interrupts, of the one machine named
    cores: int = 1  # cores of the host to use
    pictures: bool = False  # draw pictures, because a report is being written
    every: bool = False  # simulate every measured point, where some would do

    def chosen(self, carried: Collection[str], lacking: str, instead: str = "") -> list[str]:
        """The machines named, or all that the experiment knows; `lacking` is what a name that is
        none of them has to be told, `instead` what else its user could do."""
        for name in self.machines:
            if name not in carried:
                raise Lacking(
                    f"{lacking} '{name}'.{nearest(name, carried)} Expected one of"
                    f" {', '.join(carried)}{instead}"
                )
        return list(self.machines or carried)

    def of_matrix(self) -> list[str]:
        """The one machine that the user's matrix was measured on."""
        return [self._machine_of(f"--matrix {self.matrix}")]

    def of_trace(self) -> tuple[Path, str]:
        """The user's trace, and the one machine that it was recorded on."""
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
        """A word on how the user's matrix is numbered, if otherwise than its machine's file."""
        word = self.matrix and numbered(self.matrix, topology.load(self.machines[0]))
        return [word] if word else []


@dataclass(frozen=True)
class ReportPicture:
    """A figure of a report, with its caption."""

    name: str  # name of the file, without an ending
    caption: str
    panels: Sequence[Panel]


@dataclass(frozen=True)
class Section:
    """One experiment's answer."""

    name: str
    title: str
    prose: str  # a paragraph: what was simulated, and how to read the table
    columns: Sequence[Column]
    rows: Sequence[Row]
    bars: Sequence[Value] = ()
    broken: Sequence[str] = ()  # sentences on anything else that does not hold
    notes: Sequence[str] = ()  # notes beneath the table, a line each
    pictures: Sequence[ReportPicture] = ()
    tables: Sequence[Table] = ()  # files of validation/results

    @property
    def past(self) -> list[str]:
        """Returns sentences on all that does not hold."""
        return [*self.broken, *past(self.bars)]

    @property
    def lines(self) -> list[str]:
        """Returns the lines beneath the table."""
        return [*(bar.text(value) for bar, value in self.bars), *self.notes]


Experiment = Callable[[Request], Section]

"""Core to core: what handing a line over costs, simulated against measured.

    run(request) -> Section
    one(name, matrices) -> Score            one machine

Without matrices the pairs are compared with the figures the project carries (class medians, and
each core's part inside an L3 where known): good for the classes, too kind to the pairs.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import msgspec

from uncore import topology
from uncore.errors import UserError, nearest
from uncore.report.progress import progress
from uncore.report.table import Column
from uncore.topology.machine import Machine
from uncore.validate import hardware as figures
from uncore.validate.hardware import Hardware, Matrix
from uncore.validate.score import Score, broken, score
from uncore.validate.section import Request, Section
from uncore.validate.simulate import handoffs

CARRIED, MATRIX = "carried figures", "matrix"
PROSE = (
    "Two threads hand one line over with compare-and-swap; the figure is half a round trip. Errors"
    " are relative to the measured figure; a class is the pairs of one distance, by their median."
    " `pair_err_const_pct` is what predicting each pair by its measured class median would get."
)


@dataclass(frozen=True)
class Compared:
    """One machine, simulated and compared."""

    machine: Machine
    hardware: Hardware
    measured: Matrix
    simulated: Matrix
    score: Score


def run(request: Request) -> Section:
    names = _chosen(request)
    found = []
    with progress(len(names), "validating", "machines") as advance:
        for name in names:
            found.append(_asked(name, request))
            advance(1)
    scores = [one.score for one in found]
    return Section(
        name="handoff",
        title=f"Handing a line over: simulated against measured; pairs from:"
        f" {MATRIX if request.matrices or request.matrix else CARRIED}",
        prose=PROSE,
        columns=COLUMNS,
        rows=[msgspec.to_builtins(row) for row in scores],
        broken=[
            f"{one.score.machine}: {what}"
            for one in found
            for what in broken(one.score, one.hardware)
        ],
        notes=[_order(row) for row in scores if row.order],
    )


def one(name: str, matrices: Path | None = None) -> Score:
    return _asked(name, Request(matrices=matrices)).score


def _asked(name: str, request: Request) -> Compared:
    machine = topology.load(name)
    if name in figures.carried() and not (request.matrix and request.home):
        hardware = figures.read(name)
    else:
        hardware = figures.by_level(machine, request.home)
    path = request.matrix or (request.matrices and request.matrices / f"{name}.csv")
    return compare(machine, hardware, path)


def compare(machine: Machine, hardware: Hardware, matrix: Path | None) -> Compared:
    if matrix:
        measured = figures.measured_matrix(matrix, machine)
    else:
        measured = figures.carried_matrix(hardware, machine)
    simulated = handoffs(machine, hardware)
    source = MATRIX if matrix else CARRIED
    scored = score(machine, hardware, measured, simulated, source)
    return Compared(machine, hardware, measured, simulated, scored)


def _chosen(request: Request) -> list[str]:
    known = figures.carried()
    if request.matrix:
        if len(request.machines) != 1:
            raise UserError(f"--matrix {request.matrix}: name the one machine it was measured on")
        return list(request.machines)
    if request.home:
        raise UserError(f"--home {request.home}: belongs to a matrix of yours; write --matrix FILE")
    for name in request.machines:
        if name not in known:
            raise UserError(
                f"nothing was measured on '{name}'.{nearest(name, known)} Expected one of"
                f" {', '.join(known)}; or give your own matrix with --matrix FILE"
            )
    folder = request.matrices
    if not folder:
        return list(request.machines) or known
    if not folder.is_dir():
        raise UserError(f"--matrices {folder}: expected a directory of CSV files, one a machine")
    with_matrix = [name for name in known if (folder / f"{name}.csv").is_file()]
    if not with_matrix:
        raise UserError(f"--matrices {folder}: no file NAME.csv of {', '.join(known)} is there")
    return list(request.machines) or with_matrix


def _order(row: Score) -> str:
    return f"{row.machine}: cores assigned to the stops of an L3: {' '.join(map(str, row.order))}"


LEFT = ("machine", "quality", "home", "slice")
HIDDEN = ("order", "medians", "pairs_from")
COLUMNS = [
    Column(field, field, left=field in LEFT)
    for field in Score.__struct_fields__
    if field not in HIDDEN
]

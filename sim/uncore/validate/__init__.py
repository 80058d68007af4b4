"""Simulated against measured: what `uncore validate` prints, and whether the bounds hold.

    main(machines, matrices, json) -> exit status: 0, or 1 past a bound

Without `matrices` the pairs are compared with the figures the project carries (class medians, and
each core's part inside an L3 where known): good for the classes, too kind to the pairs.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec

from uncore import topology
from uncore.errors import UserError, nearest
from uncore.report.progress import progress
from uncore.report.table import Column, emit
from uncore.validate import hardware as figures
from uncore.validate.score import Score, broken, score
from uncore.validate.simulate import handoffs

CARRIED, MATRIX = "carried figures", "matrix"


def main(machines: Sequence[str], *, matrices: Path | None = None, json: bool = False) -> int:
    names = _chosen(machines, matrices)
    scores, past = [], []
    with progress(len(names), "validating") as advance:
        for name in names:
            scores.append(one(name, matrices))
            past += [f"{name}: {what}" for what in broken(scores[-1], figures.read(name))]
            advance(1)
    _show(scores, json)
    for line in past:
        print(f"uncore: past its bound: {line}", file=sys.stderr)
    return 1 if past else 0


def one(name: str, matrices: Path | None = None) -> Score:
    """One machine, simulated and compared."""
    machine, hardware = topology.load(name), figures.read(name)
    if matrices:
        measured = figures.measured_matrix(matrices / f"{name}.csv", machine)
    else:
        measured = figures.carried_matrix(hardware, machine)
    simulated = handoffs(machine, hardware)
    return score(machine, hardware, measured, simulated, MATRIX if matrices else CARRIED)


def _chosen(machines: Sequence[str], matrices: Path | None) -> list[str]:
    known = figures.carried()
    for name in machines:
        if name not in known:
            raise UserError(
                f"nothing was measured on '{name}'.{nearest(name, known)} Expected one of"
                f" {', '.join(known)}"
            )
    if matrices and not matrices.is_dir():
        raise UserError(f"--matrices {matrices}: expected a directory of CSV files, one a machine")
    with_matrix = [n for n in known if not matrices or (matrices / f"{n}.csv").is_file()]
    if not with_matrix:
        raise UserError(f"--matrices {matrices}: no file NAME.csv of {', '.join(known)} is there")
    return list(machines) or with_matrix


def _show(scores: list[Score], json: bool) -> None:
    rows = [msgspec.to_builtins(row) for row in scores]
    fields = [f for f in Score.__struct_fields__ if f not in ("order", "medians", "pairs_from")]
    left = ("machine", "quality", "home", "slice")
    columns = [Column(field, field, left=field in left) for field in fields]
    source = scores[0].pairs_from if scores else CARRIED
    emit(rows, json, columns, f"simulated against measured; pairs from: {source}")
    if json:
        return
    for one_score in scores:
        if one_score.order:
            cores = " ".join(map(str, one_score.order))
            print(f"{one_score.machine}: cores assigned to the stops of an L3: {cores}")

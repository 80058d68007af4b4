"""Compares core-to-core handoffs, the times to pass a line from one core to another, with measured
ones.

    run(request) -> Section
    compared(name, request) -> ComparedMachine  one machine

Without measured matrices the pairs are compared with figures that come with uncore: class medians
and, inside an L3 if they are known, sums of one number for each core (figures/additive_parts.py).
These figures suffice for the classes, but lack the other differences between pairs, so the errors
of the pairs come out too small.  Therefore pairs.csv is written only if every machine has a
complete matrix.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from uncore import topology
from uncore.drawing import plot
from uncore.drawing.progress import progress
from uncore.drawing.table import Column, Row
from uncore.errors import UserError
from uncore.execution.pool import mapped
from uncore.topology.distance import boundaries
from uncore.topology.machine import Machine
from uncore_lab.figures import hardware as figures
from uncore_lab.figures.hardware import BOUND_QUALITIES, Hardware, Matrix
from uncore_lab.figures.simulate import MATRIX_ROUNDS, by_seed
from uncore_lab.predict.nulls import Nulls
from uncore_lab.predict.nulls import errors as null_errors
from uncore_lab.results.table import Table
from uncore_lab.validate.bar import Bar, Value
from uncore_lab.validate.score import (
    CLASS_MEAN,
    CLASS_WORST,
    MATRIX,
    SHIPPED_FIGURES,
    HandoffScore,
    broken,
    no_better,
    score,
)
from uncore_lab.validate.section import ReportPicture, Request, Section

CLASS_MEAN_BAR = Bar("class medians: mean error of the worst machine", CLASS_MEAN, CLASS_MEAN, "%")
CLASS_WORST_BAR = Bar("class medians: worst error", CLASS_WORST, CLASS_WORST, "%")

PROSE = (
    "Two threads hand one line over with compare-and-swap; the figure is half a round trip. Errors"
    " are in per cent of the measured figure. `mean`, `worst`: errors of classes (the pairs of one"
    " distance), by their medians; `seeds`: how far seeds are apart; `free`: how many numbers were"
    " fitted on this machine. `pairs`:"
    " mean over pairs; `by median`: the error of guessing each pair by its level's measured median."
    " `structured`: levels whose pairs differ in a way that repeats itself: a reading is guessed"
    " better (by a tenth of the error or more) from the other readings of the same cores than from"
    " the level's median; no model of places can show what does not repeat. The two columns beside"
    " it are of those pairs alone. The last three are class errors of guesses without a model: the"
    " same class of the same maker's other machines in ns, in cycles, and that of the nearest"
    " relative."
)


@dataclass(frozen=True)
class ComparedMachine:
    """One machine, simulated and compared."""

    machine: Machine
    hardware: Hardware
    measured: Matrix
    simulated_by_seed: Sequence[Matrix]  # one matrix for each seed
    score: HandoffScore

    @property
    def simulated(self) -> Matrix:
        mean: Matrix = np.mean(self.simulated_by_seed, axis=0)
        return mean

    @property
    def nulls(self) -> Nulls | None:
        """The errors of the baselines without a model; None for a user's own matrix, because the
        machine's relatives are not known.
        """
        return None if self.hardware.quality == figures.OWN_MATRIX else null_errors(self.machine.id)

    @property
    def row(self) -> dict[str, Any]:
        row: dict[str, Any] = msgspec.to_builtins(self.score)
        widest = max(row["apart_ns"] / row["simulated_ns"] for row in self.classes)
        return row | {"seeds_pct": round(50 * widest, 2)} | self.guesses

    @property
    def guesses(self) -> dict[str, float | None]:
        nulls = self.nulls._asdict() if self.nulls else {}
        return {f"{name}_err_pct": error for name, error in nulls.items()}

    @property
    def classes(self) -> list[Row]:
        """Returns the rows of handoffs.csv. They compare all pairs, including pairs that are
        missing in a matrix.
        """
        medians, seeds = (
            self._medians(self.simulated),
            [self._medians(ns) for ns in self.simulated_by_seed],
        )
        return [
            {
                "machine": self.machine.id,
                "class": label,
                "measured_ns": figure.ns,
                "simulated_ns": medians[label],
                "error_pct": round(100 * (medians[label] / figure.ns - 1), 2),
                "apart_ns": round(float(np.ptp([median[label] for median in seeds])), 3),
            }
            for label, figure in self.hardware.classes.items()
        ]

    def _medians(self, ns: Matrix) -> dict[str, float]:
        masks = self.hardware.masks(self.machine)
        return {label: float(np.median(ns[mask])) for label, mask in masks.items()}

    @property
    def pairs(self) -> Row:
        """Returns the row of pairs.csv."""
        score: dict[str, Any] = msgspec.to_builtins(self.score)
        return {field: score[field] for field in PAIRS_FIELDS} | self.guesses

    @property
    def broken(self) -> list[str]:
        """Returns sentences on errors that exceed a bound, or that are not smaller than those of a
        null model.
        """
        messages, own_error = broken(self.score, self.hardware), self.score.class_mean_err_pct
        if self.nulls and self.score.quality in BOUND_QUALITIES:
            messages += [
                f"classes are {own_error} % off, and the null model {name} only {error} %"
                for name, error in self.nulls._asdict().items()
                if error is not None and error <= own_error
            ]
        return messages


def run(request: Request) -> Section:
    names = _chosen_machines(request)
    machines = []
    with progress(len(names), "validating", "machines") as advance:
        for machine in mapped(partial(compared, request=request), names, request.cores):
            machines.append(machine)
            advance(1)
    scores = [machine.score for machine in machines]
    return Section(
        name="handoff",
        title=f"Handing a line over: simulated against measured; pairs from:"
        f" {MATRIX if request.matrices or request.matrix else SHIPPED_FIGURES}",
        prose=PROSE,
        columns=COLUMNS,
        rows=[machine.row for machine in machines],
        bars=_bar_values(scores),
        broken=[
            f"{machine.score.machine}: {sentence}"
            for machine in machines
            for sentence in machine.broken
        ],
        notes=[
            *request.order,
            *(_order(score) for score in scores if score.order),
            *(_unmatched_note(machine) for machine in machines if machine.hardware.unmatched),
        ],
        pictures=[picture(machine) for machine in machines] if request.pictures else (),
        tables=() if request.matrix else tables(machines),
    )


def tables(machines: Sequence[ComparedMachine]) -> list[Table]:
    """Returns the tables to write to file; none for a user's own machine."""
    filed = [Table("handoffs", ("machine", "class"), [row for m in machines for row in m.classes])]
    if all(machine.score.pairs_from == MATRIX for machine in machines):
        filed.append(Table("pairs", ("machine",), [machine.pairs for machine in machines]))
    return filed


def _bar_values(scores: Sequence[HandoffScore]) -> list[Value]:
    """Returns each bar with its worst value over all machines that were measured well enough."""
    bound = [score for score in scores if score.quality in BOUND_QUALITIES]
    if not bound:
        return []
    return [
        (CLASS_MEAN_BAR, max(score.class_mean_err_pct for score in bound)),
        (CLASS_WORST_BAR, max(score.class_worst_err_pct for score in bound)),
    ]


def compared(name: str, request: Request, rounds: int = MATRIX_ROUNDS) -> ComparedMachine:
    """Compares a machine with the figures or the matrix that the request names. `rounds` is the
    number of round trips that each pair is simulated for.
    """
    machine = topology.load(name, measured=True)
    if name in figures.machines_with_figures() and not (request.matrix and request.home):
        hardware = figures.read(name)
    else:
        hardware = figures.by_level(machine, request.home)
    path = request.matrix or (request.matrices and request.matrices / f"{name}.csv")
    return compare(machine, hardware, path, rounds)


def compare(
    machine: Machine, hardware: Hardware, matrix: Path | None, rounds: int = MATRIX_ROUNDS
) -> ComparedMachine:
    if matrix:
        measured = figures.measured_matrix(matrix, machine)
    else:
        measured = figures.matrix_of_figures(hardware, machine)
    simulated = by_seed(machine, hardware, rounds=rounds)
    source = MATRIX if matrix else SHIPPED_FIGURES
    scored = score(machine, hardware, measured, np.mean(simulated, axis=0), source)
    return ComparedMachine(machine, hardware, measured, simulated, scored)


def _chosen_machines(request: Request) -> list[str]:
    if request.matrix:
        return request.of_matrix()
    if request.home:
        raise UserError(f"--home {request.home}: belongs to a matrix of yours; write --matrix FILE")
    all_names, folder = figures.machines_with_figures(), request.matrices
    instead = "; or give your own matrix with --matrix FILE"
    chosen_names = request.chosen(all_names, "nothing was measured on", instead)
    if not folder:
        return chosen_names
    if not folder.is_dir():
        raise UserError(f"--matrices {folder}: expected a directory of CSV files, one a machine")
    with_matrix = [name for name in all_names if (folder / f"{name}.csv").is_file()]
    if not with_matrix:
        raise UserError(f"--matrices {folder}: no file NAME.csv of {', '.join(all_names)} is there")
    return chosen_names if request.machines else with_matrix


def picture(compared: ComparedMachine) -> ReportPicture:
    """Draws simulated and measured matrices, and their errors, on one scale."""
    machine, measured = compared.machine, compared.measured[~np.isnan(compared.measured)]
    span = (float(measured.min()), float(np.quantile(measured, 0.995)))
    harts, lines = range(machine.harts), boundaries(machine, range(machine.harts))
    errors_pct = 100 * (compared.simulated / compared.measured - 1)
    panels = [
        plot.heat_map(_mirrored(compared.simulated), lines, "simulated", "ns", span),
        plot.heat_map(_mirrored(compared.measured), lines, "measured", "ns", span),
        plot.heat_map(
            _mirrored(errors_pct),
            lines,
            "simulated over measured",
            "%",
            (-SCALE_ENDS_PCT, SCALE_ENDS_PCT),
            signed=True,
        ),
    ]
    return ReportPicture(machine.id, f"{machine.name}, {len(harts)} harts", panels)


def _mirrored(lower: Matrix) -> list[list[float]]:
    """Returns the matrix with the lower triangle mirrored to the upper one."""
    mirrored: list[list[float]] = np.fmax(lower, lower.T).tolist()
    return mirrored


def _unmatched_note(compared: ComparedMachine) -> str:
    difference, reason = no_better(compared.score), compared.hardware.unmatched
    return (
        f"{compared.machine.id}, not matched: {f'{difference}: {reason}' if difference else reason}"
    )


def _order(score: HandoffScore) -> str:
    stops = " ".join(map(str, score.order))
    return f"{score.machine}: cores assigned to the stops of an L3: {stops}"


SCALE_ENDS_PCT = 15.0  # error at either end of the colour scale
LEFT_COLUMNS = ("machine", "quality", "structured", "home", "slice")
HEADS = {  # columns of a score: head and description; errors are relative to the measured figure
    "machine": ("machine", "name of the machine, as in `uncore list`"),
    "quality": ("quality", "quality of the measurement: A is best"),
    "classes": ("classes", "distance classes compared"),
    "free_numbers": (
        "free numbers",
        "numbers of the machine file that were fitted to this measurement",
    ),
    "class_mean_err_pct": ("class mean %", "mean error of class medians"),
    "class_worst_err_pct": ("class worst %", "error of the worst class"),
    "seeds_pct": (
        "seeds +- %",
        "half the range of the medians of single seeds, in the class where it is largest",
    ),
    "pair_mean_err_pct": ("pair mean %", "mean error of pairs"),
    "pair_err_const_pct": (
        "if median %",
        "mean error if each pair were guessed by the measured median of its class",
    ),
    "structured": ("structured", "levels whose pairs differ reproducibly"),
    "structured_err_pct": ("pairs there %", "mean error of those levels' pairs"),
    "structured_const_pct": (
        "there, if median %",
        "mean error if each of these were guessed by the measured median",
    ),
    "slice_r2": ("slice R2", "share of the variance inside an L3 that the simulation explains"),
    "home": ("home", "home of the measured line"),
    "slice": ("owner", "slice that owned the measured line; hash: unknown"),
    "same_ns_err_pct": ("same ns %", "error of a guess: relatives' handoffs in ns"),
    "same_cycles_err_pct": (
        "same cycles %",
        "error of a guess: relatives' handoffs in core cycles",
    ),
    "relative_err_pct": ("relative %", "error of a guess: the nearest relative's handoffs"),
}
PAIRS_FIELDS = (  # fields of a score that pairs.csv has
    *("machine", "quality", "free_numbers", "class_mean_err_pct", "class_worst_err_pct"),
    *("pair_mean_err_pct", "pair_err_const_pct", "structured", "structured_err_pct"),
    *("structured_const_pct", "slice_r2", "home", "slice"),
)
NULLS = ("same_ns_err_pct", "same_cycles_err_pct", "relative_err_pct")
NULLS_HEAD = "class mean % of models without a model"
COLUMNS = [
    Column(
        head,
        field,
        left=field in LEFT_COLUMNS,
        about=about,
        key=field == "machine",
        group=NULLS_HEAD if field in NULLS else "",
    )
    for field, (head, about) in HEADS.items()
]

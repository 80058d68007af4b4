"""Simulates the counterpart of a measured core-to-core matrix.

    handoffs(machine, hardware) -> ns by hart, lower triangle
    handoffs(machine, hardware, cores, rounds)    the same for some cores only; NaN elsewhere
    by_seed(machine, hardware, ...)               a matrix for each seed

One run measures all pairs of cores, with one hart of each core.  The other hart sleeps, as siblings
did on the measured machines.  A second run measures a pair of siblings.  All pairs of siblings of
one kind of cores run the same code in the same private caches, so one pair stands for all of them.

Runs have random variation, like users' runs and real machines.  In lockstep, two cores that compete
keep the same phase for the whole run, so a handoff grows in jumps of up to an atomic's time.  If it
is not known which slice owned the measured line, each seed draws one (V10), as each measurement
would.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from uncore.engine import Observers, native
from uncore.execution.request import usual_seeds
from uncore.job.forms import REPEATS
from uncore.study.matrix import repeats, rounds_per_seed, tournament
from uncore.topology.machine import Machine
from uncore_lab.figures.hardware import Hardware, Matrix

WORKLOAD = "latency/pingpong"
MATRIX_ROUNDS = 100
MATRIX_SEEDS = usual_seeds("native", REPEATS)
NO_OBSERVERS: Observers = frozenset()


def handoffs(
    machine: Machine,
    hardware: Hardware,
    cores: Sequence[int] = (),
    rounds: int = MATRIX_ROUNDS,
    seeds: Sequence[int] | None = None,
) -> Matrix:
    """Returns the mean of the matrices over the seeds, by default the usual ones. If `seeds` is
    empty, there is one run in lockstep.
    """
    ns: Matrix = np.mean(by_seed(machine, hardware, cores, rounds, seeds), axis=0)
    return ns


def by_seed(
    machine: Machine,
    hardware: Hardware,
    cores: Sequence[int] = (),
    rounds: int = MATRIX_ROUNDS,
    seeds: Sequence[int] | None = None,
) -> list[Matrix]:
    """Returns a matrix for each seed. `rounds` is the number of rounds of a pair with each seed; if
    there are more seeds than usual, they share the rounds.
    """
    if seeds is None:
        seeds = usual_seeds("native", repeats(machine, hardware.slice))
    seeds_of_run: list[tuple[int, ...]] = [(seed,) for seed in seeds] or [()]
    rounds = rounds_per_seed(rounds, len(seeds_of_run))
    return [
        _matrix_of_seeds(machine, hardware, cores, rounds, run_seeds) for run_seeds in seeds_of_run
    ]


def _matrix_of_seeds(
    machine: Machine,
    hardware: Hardware,
    cores: Sequence[int],
    rounds: int,
    seeds: tuple[int, ...],
) -> Matrix:
    players = list(cores or range(machine.cores))
    between = np.full((machine.cores, machine.cores), np.nan)
    between[np.ix_(players, players)] = _simulated_matrix(
        machine, hardware, [machine.harts_of(core)[0] for core in players], rounds, seeds
    )
    core, kind = np.array(machine.hart_cores), np.array(machine.core_kinds)
    ns: Matrix = between[np.ix_(core, core)]
    # The line has one home for all rounds, and siblings are equally fast with any home.
    with_known_home = msgspec.structs.replace(hardware, home="node0")
    for name in machine.kind_names:
        pairs = (machine.harts_of(int(c)) for c in np.flatnonzero(kind == name))
        pair = next((harts for harts in pairs if len(harts) > 1), None)
        if pair:
            siblings_of_kind = np.equal.outer(core, core) & (kind == name)[core]
            ns[siblings_of_kind] += _simulated_matrix(
                machine, with_known_home, pair[:2], MATRIX_ROUNDS, seeds
            )[0, 1]
    ns[np.triu_indices(machine.harts)] = np.nan
    return ns


def _simulated_matrix(
    machine: Machine,
    hardware: Hardware,
    harts: Sequence[int],
    rounds: int,
    seeds: tuple[int, ...],
) -> Matrix:
    job = tournament(
        machine,
        WORKLOAD,
        harts,
        parameters={"rounds": rounds},
        home=hardware.home,
        slices=hardware.slice,
        seeds=seeds,
    )
    point = native.run(job, NO_OBSERVERS)
    return np.array(point["tables"]["handoff"], dtype=float) / 1000

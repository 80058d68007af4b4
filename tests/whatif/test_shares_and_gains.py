"""Does the object with the larger share of the critical path gain more if its lines are free?"""

from __future__ import annotations

from itertools import combinations

import pytest

from uncore import program
from uncore.execution import request
from uncore.execution.rerun import observe
from uncore.program.objects import whole_object
from uncore.result import Observed, Repeats
from uncore.study import whatif as counterfactual

MACHINE, THREADS, SEEDS = "ccx:2x4", 4, (17, 18, 19)
MIN_SHARE = 0.05  # objects with a smaller share of the critical path are not compared
MIN_RATIO = 2  # the least ratio of two shares that are compared
MIN_PAIRS = 20  # pairs in all workloads, so that the test does not compare nothing
FEW = (
    "epoch/hazard",
    "latency/chase",
    "latency/queue",
    "layout/hot_structure",
    "layout/shared_cache",
    "lock/peterson",
    "lock/swap",
    "lock/tas",
)
# Workloads in which freeing a line moves the waiting elsewhere, and where it goes.
CANNOT_AGREE = {
    "kernel/munmap": "with a free lock the section remains as long; free `interval_of` shortens it",
    "lock/cna": "the head waits as long for `stay`, which it fetched beside the lock's word",
    "lock/lockmgr": "threads that find a free sleep queue sleep, and it takes longer to wake them",
}


def share(observed: Observed, name: str) -> float:
    assert isinstance(observed.path_ps, int)
    critical = sum(o.critical_ps for o in observed.objects if whole_object(o.name) == name)
    return critical / observed.path_ps


def gain(base: Repeats, freed: Repeats) -> float:
    """Returns the relative gain of the whole runs, whose path `uncore lines` follows; the rates of
    `whatif` are those of the steady part, which is a few operations of so short a run.
    """
    before, after = (sum(point.elapsed_ps for point in runs.points) for runs in (base, freed))
    return before / after - 1


def in_disorder(workload: str) -> tuple[list[str], int]:
    """Returns the pairs of objects of which the one with the larger share gains less, and the
    number of pairs compared. Objects that share a line are freed together, so they are no pair.
    """
    job = request.make_job(MACHINE, workload, [THREADS], seeds=SEEDS)
    study = counterfactual.whatif(MACHINE, workload, job, only=("line",))
    observed = observe(study.result)
    freed = [
        (name, share(observed, name), gain(study.base, effect.runs), {*effect.change.job.free})
        for effect in study.effects
        for name in effect.change.words[1:]
    ]
    freed = sorted((row for row in freed if row[1] >= MIN_SHARE), key=lambda row: -row[1])
    pairs = [
        (large, small)
        for large, small in combinations(freed, 2)
        if large[1] >= MIN_RATIO * small[1] and not large[3] & small[3]
    ]
    return [
        f"{large[0]} {large[1]:.1%} {large[2]:+.1%}, {small[0]} {small[1]:.1%} {small[2]:+.1%}"
        for large, small in pairs
        if large[2] <= small[2]
    ], len(pairs)


@pytest.mark.parametrize("workload", FEW)
def test_object_with_twice_the_share_gains_more(workload: str) -> None:
    disorder, compared = in_disorder(workload)
    assert compared and not disorder


@pytest.mark.long
def test_object_with_twice_the_share_gains_more_in_every_workload_but_those_named() -> None:
    names = [workload.name for workload in program.shipped()]
    outcomes = {name: in_disorder(name) for name in names}
    disorder = {name: pairs for name, (pairs, _) in outcomes.items() if pairs}
    assert disorder.keys() == CANNOT_AGREE.keys(), disorder
    assert sum(compared for _, compared in outcomes.values()) >= MIN_PAIRS

"""Checks of every installed outside simulator; the tests of `sst` and `gem5` use them.

    run(engine, machine, workload, threads) -> Point     a small run in lockstep
    agree(engine, machine, workload)                     the results equal those of `native`
    counted(engine, within)                              requests and lost copies are as on `native`
    compared(engine, folder)                             `crosscheck --all` writes its tables
    late(engine)                                         start times depend on the seed
    matched(engine, threads, protocol)                   times on topologies/matching are similar

Every program has self-checks, which fail after lost updates, torn records and late wake-ups.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from uncore import api
from uncore.execution import request
from uncore.result import Point
from uncore.study.compare import outside
from uncore.study.compare.crosscheck import crosscheck
from uncore.support import paths

WORKLOADS = {
    "latency/pingpong": {"rounds": "10", "pairs": "one"},
    "lock/ticket": {"ops": "10"},
    "refcount/atomic": {"ops": "10"},
    "epoch/ebr": {"ops": "5"},
    "ipi/pingpong": {"rounds": "5", "pairs": "one"},
}


def run(engine: str, machine: str, workload: str, threads: int, **options: object) -> Point:
    sizes = WORKLOADS[workload]
    options = {"engine": engine, "parameters": sizes, "seeds": (), **options}
    (point,) = api.run(machine, workload, [threads], **options).outcome.points
    return point


def agree(engine: str, machine: str, workload: str) -> None:
    theirs, ours = (run(engine_, machine, workload, 4) for engine_ in (engine, "native"))
    assert theirs.failures == []
    assert theirs.thread_ops == ours.thread_ops


def counted(engine: str, within: float) -> None:
    theirs, ours = (run(engine_, "ring:4", "lock/ticket", 4) for engine_ in (engine, "native"))
    assert ours.transactions and ours.invalidations
    assert theirs.transactions == pytest.approx(ours.transactions, rel=within)
    assert theirs.invalidations == pytest.approx(ours.invalidations, rel=within)


def compared(engine: str, folder: Path) -> None:
    """Runs a small part of `crosscheck --all` and checks the files that it writes for
    one machine.
    """
    jobs = [job for job in outside.jobs([engine]) if (job.machine, job.harts) == ("bus:4", 4)]
    made = list(outside.rows(jobs))
    assert [words for _, crossed, _ in made for words in crossed.broken()] == []
    outside.write(folder, made)
    rows = outside.load(folder / "engines.csv")
    assert [row["program"] for row in rows] == list(outside.PROGRAMS)
    assert all(row["version"] and row["protocol"] and float(row["ratio"]) for row in rows)


def late(engine: str) -> None:
    """V3: each seed gives a different time but the same work."""
    lockstep = run(engine, "ring:4", "lock/ticket", 4)
    drawn = [run(engine, "ring:4", "lock/ticket", 4, seeds=(seed,)) for seed in (1, 2)]
    assert len({point.elapsed_ps for point in (lockstep, *drawn)}) == 3
    for point in drawn:
        assert point.failures == [] and point.thread_ops == lockstep.thread_ops


def matched(engine: str, threads: int, protocol: str) -> None:
    """Checks that all ratios of times are within a quarter, and their median within 10 %."""
    machine = str(paths.TOPOLOGIES / f"matching/{outside.MATCHING_FILES[protocol]}.toml")
    off = []
    for workload, size in outside.MATCHED_PROGRAMS.items():
        job = request.make_job(machine, workload, [threads], parameters=size)
        (crossed,) = crosscheck(job, ["native", engine])
        assert crossed.broken() == crossed.large_differences() == []
        ratio = crossed.ratio(crossed.sides[1])
        assert ratio
        off.append(abs(ratio - 1))
    assert sorted(off)[len(off) // 2] < 0.10 and max(off) < 0.25, off

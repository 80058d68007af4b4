"""Do the native engine and the reference engine agree, transaction by transaction?

Each job runs on both; their logs (section L of docs/model.md) must be equal in every column of
every record, and so must every field of the outcome that both know: times, instructions,
latencies, transfers, what links and resolvers were busy with.  `--all` runs longer ones.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from validation.differential.jobs import JOBS, LONG, MORE, Case, make

from uncore.compare import agreement
from uncore.job import Job
from uncore.topology.machine import Chance

ENGINES = ("native", "reference")
KINDS = (
    "far-",
    "siblings-in-turn",
    "siblings-random",
    "four-",
    "by-age",
    "ipi-",
    "delay-",
    "kinds-",
)
BY_CHANCE = [name for name in JOBS if name.endswith("-mesi") or name.startswith(KINDS)]


@pytest.mark.parametrize("name", JOBS | MORE)
def test_the_engines_agree_on(name: str) -> None:
    agree((JOBS | MORE)[name])


@pytest.mark.parametrize("name", BY_CHANCE)
def test_the_engines_draw_alike_on(name: str) -> None:
    job = make(JOBS[name])
    machine = replace(job.machine, chance=Chance(start=3_000_000, request=50_000, hold=400))
    agree_on(replace(job, machine=machine, seeds=(1,)))


@pytest.mark.long
@pytest.mark.parametrize("name", LONG)
def test_the_engines_agree_for_longer_on(name: str) -> None:
    agree(LONG[name])


def agree(case: Case) -> None:
    agree_on(make(case))


def agree_on(job: Job) -> None:
    found = agreement.compare(job, ENGINES)
    assert found.records > 0
    assert found.difference is None, found.difference.rule
    assert found.outcome == {}

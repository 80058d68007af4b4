"""Does what comes of a program of Linux follow from its job alone, and what does a system cost?"""

from __future__ import annotations

import pytest
from tests.linux.programs import job, outcome, ran

from uncore.engine.native import state
from uncore.job import Job

JOBS = [
    job("locked", "7", harts=4),
    job("locked", "7", harts=8, machine="mesh:4x2"),
    job("yields", "5", harts=2),
    job("barriers", harts=4, system="free"),
]


@pytest.mark.parametrize("asked", JOBS, ids=str)
def test_outcomes_do_not_depend_on_how_far_cores_run_ahead(asked: Job) -> None:
    expected = outcome(asked)
    assert expected == outcome(asked, lookahead=1) == outcome(asked, sleep=False)


def test_a_run_is_saved_in_the_midst_of_a_call() -> None:
    asked, kept = job("locked", "7", harts=4), []
    whole = state.saving(asked, 8_000_000, kept.append)
    assert state.taken_up(kept[0], asked) == whole


def test_a_system_that_costs_nothing_is_quicker() -> None:
    times = [ran("locked", "7", harts=4, system=cost).elapsed_ps for cost in ("machine", "free")]
    assert times[0] > times[1]


def test_a_call_takes_what_the_machine_says() -> None:
    dear = {"os.syscall": "1us"}
    cheap, more = (ran("status", "0", overrides=over).elapsed_ps for over in ({}, dear))
    assert more - cheap == 900_000

"""Do random system calls, some with wrong arguments, give the recorded answers of Linux 6.18?"""

from __future__ import annotations

import pytest
from tests.linux import drawn_calls
from tests.linux.programs import run_guest

ANSWERS = drawn_calls.recorded_answers()
QUICK_SEEDS = [*range(10), 70, 71]  # one for each mixture of subjects (drawn_calls.c)


def simulated_answers(seed: int) -> list[str]:
    point = run_guest(str(seed), guest="drawn_calls", harts=1)
    assert point.failures == []
    return (point.output or "").splitlines()


@pytest.mark.parametrize("seed", [*QUICK_SEEDS, *drawn_calls.FURTHER_SEEDS])
def test_random_calls_answer_as_linux_does(seed: int) -> None:
    assert simulated_answers(seed) == ANSWERS[seed].splitlines()


@pytest.mark.long
def test_random_calls_of_many_seeds_answer_as_linux_does() -> None:
    quick_seeds = {*QUICK_SEEDS, *drawn_calls.FURTHER_SEEDS}
    other_seeds = [seed for seed in ANSWERS if seed not in quick_seeds]
    assert len(other_seeds) >= 100
    for seed in other_seeds:
        assert simulated_answers(seed) == ANSWERS[seed].splitlines(), f"seed {seed}"


@pytest.mark.skipif(
    not drawn_calls.CAN_RECORD, reason="another Linux, or without the rights for chroot"
)
def test_recorded_answers_are_those_of_this_computers_linux() -> None:
    for seed in QUICK_SEEDS:
        assert drawn_calls.answers_here(seed) == ANSWERS[seed], f"seed {seed}"

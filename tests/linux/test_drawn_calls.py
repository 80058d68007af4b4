"""Calls drawn by seeds, partly wrong, answer line by line as Linux 6.18 did (drawn_calls.txt)."""

from __future__ import annotations

import pytest
from tests.linux import recorded_calls
from tests.linux.programs import ran

ANSWERS = recorded_calls.answers()
FEW = 10  # one for each mixture of subjects (drawn_calls.c)


def ours(seed: int) -> list[str]:
    point = ran(str(seed), guest="drawn_calls", harts=1)
    assert point.failures == []
    return (point.output or "").splitlines()


@pytest.mark.parametrize("seed", [seed for seed in ANSWERS if seed < FEW])
def test_drawn_calls_answer_as_linux_does(seed: int) -> None:
    assert ours(seed) == ANSWERS[seed].splitlines()


@pytest.mark.long
def test_calls_of_many_seeds_answer_as_linux_does() -> None:
    many = [seed for seed in ANSWERS if seed >= FEW]
    assert len(many) >= 60
    for seed in many:
        assert ours(seed) == ANSWERS[seed].splitlines(), f"seed {seed}"


@pytest.mark.skipif(
    not recorded_calls.CAN_RECORD, reason="another Linux, or without the rights for chroot"
)
def test_recorded_answers_are_those_of_this_computers_linux() -> None:
    for seed in range(FEW):
        assert recorded_calls.here(seed) == ANSWERS[seed], f"seed {seed}"

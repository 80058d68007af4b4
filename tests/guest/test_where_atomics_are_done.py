"""Does the place of atomics, near or far, decide which instructions count fastest (C8.1, C8.9)?

The machine is Graviton2.  An atomic add is one instruction, as in Arm's LSE.  A compare-and-swap is
a loop of LR and SC, as in Arm before LSE.
"""

from __future__ import annotations

import pytest
from tests.support.plans import Do, Step, steps

from uncore import api
from uncore.topology import load

MACHINE = "graviton2"
NEAR_ATOMIC_NS = 4.8  # a near atomic takes 12 cycles in the machine file


def adds_to_owned_counter(atomics: str) -> tuple[int, int]:
    """Returns the times in ns of two adds to a counter that the same core has just written."""
    plan = [Step(1000, Do.STORE), Step(3000, Do.AMO), Step(5000, Do.AMO)]
    _, first, next_ = steps(load(MACHINE, [f"core.atomics={atomics}"]), [plan])[0]
    return first.cost, next_.cost


def rate(workload: str, atomics: str, threads: int) -> int:
    overrides = {"core.atomics": atomics}
    result = api.run(MACHINE, workload, (threads,), overrides=overrides, seeds=())
    assert result.points[0].throughput
    return result.points[0].throughput


@pytest.mark.parametrize("atomics", ["near", "far-unless-owned"])
def test_add_to_an_owned_counter_is_cheap_unless_atomics_are_always_far(atomics: str) -> None:
    assert all(
        NEAR_ATOMIC_NS - 2 < cost < NEAR_ATOMIC_NS + 1 for cost in adds_to_owned_counter(atomics)
    )


def test_far_add_to_an_owned_counter_takes_5_to_12_times_as_long_as_a_near_add() -> None:
    """The first add takes longer, because it makes its core give up the line."""
    first, next_ = adds_to_owned_counter("far")
    assert first > 1.5 * next_
    assert 5 < next_ / NEAR_ATOMIC_NS < 12


@pytest.mark.parametrize(("atomics", "add_wins"), [("near", True), ("far", False)])
def test_uncontended_add_is_faster_than_a_cas_loop_only_if_atomics_are_near(
    atomics: str, add_wins: bool
) -> None:
    add, loop = (rate(workload, atomics, 1) for workload in ("counter/atomic", "counter/cas"))
    assert add > 1.1 * loop if add_wins else loop > 1.5 * add


@pytest.mark.parametrize(("atomics", "gain"), [("near", 1.5), ("far", 3)])
def test_contended_add_is_faster_than_a_cas_loop_and_by_more_with_far_than_near_atomics(
    atomics: str, gain: float
) -> None:
    assert rate("counter/atomic", atomics, 16) > gain * rate("counter/cas", atomics, 16)

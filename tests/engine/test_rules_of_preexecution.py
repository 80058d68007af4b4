"""Does a hart that waits for a load pre-execute the instructions after it, as rule H9 says?

Lines come from memory, and the home serves one request at a time.
"""

from __future__ import annotations

import pytest
from tests.support.line import A, line
from tests.support.plans import Do, Step, steps
from tests.support.rule_costs import LOAD, MISPREDICT, SERVICE, fetch

from uncore.topology.machine import Machine

WINDOW, MISSES = 16, 8
MISS = fetch(A) + LOAD  # a single load
OVERLAPPING = fetch(A) + SERVICE + LOAD  # two loads whose requests overlap


def pre_executing(window: int = WINDOW, misses: int = MISSES, order: str = "tso") -> Machine:
    """Returns a machine whose cores pre-execute with these limits."""
    return line(core={"window": window, "misses": misses, "order": order})


def cost(do: Do, machine: Machine) -> int:
    """Returns the cost of one step of a lone hart at A, in ns beyond one instruction."""
    return steps(machine, [[Step(1000, do)]])[0][0].cost


def test_independent_load_misses_overlap() -> None:
    """H9.2: the loads' requests leave one instruction apart, and the home serves them in turn."""
    assert cost(Do.LOAD_THRICE, pre_executing()) == fetch(A) + 2 * SERVICE + LOAD


@pytest.mark.parametrize(
    "machine", [pre_executing(window=0), pre_executing(misses=1), pre_executing(misses=0)]
)
def test_loads_miss_one_at_a_time_if_only_one_miss_is_allowed(machine: Machine) -> None:
    """H9.1, H9.2: `misses` includes the line that the hart waits for."""
    assert cost(Do.LOAD_THRICE, machine) == 3 * MISS + 2


def test_pre_execution_ends_at_the_end_of_the_window() -> None:
    """H9.1: the third load is two instructions after the first, but only one after the second,
    during which it is requested.
    """
    expected = MISS + 1 + 1 + fetch(A) + LOAD
    assert cost(Do.LOAD_THRICE, pre_executing(window=1)) == expected


def test_the_key_misses_limits_the_lines_in_flight() -> None:
    """H9.2: if two misses may be in flight, the third line is requested when the first has
    arrived.
    """
    assert cost(Do.LOAD_THRICE, pre_executing(misses=2)) == MISS + 1 + 1 + fetch(A) + LOAD


def test_dependent_load_is_not_pre_executed() -> None:
    """H9.1: the second load's address depends on the value of the first."""
    assert (
        cost(Do.LOAD_CHAINED, pre_executing())
        == cost(Do.LOAD_CHAINED, pre_executing(window=0))
        == 2 * MISS + 2
    )


@pytest.mark.parametrize(
    ("do", "order", "total"),
    [
        (Do.LOAD_FENCE_LOAD, "tso", 2 * MISS + 2),
        (Do.LOAD_FENCE_LOAD, "weak", 2 * MISS + 2),
        (Do.LOAD_ACQUIRE_LOAD, "tso", OVERLAPPING),
        (Do.LOAD_ACQUIRE_LOAD, "weak", 2 * MISS + 2),
    ],
)
def test_a_fence_that_orders_the_loads_ends_pre_execution(do: Do, order: str, total: int) -> None:
    """H9.4: in total store order, a fence that orders only loads has no effect."""
    assert cost(do, pre_executing(order=order)) == total


def test_pre_execution_follows_the_prediction_of_an_unknown_branch() -> None:
    """H9.1: the branch skips a load, but the prediction is that it does not, so the load's line is
    requested.
    """
    plan = [Step(1000, Do.LOAD_SKIP), Step(2000, Do.LOAD, 1)]
    skipped, later = steps(pre_executing(), [plan])[0]
    assert (skipped.cost, later.cost) == (MISS + MISPREDICT + 1, LOAD)
    assert steps(pre_executing(window=0), [plan])[0][1].cost == MISS


def test_pre_executed_load_of_a_stored_value_sends_no_request() -> None:
    """H9.3: the store requests the line when it is executed, and forwards its value to the load."""
    assert cost(Do.LOAD_STORE_LOAD, pre_executing()) == cost(
        Do.LOAD_STORE_LOAD, pre_executing(window=0)
    )


def test_pre_execution_ends_at_a_load_of_the_awaited_line() -> None:
    """H9.4: only one iteration of a loop that waits for a word is pre-executed."""
    assert cost(Do.LOAD_TWICE_LOAD, pre_executing()) == 2 * MISS + LOAD + 2

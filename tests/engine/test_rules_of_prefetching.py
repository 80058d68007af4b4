"""Does a core request the neighbour of a line on which it misses, as rule C11 says?

Places 0 and 1 are neighbours, and so are places 2 and 3. Lines come from memory, whose home serves
one request at a time.
"""

from __future__ import annotations

from typing import Any

import pytest
from tests.support.line import A, line
from tests.support.plans import Do, Step, steps
from tests.support.rule_costs import ATOMIC, LOAD, fetch

from uncore.topology.machine import Machine

MISS = fetch(A) + LOAD  # a single load


def prefetching(misses: int = 8, prefetch: str = "adjacent", **core: Any) -> Machine:
    """Returns a machine whose cores prefetch adjacent lines."""
    return line(core={"misses": misses, "prefetch": prefetch, **core})


def costs(machine: Machine, *plans: list[Step]) -> list[int]:
    """Returns the costs of the first hart's steps, in ns beyond one instruction."""
    return [span.cost for span in steps(machine, plans)[0]]


def test_load_miss_prefetches_the_adjacent_line() -> None:
    """The load takes as long as without prefetching, and only the adjacent line is fetched."""
    plan = [Step(1000 * n, Do.LOAD, place) for n, place in enumerate((0, 1, 3, 2), 1)]
    assert costs(prefetching(), plan) == [MISS, LOAD, MISS, LOAD]
    assert costs(prefetching(prefetch="none"), plan) == [MISS] * 4


def test_adjacent_line_is_requested_one_instruction_later() -> None:
    """The request leaves when the request of a load in the next instruction would, also during
    pre-execution (H9.2).
    """
    pre_executing = line(core={"misses": 8, "window": 16})
    two_loads = Step(1000, Do.LOAD_ACQUIRE_LOAD)
    assert costs(prefetching(), [two_loads]) == costs(pre_executing, [two_loads])


@pytest.mark.parametrize(("misses", "second_cost"), [(1, MISS), (2, LOAD)])
def test_adjacent_line_is_not_requested_if_the_limit_of_misses_is_reached(
    misses: int, second_cost: int
) -> None:
    """The limit `misses` includes the line on which the core misses."""
    plan = [Step(1000, Do.LOAD), Step(2000, Do.LOAD, 1)]
    assert costs(prefetching(misses), plan) == [MISS, second_cost]


@pytest.mark.parametrize(("first", "invalidated"), [(Do.LOAD, False), (Do.AMO, True)])
def test_adjacent_line_is_requested_with_the_right_of_the_missing_line(
    first: Do, invalidated: bool
) -> None:
    """If the core writes the line, other copies of the neighbour are invalidated."""
    reads = [Step(500, Do.LOAD, 1), Step(2000, Do.LOAD, 1)]
    writes = [Step(1000, first), Step(3000, Do.AMO, 1)]
    machine = prefetching(misses=2)
    reader, writer = steps(machine, [reads, writes])
    assert (reader[1].cost > LOAD) == invalidated
    unshared = steps(machine, [[], writes])[1][1]
    assert unshared.cost == ATOMIC
    assert writer[1].cost > ATOMIC  # the reader loaded the line last, so the line is shared


def test_an_upgrade_does_not_prefetch_the_adjacent_line() -> None:
    """The core has a copy of the line, but has lost its copy of the neighbour."""
    writer = [Step(1000, Do.LOAD), Step(3000, Do.AMO), Step(4000, Do.LOAD, 1)]
    second_plan = [Step(1500, Do.LOAD), Step(2000, Do.AMO, 1)]
    upgraded = costs(prefetching(), writer, second_plan)
    assert upgraded[0] == MISS
    assert upgraded[2] > LOAD


def test_a_far_atomic_does_not_prefetch_the_adjacent_line() -> None:
    plan = [Step(1000, Do.AMO), Step(2000, Do.LOAD, 1)]
    assert costs(prefetching(far_atomics=True, far_owned=True), plan)[1] == MISS
    assert costs(prefetching(), plan)[1] == LOAD


def test_adjacent_line_that_the_core_has_is_not_requested_again() -> None:
    """A second request for it would delay the request for the third line at the home."""
    loads = [Step(1000, Do.LOAD, 1), Step(2000, Do.LOAD), Step(3000, Do.STORE), Step(4000, Do.LOAD)]
    assert costs(prefetching(), loads) == [MISS, LOAD, 0, LOAD]

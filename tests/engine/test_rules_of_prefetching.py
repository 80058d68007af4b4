"""Does a core request the neighbour of a line on which it misses, as rule C11 says?

Places 0 and 1 are neighbours, and so are 2 and 3.  Lines come from memory, whose home serves one
request after the other.
"""

from __future__ import annotations

from typing import Any

import pytest
from tests.support.line import A, line
from tests.support.plans import Do, Step, steps
from tests.support.rule_costs import ATOMIC, LOAD, fetch

from uncore.topology.machine import Machine

MISS = fetch(A) + LOAD  # a load alone


def beside(misses: int = 8, prefetch: str = "adjacent", **core: Any) -> Machine:
    return line(core={"misses": misses, "prefetch": prefetch, **core})


def costs(machine: Machine, *plans: list[Step]) -> list[int]:
    """Returns the costs of the first hart's steps, beyond one instruction."""
    return [span.cost for span in steps(machine, plans)[0]]


def test_load_miss_prefetches_the_adjacent_line() -> None:
    """The load takes as long as without prefetching, and no other line is fetched."""
    plan = [Step(1000 * n, Do.LOAD, place) for n, place in enumerate((0, 1, 3, 2), 1)]
    assert costs(beside(), plan) == [MISS, LOAD, MISS, LOAD]
    assert costs(beside(prefetch="none"), plan) == [MISS] * 4


def test_adjacent_line_is_requested_one_instruction_later() -> None:
    """The request leaves when that of the next instruction's load would, also during pre-execution
    (H9.2).
    """
    together = line(core={"misses": 8, "window": 16})
    both = Step(1000, Do.LOAD_ACQUIRE_LOAD)
    assert costs(beside(), [both]) == costs(together, [both])


@pytest.mark.parametrize(("misses", "second"), [(1, MISS), (2, LOAD)])
def test_adjacent_line_is_not_requested_if_misses_lines_are_in_flight(
    misses: int, second: int
) -> None:
    """The limit `misses` also counts the line itself."""
    plan = [Step(1000, Do.LOAD), Step(2000, Do.LOAD, 1)]
    assert costs(beside(misses), plan) == [MISS, second]


@pytest.mark.parametrize(("first", "taken"), [(Do.LOAD, False), (Do.AMO, True)])
def test_adjacent_line_is_requested_with_the_same_right(first: Do, taken: bool) -> None:
    """If the line is written, the neighbour's other copies are invalidated."""
    reads = [Step(500, Do.LOAD, 1), Step(2000, Do.LOAD, 1)]
    writes = [Step(1000, first), Step(3000, Do.AMO, 1)]
    machine = beside(misses=2)
    reader, writer = steps(machine, [reads, writes])
    assert (reader[1].cost > LOAD) == taken
    alone = steps(machine, [[], writes])[1][1]
    assert alone.cost == ATOMIC
    assert writer[1].cost > ATOMIC  # the reader has loaded the line last, so it is shared


def test_upgrade_does_not_prefetch() -> None:
    """The core has a copy of the line, but has lost the neighbour."""
    writer = [Step(1000, Do.LOAD), Step(3000, Do.AMO), Step(4000, Do.LOAD, 1)]
    other = [Step(1500, Do.LOAD), Step(2000, Do.AMO, 1)]
    upgraded = costs(beside(), writer, other)
    assert upgraded[0] == MISS
    assert upgraded[2] > LOAD


def test_far_atomic_does_not_prefetch() -> None:
    plan = [Step(1000, Do.AMO), Step(2000, Do.LOAD, 1)]
    assert costs(beside(far_atomics=True, far_owned=True), plan)[1] == MISS
    assert costs(beside(), plan)[1] == LOAD


def test_adjacent_line_in_the_core_is_not_requested_again() -> None:
    """A second request would delay the third line at the home."""
    loads = [Step(1000, Do.LOAD, 1), Step(2000, Do.LOAD), Step(3000, Do.STORE), Step(4000, Do.LOAD)]
    assert costs(beside(), loads) == [MISS, LOAD, 0, LOAD]

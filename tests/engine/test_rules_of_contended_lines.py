"""Does a contended line belong to one hart, exactly as rule C9 of docs/model.md says?

Machines are small, all latencies are whole nanoseconds, and expectations are exact. Core A has
harts 0 and 1, core B harts 2 and 3; the home is at H.
"""

from __future__ import annotations

import dataclasses

import pytest
from tests.support.line import NS, A, B, H, line, way
from tests.support.plans import LEAD, Do, Span, Step, steps
from tests.support.rule_costs import ATOMIC, L2, LOAD, RESTART, SERVICE, fetch
from tests.support.two_levels import levels

FIRST = 1000
ARRIVED = FIRST + LEAD + fetch(A)  # time at which hart 0 gets the line that it requests at FIRST
SECOND_REQUEST = 1020  # core B's request, which waits at H until core A's has been served
COST = {Do.AMO: ATOMIC, Do.LOAD: LOAD, Do.STORE_FENCE: 0}

# Core A answers the probe and requests the line again. The request waits at H until B's Unblock.
REQUESTED_AGAIN = ARRIVED + way("snoop", A, H) + way("snoop", H, A)
ARRIVED_AT_B = REQUESTED_AGAIN + L2 + way("data", A, B)
ARRIVED_AGAIN = ARRIVED_AT_B + way("snoop", B, H) + way("snoop", H, B) + L2 + way("data", B, A)


def end(span: Span) -> int:
    """Returns the time at which the access of a step ends."""
    return span.begin + 1 + span.cost


def siblings(*plans: list[Step], hold: int = 0) -> list[list[Span]]:
    machine = line(core={"hold": hold * NS}, threads_per_core=2)
    return steps(machine, plans, placement="siblings")


@pytest.mark.parametrize("do", COST)
def test_siblings_wait_until_the_probe_has_been_answered(do: Do) -> None:
    """B's request already waits at the resolver when hart 0 of A gets the line, so hart 1 may not
    access the line.
    """
    spans = siblings([Step(FIRST, Do.AMO)], [Step(FIRST + 5, do)], [Step(SECOND_REQUEST, Do.AMO)])
    assert end(spans[0][0]) == ARRIVED + ATOMIC
    assert end(spans[2][0]) == ARRIVED_AT_B + ATOMIC
    assert end(spans[1][0]) == ARRIVED_AGAIN + COST[do]


@pytest.mark.parametrize("do", COST)
def test_siblings_share_a_line_that_no_other_core_requests(do: Do) -> None:
    """H5, C6: each access is performed as soon as the lock allows."""
    spans = siblings([Step(FIRST, Do.AMO)], [Step(FIRST + 5, do)])
    locked = ATOMIC + RESTART if do == Do.AMO else 0
    assert end(spans[1][0]) == ARRIVED + locked + COST[do]


def test_sibling_reads_a_contended_line_while_the_core_holds_it() -> None:
    """The load begins after the line has arrived and before it leaves, so it hits."""
    spans = siblings(
        [Step(FIRST, Do.AMO)], [Step(ARRIVED - LEAD + 5, Do.LOAD)], [Step(SECOND_REQUEST, Do.AMO)]
    )
    assert spans[1][0].cost == LOAD


HOLD = 300
PROBED = ARRIVED + 150  # time within the hold
REQUEST_THAT_PROBES = PROBED - way("snoop", H, A) - SERVICE - way("control", B, H) - L2 - LEAD


@pytest.mark.parametrize(("before", "waits"), [(1, False), (-1, True)])
def test_a_line_is_contended_as_soon_as_a_probe_waits_for_its_hold(
    before: int, waits: bool
) -> None:
    """Hart 1's access begins one nanosecond before or after the probe arrives. Hart 0 continues in
    both cases.
    """
    first_plan = [Step(FIRST, Do.AMO), Step(PROBED + 50, Do.AMO)]
    second_plan = [Step(PROBED - before - LEAD, Do.AMO)]
    spans = siblings(first_plan, second_plan, [Step(REQUEST_THAT_PROBES, Do.AMO)], hold=HOLD)
    assert spans[0][1].cost == ATOMIC
    hold_end = ARRIVED + HOLD
    assert end(spans[2][0]) == hold_end + L2 + way("data", A, B) + ATOMIC
    # B also keeps the line for the hold.
    back = hold_end + L2 + way("data", A, B) + HOLD + L2 + way("data", B, A)
    assert end(spans[1][0]) == (back if waits else second_plan[0].at + LEAD) + ATOMIC


@pytest.mark.parametrize("do", [Do.ATTEMPT, Do.ATTEMPT_STORE])
def test_sibling_completes_an_lr_sc_that_began_before_the_contention(do: Do) -> None:
    """The probe arrives between the sibling's LR and SC, and waits for the SC."""
    attempt = [Step(PROBED - 20 - LEAD, do)]
    uncontended, contended = (
        siblings([Step(FIRST, Do.AMO)], attempt, *others, hold=HOLD)[1][0].cost
        for others in ([], [[Step(REQUEST_THAT_PROBES, Do.AMO)]])
    )
    assert contended == uncontended


@pytest.mark.parametrize(("outer", "order"), [(1080, [0, 2, 1]), (1300, [0, 1, 2])])
def test_join_reports_a_request_that_waits_above_it_as_contention(
    outer: int, order: list[int]
) -> None:
    """No request waits at A's resolver. The request of hart 2's core waits at the root, or comes
    too late.
    """
    plans = [[Step(FIRST, Do.AMO)], [Step(FIRST + 5, Do.AMO)], [Step(outer, Do.AMO)]]
    machine = dataclasses.replace(levels(), threads_per_core=2)
    spans = steps(machine, plans, placement="0,1,6")
    assert sorted(range(3), key=lambda hart: end(spans[hart][0])) == order

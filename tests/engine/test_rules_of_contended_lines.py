"""Does a contended line belong to one hart, exactly as rule C9 of docs/model.md says?

Small machines, whole nanoseconds, exact expectations, like test_rules_of_cores.py.  Cores A and B
have harts 0 and 1, 2 and 3; the home is at H.
"""

from __future__ import annotations

import dataclasses

import pytest
from tests.support.line import NS, A, B, H, line, way
from tests.support.plans import LEAD, Do, Span, Step, steps
from tests.support.rule_costs import ATOMIC, L2, LOAD, RESTART, SERVICE, fetch
from tests.support.two_levels import levels

FIRST = 1000
WON = FIRST + LEAD + fetch(A)  # when hart 0 gets the line that it requests at FIRST
ASKED = 1020  # core B's request waits at H while A's is served
END = {Do.AMO: ATOMIC, Do.LOAD: LOAD, Do.STORE_FENCE: 0}

# A answers the probe, requests the line again, and waits at H until B's Unblock.
LOST = WON + way("snoop", A, H) + way("snoop", H, A)
TAKEN = LOST + L2 + way("data", A, B)
AGAIN = TAKEN + way("snoop", B, H) + way("snoop", H, B) + L2 + way("data", B, A)


def end(span: Span) -> int:
    """Returns the time at which the access of a step ends."""
    return span.begin + 1 + span.cost


def siblings(*plans: list[Step], hold: int = 0) -> list[list[Span]]:
    machine = line(core={"hold": hold * NS}, threads_per_core=2)
    return steps(machine, plans, placement="siblings")


@pytest.mark.parametrize("do", END)
def test_siblings_wait_until_the_probe_has_been_answered(do: Do) -> None:
    """B's request waits at the resolver when A's hart 0 gets the line, so hart 1 may not
    access it.
    """
    spans = siblings([Step(FIRST, Do.AMO)], [Step(FIRST + 5, do)], [Step(ASKED, Do.AMO)])
    assert end(spans[0][0]) == WON + ATOMIC
    assert end(spans[2][0]) == TAKEN + ATOMIC
    assert end(spans[1][0]) == AGAIN + END[do]


@pytest.mark.parametrize("do", END)
def test_siblings_share_a_line_that_no_other_core_requests(do: Do) -> None:
    """H5, C6: each access is performed as soon as the lock allows."""
    spans = siblings([Step(FIRST, Do.AMO)], [Step(FIRST + 5, do)])
    locked = ATOMIC + RESTART if do == Do.AMO else 0
    assert end(spans[1][0]) == WON + locked + END[do]


def test_sibling_reads_a_contended_line_while_the_core_holds_it() -> None:
    """A load is performed if it begins after the line has arrived and before it has left."""
    spans = siblings([Step(FIRST, Do.AMO)], [Step(WON - LEAD + 5, Do.LOAD)], [Step(ASKED, Do.AMO)])
    assert spans[1][0].cost == LOAD


HOLD = 300
PROBED = WON + 150  # within the hold
ASKS = PROBED - way("snoop", H, A) - SERVICE - way("control", B, H) - L2 - LEAD


@pytest.mark.parametrize(("before", "waits"), [(1, False), (-1, True)])
def test_a_line_is_contended_once_a_probe_waits_for_its_hold(before: int, waits: bool) -> None:
    """Hart 1's access begins a nanosecond before or after the probe arrives; hart 0 continues in
    both cases.
    """
    own = [Step(FIRST, Do.AMO), Step(PROBED + 50, Do.AMO)]
    other = [Step(PROBED - before - LEAD, Do.AMO)]
    spans = siblings(own, other, [Step(ASKS, Do.AMO)], hold=HOLD)
    assert spans[0][1].cost == ATOMIC
    lost = WON + HOLD
    assert end(spans[2][0]) == lost + L2 + way("data", A, B) + ATOMIC
    # B also keeps the line that it has won for the hold.
    again = lost + L2 + way("data", A, B) + HOLD + L2 + way("data", B, A)
    assert end(spans[1][0]) == (again if waits else other[0].at + LEAD) + ATOMIC


@pytest.mark.parametrize("do", [Do.ATTEMPT, Do.ATTEMPT_STORE])
def test_sibling_completes_an_attempt_that_it_has_begun(do: Do) -> None:
    """The probe arrives between the sibling's LR and SC, and waits for the SC."""
    attempt = [Step(PROBED - 20 - LEAD, do)]
    alone, fought_for = (
        siblings([Step(FIRST, Do.AMO)], attempt, *others, hold=HOLD)[1][0].cost
        for others in ([], [[Step(ASKS, Do.AMO)]])
    )
    assert fought_for == alone


@pytest.mark.parametrize(("outer", "order"), [(1080, [0, 2, 1]), (1300, [0, 1, 2])])
def test_join_reports_contention_that_exists_above_it(outer: int, order: list[int]) -> None:
    """No request waits at A's resolver, but one of hart 2's core waits at the root, or comes too
    late.
    """
    plans = [[Step(FIRST, Do.AMO)], [Step(FIRST + 5, Do.AMO)], [Step(outer, Do.AMO)]]
    machine = dataclasses.replace(levels(), threads_per_core=2)
    spans = steps(machine, plans, placement="0,1,6")
    assert sorted(range(3), key=lambda hart: end(spans[hart][0])) == order

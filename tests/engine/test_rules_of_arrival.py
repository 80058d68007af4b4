"""Does an access see exactly what has arrived (T1, T3, F5), and does a client answer in time (C3,
C5)?

Each event is tried one nanosecond before, exactly at, and one nanosecond after the time that its
rule names.
"""

from __future__ import annotations

import dataclasses

import polars
import pytest
from tests.support.line import NS, ONE_WAY, SET_STRIDE, A, B, H, line, way, wires
from tests.support.plans import LEAD, NEAR, START, Do, Step, at, steps, words
from tests.support.rule_costs import ATOMIC, L2, LOAD, SERVICE, fetch, taken
from tests.support.runs import guest, logged

from uncore.errors import GuestError

SIZES = ("control", "data", "snoop")


# ---- T: what an access sees ----------------------------------------------------------------------


@pytest.mark.parametrize("lookahead", [0, 2**64 - 1])
@pytest.mark.parametrize("offset_ns", NEAR)
def test_access_sees_a_probe_that_arrives_at_the_same_time(offset_ns: int, lookahead: int) -> None:
    """T1, T3: A's load hits if it is a nanosecond before B's probe; at the same time or later it
    misses.
    """
    probed = 2000 + taken(B, A) - L2 - way("data", A, B)
    plans = [[Step(1000, Do.AMO), at(probed + offset_ns, Do.LOAD)], [at(2000, Do.AMO)]]
    span = steps(line(), plans, limits={"lookahead": lookahead})[0][1]
    assert span.begin + 1 == probed + offset_ns
    # then B is probed for A's request
    completed = probed + L2 + way("data", A, B) + way("snoop", B, H)
    back = completed + way("snoop", H, B) + L2 + way("data", B, A)
    assert span.cost == (LOAD if offset_ns < 0 else back - (probed + offset_ns) + LOAD)


@pytest.mark.parametrize("offset_ns", NEAR)
def test_access_sees_data_that_arrive_at_the_same_time(offset_ns: int) -> None:
    """T1, T3: a sibling's load hits as soon as the line has arrived; an earlier load waits for the
    line.
    """
    plans = [[at(1000, Do.LOAD)], [at(1000 + fetch(A) + offset_ns, Do.LOAD)]]
    span = steps(line(threads_per_core=2), plans, placement="siblings")[1][0]
    assert span.cost == LOAD + max(-offset_ns, 0)


# ---- T4: the end of a run ------------------------------------------------------------------------

FAR_APART = tuple(
    dataclasses.replace(link, **{size: getattr(link, size) * 100 for size in SIZES})
    for link in wires()
)


@pytest.mark.parametrize(("offset_ns", "reported_hart"), [(-1, 0), (0, 0), (1, 1)])
def test_earliest_end_in_simulated_time_ends_the_run(offset_ns: int, reported_hart: int) -> None:
    """T4: if two harts end the run at the same time, the lower hart's end counts, even if the
    engine executes hart 1 first.
    """
    machine = line(links=FAR_APART)
    first_plan, second_plan = (
        [Step(1000, Do.END, 1)],
        [Step(1000, Do.END, 1), Step(50000, Do.COMPUTE)],
    )
    end = steps(machine, [first_plan, [*second_plan, Step(0, Do.END, 1)]])[1][2].begin
    plans = [
        [*first_plan, Step(end - LEAD + 1 + offset_ns, Do.END)],
        [*second_plan, Step(0, Do.END)],
    ]
    with pytest.raises(GuestError, match=f"hart {reported_hart} trapped without a handler"):
        steps(machine, plans)


# ---- F5: no order between a pair -----------------------------------------------------------------


@pytest.mark.parametrize("offset_ns", NEAR)
def test_a_short_message_overtakes_a_long_one(offset_ns: int) -> None:
    """F5: a request that leaves B after a writeback arrives at H before it, and is served first."""
    service = 50
    machine = line(core=ONE_WAY, resolver={"service": service * NS}, threads_per_core=2)
    # eviction; the Put leaves `l2_hit` later, like a request made at this time
    put = 2000 + fetch(B) + service - SERVICE
    head_start = way("data", B, H) - way("control", B, H)
    plans = [
        [],
        [],
        [at(1000, Do.AMO, 0), at(2000, Do.LOAD, 1)],
        [Step(1000, Do.NOTHING), at(put + head_start + offset_ns, Do.LOAD, 2)],
    ]
    span = steps(machine, plans, placement="siblings", stride=SET_STRIDE)[3][1]
    undelayed = fetch(B) + service - SERVICE + LOAD
    assert span.cost == undelayed + (service - offset_ns if offset_ns >= 0 else 0)


# ---- C3: early probes wait, others do not --------------------------------------------------------


@pytest.mark.parametrize("offset_ns", NEAR)
def test_an_early_probe_waits_for_the_grant(offset_ns: int) -> None:
    """C3: the resolver sends data to B and then a probe for H's request, which may arrive before
    the data.
    """
    machine = line(resolver={"reply": "via", "unblock": "response"})
    answered = 2000 + taken(B, A) - way("data", A, B) + way("data", A, H)
    filled = answered + way("data", H, B)
    probed = filled + offset_ns
    requested = probed - way("snoop", H, B) - SERVICE - L2
    assert requested + L2 + SERVICE >= answered  # H's request does not wait for B's transaction
    plans = [[at(1000, Do.AMO)], [at(2000, Do.AMO)], [at(requested, Do.AMO)]]
    span = steps(machine, plans)[2][0]
    atomic_end = filled + ATOMIC  # C4: the atomic that waited for the line is performed first
    assert requested + span.cost == max(probed, atomic_end) + L2 + way("data", B, H) + ATOMIC


@pytest.mark.parametrize("offset_ns", NEAR)
def test_probe_that_is_not_early_does_not_wait(offset_ns: int) -> None:
    """C3: A is probed for B's upgrade, shortly before or after A sends an upgrade of its own."""
    invalidated = 3000 + L2 + way("control", B, H) + SERVICE + way("snoop", H, A)
    plans = [
        [at(1000, Do.LOAD), at(invalidated + offset_ns, Do.AMO)],
        [at(2000, Do.LOAD), at(3000, Do.AMO)],
    ]
    table, _ = logged(line(), guest("plan"), 2, **words(plans))
    request_ns = (polars.col("request") - START * NS) / NS - L2
    second, first = (
        table.filter(request_ns == t).row(0, named=True) for t in (invalidated + offset_ns, 3000)
    )
    assert (first["op"], second["op"]) == ("Upg", "Upg" if offset_ns < 0 else "GetM")
    granted = invalidated + L2 + way("snoop", A, H) + way("control", H, B)
    assert first["data"] == (START + granted) * NS


# ---- C5: evictions -------------------------------------------------------------------------------


@pytest.mark.parametrize("offset_ns", [*NEAR, 30])
def test_client_answers_probes_of_a_line_that_it_is_writing_back(offset_ns: int) -> None:
    """C3, C5: B's probe arrives before A's eviction, at its time, or before the PutAck."""
    evicted = 2000 + fetch(A)
    requested = evicted + offset_ns - (taken(B, A) - L2 - way("data", A, B))
    plans = [[at(1000, Do.AMO, 0), at(2000, Do.LOAD, 1)], [at(requested, Do.AMO, 0)]]
    span = steps(line(core=ONE_WAY), plans, stride=SET_STRIDE)[1][0]
    assert span.cost == taken(B, A) + ATOMIC


SLOW = 200  # ns of additional service time, so that the core can need the line before the PutAck


@pytest.mark.parametrize("offset_ns", NEAR)
def test_core_requests_a_line_again_only_after_its_put_is_acknowledged(offset_ns: int) -> None:
    """C5: a dirty line's Put leaves `l2_hit` after another line has replaced the dirty one. The
    core waits for the PutAck before it requests the line again.
    """
    machine = line(core=ONE_WAY, resolver={"service": (SERVICE + SLOW) * NS})
    put = 2000 + fetch(A) + SLOW + L2
    acknowledged = put + way("data", A, H) + SERVICE + SLOW + way("control", H, A)
    again = at(acknowledged + offset_ns, Do.LOAD, 0)
    plan = [at(1000, Do.AMO, 0), at(2000, Do.AMO, 1), again]
    span = steps(machine, [plan], stride=SET_STRIDE)[0][2]
    assert span.begin + 1 == acknowledged + offset_ns
    assert span.cost == max(-offset_ns, 0) + fetch(A) + SLOW + LOAD


def test_a_core_evicts_a_clean_line_silently() -> None:
    """C5: no Put is pending, so the core may request the line again at once."""
    machine = line(core=ONE_WAY, resolver={"service": (SERVICE + SLOW) * NS})
    evicted = 2000 + fetch(A) + SLOW
    plan = [at(1000, Do.LOAD, 0), at(2000, Do.LOAD, 1), at(evicted + 60, Do.LOAD, 0)]
    assert steps(machine, [plan], stride=SET_STRIDE)[0][2].cost == fetch(A) + SLOW + LOAD

"""Does an access see exactly what has arrived (T1, T3, F5), and a client answer in time (C3, C5)?

Each event is tried one nanosecond before, at, and after the time that its rule names.
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
@pytest.mark.parametrize("late", NEAR)
def test_access_sees_a_probe_that_arrives_at_the_same_time(late: int, lookahead: int) -> None:
    """T1, T3: A hits a nanosecond before B's probe arrives, and misses from then on."""
    probed = 2000 + taken(B, A) - L2 - way("data", A, B)
    plans = [[Step(1000, Do.AMO), at(probed + late, Do.LOAD)], [at(2000, Do.AMO)]]
    span = steps(line(), plans, limits={"lookahead": lookahead})[0][1]
    assert span.begin + 1 == probed + late
    completed = probed + L2 + way("data", A, B) + way("snoop", B, H)  # B is then probed in turn
    back = completed + way("snoop", H, B) + L2 + way("data", B, A)
    assert span.cost == (LOAD if late < 0 else back - (probed + late) + LOAD)


@pytest.mark.parametrize("late", NEAR)
def test_access_sees_data_that_arrive_at_the_same_time(late: int) -> None:
    """T1, T3: a sibling's load hits once the line has arrived; before that, it waits for
    the line.
    """
    plans = [[at(1000, Do.LOAD)], [at(1000 + fetch(A) + late, Do.LOAD)]]
    span = steps(line(threads_per_core=2), plans, placement="siblings")[1][0]
    assert span.cost == LOAD + max(-late, 0)


# ---- T4: the end of a run ------------------------------------------------------------------------

FAR_APART = tuple(
    dataclasses.replace(link, **{size: getattr(link, size) * 100 for size in SIZES})
    for link in wires()
)


@pytest.mark.parametrize(("late", "who"), [(-1, 0), (0, 0), (1, 1)])
def test_earliest_end_in_simulated_time_ends_the_run(late: int, who: int) -> None:
    """T4: on a tie the end of the lower hart counts, even if the engine executes hart 1 first."""
    machine = line(links=FAR_APART)
    here, ahead = [Step(1000, Do.END, 1)], [Step(1000, Do.END, 1), Step(50000, Do.COMPUTE)]
    then = steps(machine, [here, [*ahead, Step(0, Do.END, 1)]])[1][2].begin
    plans = [[*here, Step(then - LEAD + 1 + late, Do.END)], [*ahead, Step(0, Do.END)]]
    with pytest.raises(GuestError, match=f"hart {who} trapped without a handler"):
        steps(machine, plans)


# ---- F5: no order between a pair -----------------------------------------------------------------


@pytest.mark.parametrize("late", NEAR)
def test_a_short_message_overtakes_a_long_one(late: int) -> None:
    """F5: a request that leaves B after a writeback arrives at H earlier, and is served first."""
    slow = 50
    machine = line(core=ONE_WAY, resolver={"service": slow * NS}, threads_per_core=2)
    put = 2000 + fetch(B) + slow - SERVICE  # leaves `l2_hit` later, as a request made then does
    ahead = way("data", B, H) - way("control", B, H)
    plans = [
        [],
        [],
        [at(1000, Do.AMO, 0), at(2000, Do.LOAD, 1)],
        [Step(1000, Do.NOTHING), at(put + ahead + late, Do.LOAD, 2)],
    ]
    span = steps(machine, plans, placement="siblings", stride=SET_STRIDE)[3][1]
    alone = fetch(B) + slow - SERVICE + LOAD
    assert span.cost == alone + (slow - late if late >= 0 else 0)


# ---- C3: early probes wait, others do not --------------------------------------------------------


@pytest.mark.parametrize("late", NEAR)
def test_an_early_probe_waits_for_the_grant(late: int) -> None:
    """C3: a resolver that has sent data to B sends the probe for H's request after them."""
    machine = line(resolver={"reply": "via", "unblock": "response"})
    seen = 2000 + taken(B, A) - way("data", A, B) + way("data", A, H)
    filled = seen + way("data", H, B)
    probed = filled + late
    asks = probed - way("snoop", H, B) - SERVICE - L2
    assert asks + L2 + SERVICE >= seen  # A need not wait for the transaction of B
    plans = [[at(1000, Do.AMO)], [at(2000, Do.AMO)], [at(asks, Do.AMO)]]
    span = steps(machine, plans)[2][0]
    done = filled + ATOMIC  # C4: the atomic that waited for the line comes first
    assert asks + span.cost == max(probed, done) + L2 + way("data", B, H) + ATOMIC


@pytest.mark.parametrize("late", NEAR)
def test_probe_that_is_not_early_does_not_wait(late: int) -> None:
    """C3: A is probed for B's upgrade just before or just after it sends an upgrade of its own."""
    invalidated = 3000 + L2 + way("control", B, H) + SERVICE + way("snoop", H, A)
    plans = [
        [at(1000, Do.LOAD), at(invalidated + late, Do.AMO)],
        [at(2000, Do.LOAD), at(3000, Do.AMO)],
    ]
    table, _ = logged(line(), guest("plan"), 2, **words(plans))
    left = (polars.col("request") - START * NS) / NS - L2
    second, first = (table.filter(left == t).row(0, named=True) for t in (invalidated + late, 3000))
    assert (first["op"], second["op"]) == ("Upg", "Upg" if late < 0 else "GetM")
    granted = invalidated + L2 + way("snoop", A, H) + way("control", H, B)
    assert first["data"] == (START + granted) * NS


# ---- C5: evictions -------------------------------------------------------------------------------


@pytest.mark.parametrize("late", [*NEAR, 30])
def test_client_answers_probes_of_a_line_that_it_is_writing_back(late: int) -> None:
    """C3, C5: B's probe arrives while A's eviction is pending, or before its Put is
    acknowledged.
    """
    evicted = 2000 + fetch(A)
    asks = evicted + late - (taken(B, A) - L2 - way("data", A, B))
    plans = [[at(1000, Do.AMO, 0), at(2000, Do.LOAD, 1)], [at(asks, Do.AMO, 0)]]
    span = steps(line(core=ONE_WAY), plans, stride=SET_STRIDE)[1][0]
    assert span.cost == taken(B, A) + ATOMIC


SLOW = 200  # ns of additional service, so that the core can request the line before the PutAck


@pytest.mark.parametrize("late", NEAR)
def test_core_requests_a_line_again_after_its_put_is_acknowledged(late: int) -> None:
    """C5: the Put of a dirty line leaves `l2_hit` after another line has replaced it; then the core
    waits for the PutAck.
    """
    machine = line(core=ONE_WAY, resolver={"service": (SERVICE + SLOW) * NS})
    put = 2000 + fetch(A) + SLOW + L2
    acknowledged = put + way("data", A, H) + SERVICE + SLOW + way("control", H, A)
    again = at(acknowledged + late, Do.LOAD, 0)
    plan = [at(1000, Do.AMO, 0), at(2000, Do.AMO, 1), again]
    span = steps(machine, [plan], stride=SET_STRIDE)[0][2]
    assert span.begin + 1 == acknowledged + late
    assert span.cost == max(-late, 0) + fetch(A) + SLOW + LOAD


def test_a_core_evicts_a_clean_line_silently() -> None:
    """C5: after the PutAck the core may ask for the line again at once."""
    machine = line(core=ONE_WAY, resolver={"service": (SERVICE + SLOW) * NS})
    evicted = 2000 + fetch(A) + SLOW
    plan = [at(1000, Do.LOAD, 0), at(2000, Do.LOAD, 1), at(evicted + 60, Do.LOAD, 0)]
    assert steps(machine, [plan], stride=SET_STRIDE)[0][2].cost == fetch(A) + SLOW + LOAD

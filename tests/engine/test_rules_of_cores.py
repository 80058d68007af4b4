"""Does each rule of docs/model.md on harts and cores (H, C) hold exactly?

The numbers are those of support/line.py. Every latency is a whole number of nanoseconds, so the
guest's clock is exact. The cost of a step is its time beyond that of one instruction.
"""

from __future__ import annotations

import polars
import pytest
from tests.support.line import NS, A, B, H, line, way
from tests.support.plans import LEAD, START, Do, Step, results, steps, words
from tests.support.rule_costs import ATOMIC, L2, LOAD, MISPREDICT, RESTART, SERVICE, fetch, taken
from tests.support.runs import guest, logged, point


def costs(*plan: Step, **machine: object) -> list[int]:
    """Runs the steps on a lone hart at A. Returns their costs."""
    return [span.cost for span in steps(line(**machine), [plan])[0]]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("do", "cost"),
    [
        (Do.NOTHING, 0),
        (Do.LOAD, LOAD),
        (Do.STORE, 0),
        (Do.AMO, ATOMIC),
        (Do.LR, ATOMIC),
        (Do.FENCE, 0),
        (Do.PAUSE, 7 - 1),
    ],
)
def test_instruction_that_hits_has_the_cost_of_rule_h1(do: Do, cost: int) -> None:
    assert costs(Step(1000, Do.AMO), Step(2000, do))[1] == cost


def test_an_sc_has_no_cost_of_its_own() -> None:
    """H1, C7: the cost of an LR includes that of its SC. An SC without a reservation fails at
    once.
    """
    assert costs(Step(1000, Do.LR), Step(2000, Do.SC), Step(3000, Do.SC))[1:] == [0, 0]


def test_a_hit_in_the_l2_adds_the_l2_lookup() -> None:
    """H1, A5: the L1 has one way, and three lines fall into the same set."""
    plan = [Step(1000 * (i + 1), Do.AMO, index) for i, index in enumerate((0, 1, 2))]
    plan += [Step(4000, Do.LOAD, 0), Step(5000, Do.AMO, 1)]
    machine = line(core={"l1_ways": 1})
    measured = [span.cost for span in steps(machine, [plan], stride=64 * 64)[0]]
    assert measured[3:] == [L2 + LOAD, L2 + ATOMIC]


def test_least_recently_used_line_is_evicted_from_each_level() -> None:
    """A5.2: the first line is used again, so the second one is evicted: in the first run from the
    L1, in the second from both levels.
    """
    plan = [Step(1000 * n, Do.LOAD, index) for n, index in enumerate([0, 1, 0, 2, 0, 1], 1)]
    first = steps(line(core={"l1_ways": 2}), [plan], stride=SAME_SET)[0]
    assert [span.cost for span in first[4:]] == [LOAD, L2 + LOAD]
    two_ways = {"l1_ways": 2, "l2_ways": 2}
    second = steps(line(core=two_ways), [plan], stride=SAME_SET)[0]
    assert [span.cost for span in second[4:]] == [LOAD, second[1].cost]


def test_a_loop_has_one_misprediction() -> None:
    """H2: backward branches start weakly taken, so only leaving the loop is mispredicted."""
    loop = 6  # instructions of the loop after the first one
    assert costs(Step(1000, Do.BRANCHES), Step(2000, Do.BRANCHES)) == [loop + 15] * 2


@pytest.mark.parametrize(("do", "end"), [(Do.LOAD, LOAD), (Do.AMO, ATOMIC), (Do.LR, ATOMIC)])
def test_request_of_a_miss_leaves_after_the_l2_lookup(do: Do, end: int) -> None:
    """H5: the miss takes request, service, memory and data; then the access itself is performed."""
    assert costs(Step(1000, do))[0] == fetch(A) + end


def test_a_hart_does_not_wait_for_its_stores() -> None:
    """H3: a store that misses costs one instruction. The buffer forwards to a load of the same
    bytes.
    """
    assert costs(Step(1000, Do.STORE))[0] == 0
    assert costs(Step(1000, Do.STORE_LOAD))[0] == 1 + LOAD


def test_load_that_a_store_covers_only_partly_waits_for_the_store() -> None:
    """H3: the load is performed when the store's line has arrived."""
    assert costs(Step(1000, Do.PIECE_LOAD))[0] == fetch(A) + LOAD


def test_load_does_not_wait_for_a_store_to_another_line() -> None:
    """H3: the load waits for the store that covers part of it, but not for a younger store whose
    line arrives later.
    """
    assert costs(Step(1000, Do.PIECE_OTHER_LOAD))[0] == fetch(A) + LOAD


@pytest.mark.parametrize("do", [Do.STORE_FENCE, Do.STORE_FENCE_WR])
def test_a_fence_that_orders_writes_before_reads_waits_for_the_store_buffer(do: Do) -> None:
    """H4: the store's request leaves at once, and the fence ends when the line arrives."""
    assert costs(Step(1000, do))[0] == fetch(A)


@pytest.mark.parametrize("do", [Do.STORE_FENCE_RR, Do.STORE_FENCE_WW, Do.STORE_FENCE_TSO])
def test_a_fence_without_write_to_read_order_does_not_wait_for_the_store_buffer(do: Do) -> None:
    """H4: other fences need not wait, because stores become visible in order without them."""
    assert costs(Step(1000, do))[0] == 1


@pytest.mark.parametrize(
    ("do", "cost"),
    [
        (Do.FENCE, 9),
        (Do.STORE_FENCE, fetch(A) + 9),
        (Do.STORE_FENCE_WR, fetch(A) + 9),
        (Do.STORE_FENCE_RR, 1),
        (Do.STORE_FENCE_WW, 1),
        (Do.STORE_FENCE_TSO, 1),
    ],
)
@pytest.mark.parametrize("order", ["tso", "weak"])
def test_time_of_a_fence_begins_when_the_store_buffer_is_empty(
    order: str, do: Do, cost: int
) -> None:
    """H1.6: after a store that misses, the fence's own time begins when the line arrives."""
    assert costs(Step(1000, do), core={"fence": 9 * NS, "order": order})[0] == cost


@pytest.mark.parametrize(
    ("do", "cost"), [(Do.AMO_FENCE, ATOMIC + 1), (Do.STORE_FENCE_TWICE, 9 + 2)]
)
def test_a_fence_with_nothing_to_order_costs_an_instruction(do: Do, cost: int) -> None:
    """H1.6: the fence follows an atomic or another fence, and the hart has the line."""
    plan = [Step(1000, Do.AMO), Step(2000, do)]
    assert costs(*plan, core={"fence": 9 * NS})[1] == cost


def test_load_hits_while_its_core_upgrades_the_line() -> None:
    """C1: two cores share the line. One core stores to the line, and loads another word of it while
    the upgrade is in flight.
    """
    plans = [[Step(1000, Do.LOAD), Step(5000, Do.STORE_LOAD_NEXT)], [Step(2000, Do.LOAD)]]
    assert steps(line(), plans)[0][1].cost == 1 + LOAD


@pytest.mark.parametrize(("entries", "cost"), [(3, 2), (2, fetch(A))])
def test_a_store_waits_for_a_free_entry_of_the_buffer(entries: int, cost: int) -> None:
    """H3: three stores miss. With two entries, the third store waits until the first is visible."""
    assert costs(Step(1000, Do.STORE_THRICE), core={"store_buffer": entries})[0] == cost


def test_only_the_oldest_store_requests_its_line() -> None:
    """H3: a fence after three stores waits for three fetches, one after another."""
    plan = [Step(1000, Do.STORE_THRICE), Step(1003, Do.FENCE)]
    store, fence = steps(line(), [plan])[0]
    first, further_fetches = store.begin + 1 + fetch(A), 2 * fetch(A)
    assert fence.begin + 1 + fence.cost == first + further_fetches


@pytest.mark.parametrize(
    ("first_steps", "request_ns"), [([], [0, 1, 2]), ([Step(500, Do.STORE, 1)], [0, 2])]
)
def test_younger_stores_prefetch_lines_that_their_core_may_not_write(
    first_steps: list[Step], request_ns: list[int]
) -> None:
    """H3.2: three stores follow each other at intervals of one ns. In the second case the core may
    already write the second line.
    """
    plan = [*first_steps, Step(1000, Do.STORE_THRICE)]
    log, _ = logged(line(core={"store_ahead": True}), guest("plan"), 1, **words([plan]))
    requests = log.filter(
        polars.col("request").is_between((START + 1000) * NS, (START + 1100) * NS)
    )
    assert requests["op"].to_list() == ["GetM"] * len(request_ns)
    assert (requests["request"] - requests["request"][0]).to_list() == [
        ns * NS for ns in request_ns
    ]


# ---- Harts that share a core ---------------------------------------------------------------------

# Do.COMPUTE: 200 instructions after the first one, and the misprediction at the loop's end
FULL_SPEED = 200 + 15
# each instruction takes two ns, including the one that reads the clock
HALF_SPEED = 2 * 202 + 15 - 2


def cost_beside(sibling: list[Step], *others: list[Step], pause: int = 7) -> int:
    """Returns the cost of COMPUTE at 1000 on hart 0, which runs at half speed while hart 1
    executes.
    """
    machine = line(core={"smt_share": 500, "pause": pause * NS}, threads_per_core=2)
    plans = [[Step(1000, Do.COMPUTE)], sibling, *others]
    return steps(machine, plans, placement="siblings")[0][0].cost


def test_a_hart_runs_at_its_smt_share_while_its_sibling_executes() -> None:
    """H6: a sibling that spins in a loop takes the same share as one that computes."""
    assert cost_beside([Step(900, Do.COMPUTE), Step(1300, Do.COMPUTE)]) == HALF_SPEED
    assert cost_beside([Step(500, Do.AWAIT, 9)], [Step(3000, Do.SET, 9)]) == HALF_SPEED


def test_sibling_in_wfi_leaves_the_core_to_the_other_hart() -> None:
    """H6: hart 1 sleeps in wfi until hart 2, on another core, wakes it."""
    assert cost_beside([Step(500, Do.SLEEP)], [Step(3000, Do.IPI, 1)]) == FULL_SPEED


@pytest.mark.parametrize(("at", "remaining_ns"), [(1100, 2), (1101, 1), (1102, 2)])
def test_sibling_that_waits_for_memory_leaves_the_core_to_the_other_hart(
    at: int, remaining_ns: int
) -> None:
    """H6: hart 0 runs at twice the speed from the sibling's access until the line arrives.

    An instruction that hart 0 has begun keeps its duration. If the instruction and the access begin
    at the same time, the instruction begins first.
    """
    assert cost_beside([Step(at, Do.LOAD, 5)]) == HALF_SPEED - (fetch(A) - remaining_ns)


# Time between two pauses of Do.AWAIT_PAUSING beside a hart that executes: a branch and a load that
# hits.
BETWEEN_PAUSES = 2 + 2 + LOAD


@pytest.mark.parametrize(
    ("pause", "cost"), [(BETWEEN_PAUSES + 1, FULL_SPEED), (BETWEEN_PAUSES, HALF_SPEED)]
)
def test_sibling_that_pauses_most_of_the_time_leaves_the_core_to_the_other_hart(
    pause: int, cost: int
) -> None:
    """H6.5: tries a loop whose pause is longer than its other instructions, and a loop whose pause
    is not.
    """
    awaits, sets = [Step(500, Do.AWAIT_PAUSING, 9)], [Step(3000, Do.SET, 9)]
    assert cost_beside(awaits, sets, pause=pause) == cost


@pytest.mark.parametrize(("pause", "longer"), [(20, 3), (41, 12)])
def test_a_hart_counts_as_pausing_from_its_second_pause_until_one_pause_length_after_it(
    pause: int, longer: int
) -> None:
    """H6.5: hart 0 runs at twice the speed from the start of hart 1's second pause until `pause` ns
    after the end of that pause. The instruction that hart 0 then executes still ends at this speed.
    """
    cost = cost_beside([Step(1040, Do.PAUSE_TWICE), Step(1400, Do.NOTHING)], pause=pause)
    assert HALF_SPEED - cost == 2 * pause + longer


@pytest.mark.parametrize("pause", [BETWEEN_PAUSES - 1, BETWEEN_PAUSES + 1])
@pytest.mark.parametrize("at", [1200, 1203])
def test_skipped_loop_with_pauses_changes_speed_like_an_executed_loop(at: int, pause: int) -> None:
    """H6.5, S1: like the next test, with loops that pause for more than half of their time, or for
    less.
    """
    waker = [Step(2000, Do.IPI, 0), Step(3000, Do.IPI, 1), Step(4000, Do.SET, 7)]
    plans = [[Step(1000, Do.AWAIT_PAUSING, 7)], [Step(at, Do.SLEEP)], waker]
    check_equal_with_and_without_sleeping(plans, pause)
    waiting_plans = [[Step(1000, Do.AWAIT_PAUSING, 7)], [Step(at, Do.AWAIT_PAUSING, 5)], waker]
    check_equal_with_and_without_sleeping(
        [*waiting_plans[:2], [*waker, Step(5000, Do.SET, 5)]], pause
    )


@pytest.mark.parametrize("at", range(1200, 1206))
def test_skipped_loop_changes_speed_like_an_executed_loop(at: int) -> None:
    """H6, S1: hart 0 waits in a loop while hart 1 falls asleep. The time at which hart 0 takes an
    IPI shows how far it has executed.
    """
    waker = [Step(2000, Do.IPI, 0), Step(3000, Do.IPI, 1), Step(4000, Do.SET, 7)]
    check_equal_with_and_without_sleeping([[Step(1000, Do.AWAIT, 7)], [Step(at, Do.SLEEP)], waker])


def check_equal_with_and_without_sleeping(plans: list[list[Step]], pause: int = 7) -> None:
    machine = line(core={"smt_share": 500, "pause": pause * NS}, threads_per_core=2)
    asleep, awake = (
        point(machine, guest("plan"), 3, {"sleep": sleep}, placement="siblings", **words(plans))
        for sleep in (True, False)
    )
    assert asleep == awake


# ---- Waiting until a reservation is lost (Zawrs) -------------------------------------------------

WAIT_FOR_WRITE = [Step(1000, Do.AWAIT_WRITE, 5)]


@pytest.mark.parametrize("at", [1150, 3000])
def test_wrs_ends_when_another_core_acquires_the_line(at: int) -> None:
    """C7.1: the wait ends when the probe arrives. At 1150 ns the LR's lock would still defer the
    probe (C6.2).
    """
    waiter, taker = steps(line(), [WAIT_FOR_WRITE, [Step(at, Do.STORE, 5)]])
    lost = taker[0].begin + 1 + L2 + way("control", B, H) + SERVICE + way("snoop", H, A)
    assert waiter[0].begin + 2 + waiter[0].cost == lost


def test_a_wrs_ends_when_a_sibling_writes_the_line() -> None:
    """C7.1: the wait ends when the sibling's store begins, 1 ns after the sibling has read the
    clock.
    """
    machine = line(threads_per_core=2)
    waiter, writer = steps(
        machine, [WAIT_FOR_WRITE, [Step(3000, Do.STORE, 5)]], placement="siblings"
    )
    assert waiter[0].begin + 2 + waiter[0].cost == writer[0].begin + 1


def test_wrs_that_need_not_wait_takes_one_instruction() -> None:
    """C7.1: an SC has already used the reservation, or an interrupt is pending."""
    assert costs(Step(1000, Do.AWAIT_NOTHING))[0] == ATOMIC + 2 + fetch(A)
    expired = [Step(1000, Do.EXPIRE), Step(2000, Do.AWAIT_WRITE_DOZING, 5)]
    assert costs(*expired)[1] == ATOMIC + 1 + fetch(A)


def test_an_interrupt_ends_a_wrs() -> None:
    """C7.1, I3: the handler begins at the same time as it would after a wfi."""
    ends = []
    for do in (Do.SLEEP, Do.AWAIT_WRITE):
        spans, taken_at = results(line(), [[Step(1000, do, 5)], [Step(3000, Do.IPI, 0)]])
        ends.append((spans[0][0].begin + spans[0][0].cost, taken_at[0]))
    assert ends[0] == ends[1]


def test_a_wrs_sto_lasts_at_most_as_long_as_a_pause() -> None:
    """C7.1: a wrs.sto ends after the time of a pause, or earlier if the line is written."""
    assert costs(Step(1000, Do.AWAIT_WRITE_SHORTLY))[0] == fetch(A) + ATOMIC + 7
    written = [Step(3000, Do.STORE, 5)]
    sto, nto = (
        steps(line(core={"pause": 3000 * NS}), [[Step(1000, do, 5)], written])[0]
        for do in (Do.AWAIT_WRITE_SHORTLY, Do.AWAIT_WRITE)
    )
    assert sto == nto


def test_sibling_in_wrs_leaves_the_core_to_the_other_hart() -> None:
    """H6.2, H6.5: hart 1 takes no share until hart 2, on another core, writes the line."""
    sets = [Step(3000, Do.SET, 9)]
    assert cost_beside([Step(500, Do.AWAIT_WRITE, 9)], sets) == FULL_SPEED
    assert cost_beside([Step(500, Do.AWAIT_WRITE_SHORTLY, 9)], sets, pause=3000) == FULL_SPEED


def test_the_store_buffer_is_divided_among_the_harts() -> None:
    """H3: in a buffer of four entries, each of two harts has two."""
    machine = line(core={"store_buffer": 4}, threads_per_core=2)
    span = steps(machine, [[Step(1000, Do.STORE_THRICE)], []], placement="siblings")[0][0]
    assert span.cost == fetch(A)


# ---- The client ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("do", "end"), [(Do.LOAD, LOAD), (Do.AMO, ATOMIC)])
def test_an_owner_answers_a_probe_after_its_l2_lookup(do: Do, end: int) -> None:
    """C2, R4: the owner looks up its L2; then the data go straight to the requester."""
    plans = [[Step(1000, Do.AMO)], [Step(2000, do)]]
    assert steps(line(), plans)[1][0].cost == taken(B, A) + end


@pytest.mark.parametrize("late", [-1, 0, 1, 40])
@pytest.mark.parametrize("do", [Do.LOAD, Do.AMO])
def test_line_acquired_for_a_write_stays_until_the_end_of_the_hold(do: Do, late: int) -> None:
    """C4: the probe arrives `late` ns before the end of the hold (negative: after it), and waits
    only until then.
    """
    first, second = 1000, 1090  # the second request is sent after the first one has completed
    acquired = first + LEAD + fetch(A)
    probed = second + LEAD + taken(B, A) - L2 - way("data", A, B)
    plans = [[Step(first, Do.AMO)], [Step(second, do)]]
    span = steps(line(core={"hold": (probed - acquired + late) * NS}), plans)[1][0]
    end = LOAD if do == Do.LOAD else ATOMIC
    assert span.cost == taken(B, A) + max(late, 0) + end


def test_a_line_that_was_only_read_is_not_held() -> None:
    """C4: the core gives up an exclusive copy at once if it was granted to a load."""
    plans = [[Step(1000, Do.LOAD)], [Step(2000, Do.AMO)]]
    span = steps(line(core={"hold": 5000 * NS}), plans)[1][0]
    assert span.cost == taken(B, A) + ATOMIC


# longest lock of an LR: the LR itself, 64 instructions and a misprediction
LOCKED = ATOMIC + 64 + 15


@pytest.mark.parametrize(
    ("do", "ends"),
    [
        (Do.ATTEMPT, ATOMIC + 21),
        (Do.LONG_ATTEMPT, LOCKED),
        (Do.AWAY, ATOMIC + 21),
        (Do.ANEW, ATOMIC + 21),
    ],
)
@pytest.mark.parametrize("late", [-30, -1, 0])
def test_probe_waits_for_the_atomic_that_acquired_the_line(do: Do, ends: int, late: int) -> None:
    """C4, C6: the probe arrives `late` ns after the end of the atomic that began when the line
    arrived.

    A lock that expires ends at its time. A lock that an instruction ends lasts a picosecond longer.
    """
    acquired = 1000 + LEAD + fetch(A)
    requested = acquired + ends + late - (taken(B, A) - L2 - way("data", A, B))
    plans = [[Step(1000, do)], [Step(requested - LEAD, Do.AMO)]]
    span = steps(line(), plans)[1][0]
    assert span.cost == taken(B, A) + max(-late, 0) + ATOMIC


@pytest.mark.parametrize(
    ("do", "ends"), [(Do.AMO, ATOMIC), (Do.ATTEMPT, ATOMIC + 21), (Do.LONG_ATTEMPT, LOCKED)]
)
@pytest.mark.parametrize("begin_ns", [490, 499, 500])
def test_access_begun_during_a_hold_completes_before_the_line_leaves(
    do: Do, ends: int, begin_ns: int
) -> None:
    """C4: B's probe arrives 2 ns before the end of A's hold of 500 ns. A's second atomic begins
    shortly before that end.
    """
    acquired = 1000 + LEAD + fetch(A)
    requested = acquired + 498 - (taken(B, A) - L2 - way("data", A, B))
    plans = [
        [Step(1000, Do.AMO), Step(acquired + begin_ns - LEAD, do)],
        [Step(requested - LEAD, Do.AMO)],
    ]
    span = steps(line(core={"hold": 500 * NS}), plans)[1][0]
    hold_end = 500 if begin_ns >= 500 else max(500, begin_ns + ends)
    assert span.cost == taken(B, A) + hold_end - 498 + ATOMIC


@pytest.mark.parametrize(
    ("do", "ends"), [(Do.AMO, ATOMIC), (Do.ATTEMPT, ATOMIC + 21), (Do.LONG_ATTEMPT, LOCKED)]
)
@pytest.mark.parametrize("late", [-10, -1, 0])
def test_probe_waits_for_an_atomic_that_has_locked_the_line(do: Do, ends: int, late: int) -> None:
    """C4.1: A got the line long ago. B's probe arrives `late` ns after the end of A's second
    atomic.
    """
    requested = 3000 + LEAD + ends + late - (taken(B, A) - L2 - way("data", A, B))
    plans = [[Step(1000, Do.AMO), Step(3000, do)], [Step(requested - LEAD, Do.AMO)]]
    span = steps(line(), plans)[1][0]
    assert span.cost == taken(B, A) + max(-late, 0) + ATOMIC


@pytest.mark.parametrize(("taken_between", "failed"), [(False, 2), (True, 3)])
def test_scs_that_fail_are_counted(taken_between: bool, failed: int) -> None:
    """C7: two SCs without an LR fail. If B stores to the line between the LR and its SC, this SC
    fails, too.
    """
    plan = [Step(1000, Do.SC), Step(2000, Do.LR), Step(4000, Do.SC), Step(5000, Do.SC)]
    plans = [plan, [Step(3000, Do.STORE, 0 if taken_between else 1)]]
    assert point(line(), guest("plan"), 2, **words(plans))["failed_scs"] == failed


@pytest.mark.parametrize("do", [Do.AMO, Do.ATTEMPT])
@pytest.mark.parametrize("later", [0, 1, ATOMIC - 1, ATOMIC])
def test_a_core_performs_one_atomic_at_a_time_on_a_line(do: Do, later: int) -> None:
    """C6: hart 1's atomic finds the line locked by hart 0, waits until the lock ends, and starts
    again.
    """
    plans = [
        [Step(1000, Do.AMO), Step(3000, do)],
        [Step(3000 + later, Do.AMO), Step(4000, Do.AMO, 1)],
    ]
    machine = line(threads_per_core=2)
    first, second = steps(machine, plans, placement="siblings")
    # the SC is the last instruction of the attempt
    ends = first[1].cost if do == Do.ATTEMPT else ATOMIC
    waits = max(ends - later, 0)
    assert second[0].cost == waits + (RESTART if waits else 0) + ATOMIC


def cost_of_second_load(do: Do, write: Do, index: int, later: int, *others: list[Step]) -> int:
    """Returns the cost of hart 0's step `do`, which loads a line twice. The sibling writes a line
    that the core owns `later` ns after the step begins.
    """
    warm = [Step(1000, Do.AMO), Step(2000, Do.AMO, 9), Step(2500, Do.LOAD, 1)]
    plans = [[*warm, Step(4000, do)], [Step(4000 + later, write, index)], *others]
    return steps(line(threads_per_core=2), plans, placement="siblings")[0][3].cost


WITHIN, BEFORE, AFTER = 50, -100, 900  # ns after the start of a step that executes 300 nops


@pytest.mark.parametrize("write", [Do.STORE, Do.AMO, Do.ATTEMPT])
@pytest.mark.parametrize(("later", "longer"), [(WITHIN, MISPREDICT), (BEFORE, 0), (AFTER, 0)])
def test_second_load_of_a_line_is_redone_if_a_sibling_wrote_it_in_between(
    write: Do, later: int, longer: int
) -> None:
    """C10: the load costs nothing more if the sibling writes another line, or writes before or
    after both loads.
    """
    same_line, other_line = (
        cost_of_second_load(Do.LOOK_AGAIN, write, index, later) for index in (0, 9)
    )
    assert same_line == other_line + longer


@pytest.mark.parametrize(
    ("do", "longer"),
    [
        (Do.LOOK_LOCK_LOOK, 0),
        (Do.LOOK_RESERVE_LOOK, 0),
        (Do.LOOK_ELSEWHERE, 0),
        (Do.LOOK_STORE_LOOK, MISPREDICT),
    ],
)
def test_second_load_is_redone_only_if_no_atomic_or_other_load_is_in_between(
    do: Do, longer: int
) -> None:
    """C10: a store by the hart itself between the loads makes no difference."""
    same_line, other_line = (cost_of_second_load(do, Do.STORE, index, WITHIN) for index in (0, 9))
    assert same_line == other_line + longer


@pytest.mark.parametrize(("reader", "writer"), [(0, 1), (0, 3), (3, 0), (2, 1), (1, 3)])
def test_any_hart_of_a_core_redoes_a_load_after_a_siblings_write(reader: int, writer: int) -> None:
    """C10: tries several pairs of the four harts as reader and writer. The other two harts rest."""
    warm = [Step(1000, Do.AMO), Step(2000, Do.AMO, 9), Step(2500, Do.LOAD, 1)]

    def cost(index: int) -> int:
        plans: list[list[Step]] = [[], [], [], []]
        plans[reader] = [*warm, Step(4000, Do.LOOK_AGAIN)]
        plans[writer] = [Step(4000 + WITHIN, Do.STORE, index)]
        return steps(line(threads_per_core=4), plans, placement="siblings")[reader][3].cost

    assert cost(0) == cost(9) + MISPREDICT


@pytest.mark.parametrize("do", [Do.STORE, Do.LR])
def test_load_during_a_siblings_upgrade_hits_and_is_not_redone(do: Do) -> None:
    """C1, C10.2: another core shares the line, so the sibling cannot have written it yet."""
    reading = [[Step(3500, Do.LOAD)]]
    expected = cost_of_second_load(Do.LOOK_AGAIN, Do.NOTHING, 0, 250, *reading)
    assert cost_of_second_load(Do.LOOK_AGAIN, do, 0, 250, *reading) == expected


def test_load_of_a_line_lost_and_regained_is_not_redone() -> None:
    """C10.1: B takes the line. The sibling gets it back and writes it before the second load, which
    hits.
    """
    taking = [[Step(4010, Do.AMO)]]
    written, read = (
        cost_of_second_load(Do.LOOK_LONG, do, 0, 200, *taking) for do in (Do.STORE, Do.LOAD)
    )
    assert written == read


def test_load_whose_line_was_invalidated_is_not_redone() -> None:
    """C10: the load has only the cost of a miss."""
    taking = [[Step(4060, Do.AMO)]]
    same_line, other_line = (
        cost_of_second_load(Do.LOOK_AGAIN, Do.STORE, index, WITHIN, *taking) for index in (0, 9)
    )
    assert same_line == other_line > cost_of_second_load(Do.LOOK_AGAIN, Do.STORE, 0, WITHIN)


def test_an_atomic_does_not_wait_for_a_lock_of_another_line() -> None:
    """C6: the harts of a core add to two lines at the same time."""
    warm = [Step(1000, Do.AMO), Step(2000, Do.AMO, 1)]
    plans = [[*warm, Step(4000, Do.AMO)], [Step(4000, Do.AMO, 1)]]
    first, second = steps(line(threads_per_core=2), plans, placement="siblings")
    assert first[2].cost == second[0].cost == ATOMIC


ONE_WAY = {"l1_ways": 1, "l2_sets": 1024, "l2_ways": 1}  # caches with one line per set
SAME_SET = 1024 * 64  # distance in bytes of lines that share a set


@pytest.mark.parametrize("lr_exclusive", [True, False])
def test_an_eviction_ends_a_reservation(lr_exclusive: bool) -> None:
    """C7: the SC fails at once, without a request for the line."""
    machine = line(core=ONE_WAY | {"lr_exclusive": lr_exclusive})
    plan = [Step(1000, Do.LR), Step(2000, Do.LOAD, 1), Step(3000, Do.SC)]
    assert steps(machine, [plan], stride=SAME_SET)[0][2].cost == 0


@pytest.mark.parametrize("lr_exclusive", [True, False])
def test_invalidation_of_the_copy_ends_a_reservation(lr_exclusive: bool) -> None:
    """C7: the SC fails at once, without a request for the line."""
    plans = [[Step(1000, Do.LR), Step(3000, Do.SC)], [Step(2000, Do.STORE)]]
    assert steps(line(core={"lr_exclusive": lr_exclusive}), plans)[0][1].cost == 0


@pytest.mark.parametrize("writes", [False, True])
def test_a_sibling_that_writes_the_line_ends_a_reservation(writes: bool) -> None:
    """C7: the line is no longer in the L1, so an SC that succeeds takes an L2 lookup. An SC that
    fails takes no time.
    """
    machine = line(threads_per_core=2, core={"l1_ways": 1})
    attempt = [Step(1000, Do.LR), Step(3000, Do.LOAD, 1), Step(4000, Do.SC)]
    plans = [attempt, [Step(2000, Do.STORE)] if writes else []]
    sc = steps(machine, plans, placement="siblings", stride=64 * 64)[0][2]
    assert sc.cost == (0 if writes else L2)


@pytest.mark.parametrize("trap", [False, True])
def test_a_trap_ends_a_reservation(trap: bool) -> None:
    """C7: after the SC the line is evicted. It is written back only if the SC has written it."""
    machine = line(core=ONE_WAY | {"lr_exclusive": False})
    attempt = [Step(1000, Do.LR), Step(3000, Do.SC), Step(4000, Do.LOAD, 1)]
    plans = [attempt, [Step(2000, Do.IPI, 0)] if trap else []]
    table, _ = logged(machine, guest("plan"), 2, **words(plans), stride=SAME_SET)
    own_records = table.filter(
        (polars.col("requester") == 0) & (polars.col("request") >= START * NS)
    )
    at_eviction = polars.col("request").is_between((START + 4000) * NS, (START + 4500) * NS)
    writebacks = (polars.col("line") == own_records["line"][0]) & (polars.col("op") == "Put")
    assert own_records.filter(writebacks & at_eviction).height == (0 if trap else 1)


@pytest.mark.parametrize("lr_exclusive", [True, False])
def test_an_lr_that_only_reads_leaves_its_line_clean(lr_exclusive: bool) -> None:
    """C1: an LR leaves its line clean even if no other core has a copy. Only dirty lines are
    written back.
    """
    machine = line(core=ONE_WAY | {"lr_exclusive": lr_exclusive})
    plan = [Step(1000, Do.LOAD), Step(2000, Do.LR), Step(4000, Do.LOAD, 1)]
    table, _ = logged(machine, guest("plan"), 1, **words([plan]), stride=SAME_SET)
    own_records = table.filter(polars.col("request") >= START * NS)
    puts = own_records.filter(
        (polars.col("line") == own_records["line"][0]) & (polars.col("op") == "Put")
    )
    assert puts.height == (1 if lr_exclusive else 0)


def test_an_upgrade_is_granted_without_data() -> None:
    """C1: one sharer writes. The other sharer is invalidated and answers the resolver, which grants
    the right.
    """
    plans = [[Step(1000, Do.LOAD), Step(3000, Do.AMO)], [Step(2000, Do.LOAD)]]
    invalidated = way("snoop", H, B) + L2 + way("snoop", B, H)
    decision = L2 + way("control", A, H) + SERVICE
    cost = decision + invalidated + way("control", H, A) + ATOMIC
    assert steps(line(), plans)[0][1].cost == cost


FAR = {"core": {"far_atomics": True}, "resolver": {"data": "victim", "data_sets": 64,
       "data_ways": 8, "data_hit": 21 * NS}}  # fmt: skip
TO_RESOLVER = L2 + way("control", B, H) + SERVICE  # ns until the resolver has served B's request


def test_a_far_atomic_is_performed_at_the_resolver() -> None:
    """C8: the owner sends the data to the resolver, which performs this atomic and the next
    ones.
    """
    plans = [[Step(1000, Do.STORE)], [Step(2000, Do.AMO), Step(3000, Do.AMO)]]
    first, second = steps(line(**FAR), plans)[1]  # type: ignore[arg-type]
    owner_data = way("snoop", H, A) + L2 + way("data", A, H)
    assert first.cost == TO_RESOLVER + 21 + owner_data + way("control", H, B)
    assert second.cost == TO_RESOLVER + 21 + way("control", H, B)


def test_an_atomic_is_performed_in_the_core_if_only_that_core_has_the_line() -> None:
    """C8: the core has the line alone after a store, and after a load that was granted E."""
    for do in (Do.STORE, Do.LOAD):
        assert costs(Step(1000, do), Step(2000, Do.AMO), **FAR)[1] == ATOMIC


@pytest.mark.parametrize("later", [1, SERVICE + 20, SERVICE + 21, SERVICE + 22])
def test_a_slice_serves_far_atomics_one_at_a_time(later: int) -> None:
    """C8, R1: A's request arrives `later` ns after B's, and waits until B's has been served and has
    accessed the data.
    """
    head_start = way("control", B, H) - way("control", A, H)
    plans = [[Step(2000 + head_start + later, Do.AMO)], [Step(2000, Do.AMO)], [Step(1000, Do.AMO)]]
    spans = steps(line(**FAR), plans)  # type: ignore[arg-type]
    expected = L2 + way("control", A, H) + SERVICE + 21 + way("control", H, A)
    assert spans[1][0].cost == TO_RESOLVER + 21 + way("control", H, B)
    assert spans[0][0].cost == expected + max(SERVICE + 21 - later, 0)


def test_hart_does_not_wait_for_a_far_atomic_whose_result_is_unused() -> None:
    """C8: AMOs whose results are unused wait in the store buffer. Several requests for one line can
    be in flight at the same time.
    """
    plans = [[Step(1000, Do.LOAD)], [Step(2000, Do.POST), Step(2001, Do.FENCE)]]
    plans[1] += [Step(3000, Do.POST_THRICE), Step(3001, Do.FENCE)]
    post, fence, thrice, last = steps(line(**FAR), plans)[1]  # type: ignore[arg-type]
    assert (post.cost, thrice.cost) == (0, 2)
    performed = TO_RESOLVER + 21 + way("control", H, B)
    assert last.begin + 1 + last.cost == thrice.begin + 1 + performed + 2 * (SERVICE + 21)
    assert fence.begin + fence.cost > post.begin + performed


@pytest.mark.parametrize(("do", "cost"), [(Do.POST, 0), (Do.AMO, None)])
def test_a_load_waits_for_an_earlier_posted_atomic_on_its_bytes(do: Do, cost: int | None) -> None:
    """C8, H3: the load waits because the result of the AMO is not known yet."""
    plans = [[], [Step(2000, do), Step(2001, Do.LOAD)]]
    first, load = steps(line(**FAR), plans)[1]  # type: ignore[arg-type]
    assert cost is None or first.cost == cost
    assert load.begin + load.cost > 2000 + fetch(B) - 21


ALWAYS_FAR = FAR | {"core": {"far_atomics": True, "far_owned": True}}
# ns from the probe until B's copy is at H
COPY_TO_RESOLVER = way("snoop", H, B) + L2 + way("data", B, H)


@pytest.mark.parametrize("do", [Do.STORE, Do.LOAD])
def test_always_far_atomic_takes_the_copy_of_its_own_core(do: Do) -> None:
    """C8.9: B has the line, dirty or clean. After B's first atomic the line is at the resolver."""
    plans = [[], [Step(1000, do), Step(2000, Do.AMO), Step(3000, Do.AMO)]]
    _, first, second = steps(line(**ALWAYS_FAR), plans)[1]  # type: ignore[arg-type]
    assert first.cost == TO_RESOLVER + 21 + COPY_TO_RESOLVER + way("control", H, B)
    assert second.cost == TO_RESOLVER + 21 + way("control", H, B)


@pytest.mark.parametrize("late", [-1, 0, 30])
def test_always_far_atomic_waits_for_the_hold_of_its_own_core(late: int) -> None:
    """C8.9, C4: the probe for the AMO arrives at its own core `late` ns before the end of the
    hold.
    """
    begin = LEAD + fetch(B)
    hold = 3000 - 1000 - begin + LEAD + TO_RESOLVER + 21 + way("snoop", H, B) + late
    machine = ALWAYS_FAR | {"core": {"far_atomics": True, "far_owned": True, "hold": hold * NS}}
    plans = [[], [Step(1000, Do.STORE), Step(3000, Do.AMO)]]
    span = steps(line(**machine), plans)[1][1]  # type: ignore[arg-type]
    assert span.cost == TO_RESOLVER + 21 + COPY_TO_RESOLVER + way("control", H, B) + max(late, 0)


def test_posted_always_far_atomic_follows_an_earlier_store_of_its_core() -> None:
    """C8.5, C8.9: the hart continues. A fence waits until the core has given up its copy and the
    AMO is done.
    """
    plans = [[], [Step(t, do) for t in (1000, 3000) for do in (Do.STORE, Do.FENCE)]]
    plans[1] += [Step(4000, Do.POST), Step(4001, Do.FENCE)]
    *_, post, fence = steps(line(**ALWAYS_FAR), plans)[1]  # type: ignore[arg-type]
    assert post.cost == 0
    performed = TO_RESOLVER + 21 + COPY_TO_RESOLVER + way("control", H, B)
    assert fence.begin + 1 + fence.cost == post.begin + 1 + performed


@pytest.mark.parametrize("do", [Do.ATTEMPT, Do.LONG_ATTEMPT])
def test_far_atomic_leaves_while_its_core_has_locked_the_line(do: Do) -> None:
    """C8.10: a sibling's LR has locked the line. The AMO leaves at once, and its probe waits for
    the lock.
    """
    plans = [[Step(1000, Do.STORE), Step(3000, do)], [Step(3001, Do.AMO)]]
    home = way("control", A, H)
    machine = line(threads_per_core=2, **ALWAYS_FAR)  # type: ignore[arg-type]
    _, second = steps(machine, plans, placement="siblings")
    arrives = 3001 + LEAD + L2 + home + SERVICE + 21 + way("snoop", H, A)
    free = 3000 + LEAD + (ATOMIC + 21 if do == Do.ATTEMPT else LOCKED)
    expected = L2 + home + SERVICE + 21 + way("snoop", H, A) + L2 + way("data", A, H) + home
    assert second[0].cost == expected + max(0, free - arrives)


def test_far_atomic_waits_for_a_line_that_is_in_flight_to_its_core() -> None:
    """C8.10: a sibling requested the line 10 ns before. The atomic takes the copy from the core
    when it has arrived.
    """
    plans = [[Step(1000, Do.LOAD)], [Step(1010, Do.AMO)]]
    machine = line(threads_per_core=2, **ALWAYS_FAR)  # type: ignore[arg-type]
    first, second = steps(machine, plans, placement="siblings")
    copy_to_resolver = way("snoop", H, A) + L2 + way("data", A, H)
    far = L2 + way("control", A, H) + SERVICE + 21 + copy_to_resolver + way("control", H, A)
    assert (first[0].cost, second[0].cost) == (fetch(A) + LOAD, fetch(A) - 10 + far)


@pytest.mark.parametrize("at", range(9000, 9010))
def test_skipped_loop_ends_like_an_executed_loop(at: int) -> None:
    """S1: a lone hart waits in a loop. The probe arrives at each possible point of an iteration."""
    plans = [[Step(1000, Do.AWAIT, 3)], [Step(at, Do.SET, 3)]]
    asleep, awake = (
        point(line(), guest("plan"), 2, {"sleep": sleep}, **words(plans)) for sleep in (True, False)
    )
    assert asleep == awake

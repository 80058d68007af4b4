"""Does each rule of docs/model.md on resolvers, fabric, memory and interrupts (R, F, M, J, I) hold?

Machines are small, all latencies are whole nanoseconds, and expectations are exact, as in
test_rules_of_cores.py.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import polars
import pytest
from tests.engine.test_rules_of_chance import draw, mix
from tests.support.least import least
from tests.support.line import HOME, KEPT, NS, A, B, H, line, way, wires
from tests.support.plans import LEAD, START, Do, Span, Step, at, results, steps, words
from tests.support.rule_costs import ATOMIC, L2, LOAD, MEMORY, SERVICE, fetch
from tests.support.runs import guest, job, logged, point

from uncore.engine import native
from uncore.topology import load
from uncore.topology.load import shipped
from uncore.topology.machine import Chance, Link, Machine
from uncore.topology.route import MESSAGE_KINDS, Routes

# ---- R: the resolver -----------------------------------------------------------------------------


def arrival(begin: int, stop: int) -> int:
    """Returns the time at which the request of a miss that begins at `begin` reaches the
    resolver.
    """
    return begin + L2 + way("control", stop, H)


@pytest.mark.parametrize("later", [0, 1, 5, 6, 7])
def test_a_slice_serves_requests_one_at_a_time(later: int) -> None:
    """R1: the second request, `later` ns after the first, waits until the first has been served."""
    head_start = way("control", B, H) - way("control", A, H)
    # If both arrive at the same time, the lower line is served first (T2).
    plans = [[Step(1000 + head_start + later, Do.LOAD, 1)], [Step(1000, Do.LOAD, 0)]]
    spans = steps(line(), plans)
    assert spans[1][0].cost == fetch(B) + LOAD
    assert spans[0][0].cost == fetch(A) + LOAD + max(SERVICE - later, 0)


@pytest.mark.parametrize("reply", ["direct", "via"])
@pytest.mark.parametrize("unblock", ["completion", "response"])
def test_keys_reply_and_unblock_determine_a_transfer_between_owners(
    reply: str, unblock: str
) -> None:
    """R4, R5: A owns the line. B requests it, and then H does while B's transaction is open.

    With `direct` the data take the link from A to B. With `response` the transaction closes when
    the owner's answer arrives at H, with `completion` when B's Unblock does.
    """
    plans = [[Step(1000, Do.AMO)], [Step(2000, Do.AMO)], [Step(2035, Do.AMO)]]
    spans = steps(line(resolver={"reply": reply, "unblock": unblock}), plans)
    first, second = spans[1][0], spans[2][0]
    answered = arrival(first.begin + 1, B) + SERVICE + way("snoop", H, A) + L2
    if reply == "direct":
        answer_at_h, filled = answered + way("snoop", A, H), answered + way("data", A, B)
    else:
        answer_at_h = answered + way("data", A, H)
        filled = answer_at_h + way("data", H, B)
    assert first.begin + 1 + first.cost == filled + ATOMIC
    closed = answer_at_h if unblock == "response" else filled + way("snoop", B, H)
    atomic_end = filled + ATOMIC  # C4: the atomic that waited for the line is performed first
    probed = max(closed + way("snoop", H, B), atomic_end)
    assert second.begin + 1 + second.cost == probed + L2 + way("data", B, H) + ATOMIC


@pytest.mark.parametrize("early", [30, 1, 0, -30])
def test_completion_takes_effect_later_by_key_turn_if_a_request_waits_for_the_line(
    early: int,
) -> None:
    """R5.3: H's request is served `early` ns before B's completion arrives (negative: after it)."""
    turn, b_requests = 90, 2000 + LEAD
    answered = arrival(b_requests, B) + SERVICE + way("snoop", H, A) + L2
    completed = answered + way("data", A, B) + way("snoop", B, H)
    h_requests = completed - early - SERVICE - arrival(0, H)
    plans = [[Step(1000, Do.AMO)], [at(b_requests, Do.AMO)], [at(h_requests, Do.AMO)]]
    span = steps(line(resolver={"turn": turn * NS}), plans)[2][0]
    closed = completed + turn if early > 0 else completed - early
    assert h_requests + span.cost == closed + way("snoop", H, B) + L2 + way("data", B, H) + ATOMIC


def test_a_resolver_grants_shared_copies_concurrently() -> None:
    """R5: H's request arrives before B's completion and need not wait for it. In MSI all readers
    share the line.
    """
    plans = [[Step(1000, Do.LOAD)], [Step(2000, Do.LOAD)], [Step(2026, Do.LOAD)]]
    spans = steps(line(resolver=KEPT, protocol="msi"), plans)
    decision = L2 + SERVICE + 21
    assert spans[1][0].cost == decision + way("control", B, H) + way("data", H, B) + LOAD
    assert spans[2][0].cost == decision + LOAD


def test_a_level_sends_its_own_data_after_the_time_of_key_data_hit() -> None:
    """R6, R7: the level's data serve the second reader, `data_hit` after the decision."""
    plans = [[Step(1000, Do.LOAD)], [Step(2000, Do.LOAD)], [Step(3000, Do.LOAD)]]
    spans = steps(line(resolver=KEPT), plans)
    decision = L2 + way("control", H, H) + SERVICE + 21 + way("data", H, H)
    assert spans[2][0].cost == decision + LOAD


def test_snooping_resolver_waits_for_every_child_before_reading_memory() -> None:
    """R3: no child has the line, but memory is read only after the farthest child has answered."""
    span = steps(line(resolver={"knows": "snoop"}), [[Step(1000, Do.LOAD)]])[0][0]
    farthest_answer = way("snoop", H, B) + L2 + way("snoop", B, H)
    assert span.cost == fetch(A) + farthest_answer + LOAD


def test_a_full_directory_set_recalls_the_line_of_its_only_entry() -> None:
    """R8: the directory has 64 sets of one entry, and two lines fall into one set. The owner of the
    first line loses it, and the line is written back.
    """
    plans = [
        [Step(1000, Do.AMO, 0), Step(1500, Do.LOAD, 0), Step(3000, Do.LOAD, 0)],
        [Step(2000, Do.LOAD, 1)],
    ]
    spans = steps(line(resolver={"entries": 64, "ways": 1}), plans, stride=64 * 64)
    assert [span.cost for span in spans[0][1:]] == [LOAD, fetch(A) + LOAD]


@pytest.mark.parametrize(("line_index", "recalled"), [(0, True), (1, False)])
def test_full_directory_set_recalls_one_line_per_new_line(line_index: int, recalled: bool) -> None:
    """R8: the older of two lines is recalled. The answer of its owner does not cause the other line
    to be recalled.
    """
    plans = [
        [Step(1000, Do.AMO, 0), Step(1500, Do.AMO, 1), Step(3000, Do.LOAD, line_index)],
        [Step(2000, Do.LOAD, 2)],
    ]
    spans = steps(line(resolver={"entries": 64, "ways": 2}), plans, stride=32 * 64)
    assert spans[0][2].cost == (fetch(A) + LOAD if recalled else LOAD)


# ---- J: a join -----------------------------------------------------------------------------------


HOLD = 300  # ns


def two_levels(grants: int, grants_until: int = 0) -> Machine:
    """Returns a machine with cores 0 to 2 below a join at H and core 3 beside the join. The root is
    at H, too.
    """
    join = dataclasses.replace(
        HOME, name="join", level="ccx", knows="shadow-tags", children=(0, 1, 2), parents=(5,),
        unblock="response", grants=grants, grants_until=grants_until,
        data="victim", data_sets=64, data_ways=8,
    )  # fmt: skip
    root = dataclasses.replace(HOME, children=(4, 3))
    return line(
        core={"hold": HOLD * NS},
        core_stops=(A, B, H, B),
        levels=("ccx", "core", "thread"),
        shape=((0, 0), (0, 1), (0, 2), (1, 3)),
        resolvers=(join, root),
    )


# While core 1 waits for the end of core 0's hold, core 2, core 3 outside the join, and core 0 send
# requests.
CONTENDED_PLANS = [
    # core 0's second request comes while core 1 holds the line
    [Step(1000, Do.AMO), Step(1500, Do.AMO)],
    [Step(1130, Do.AMO)],
    [Step(1180, Do.AMO)],
    [Step(1190, Do.AMO)],
]


def completion_order(spans: list[list[Span]]) -> list[int]:
    """Returns the cores in the order in which their last steps ended."""
    return sorted(range(4), key=lambda hart: spans[hart][-1].begin + spans[hart][-1].cost)


@pytest.mark.parametrize(("grants", "order"), [(1, [1, 2, 3, 0]), (2, [1, 2, 0, 3])])
def test_key_grants_limits_the_children_that_get_a_line_before_a_probe_from_above(
    grants: int, order: list[int]
) -> None:
    """J2, J3: `grants` limits the number of waiting children that get the line first."""
    assert completion_order(steps(two_levels(grants), CONTENDED_PLANS)) == order


@pytest.mark.parametrize(("offset_ps", "order"), [(0, [1, 3, 2, 0]), (1, [1, 2, 3, 0])])
def test_join_serves_its_children_until_a_request_from_outside_has_the_age_grants_until(
    offset_ps: int, order: list[int]
) -> None:
    """J3: core 3's request is `offset_ps` younger than `grants_until` when core 2 could be served.
    If it is younger, core 2 is served before core 3.
    """
    first, _, _, outer = steps(two_levels(0), CONTENDED_PLANS)
    handed = first[0].begin + first[0].cost - ATOMIC + HOLD + L2 + way("snoop", A, H)
    age = handed - (outer[0].begin + L2)
    assert completion_order(steps(two_levels(0, age * NS + offset_ps), CONTENDED_PLANS)) == order


# ---- F: the fabric -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*shipped(), "bus:9", "ring:13", "mesh:5x3", "ccx:5x3"])
def test_a_message_takes_the_route_of_least_control_latency(name: str) -> None:
    """F1, F2: compares the latency of each kind of message between any two stops with that of
    route.py.
    """
    machine = load(name)
    engine = native.start(job(machine, "counter/atomic", 1))
    routes, stops = Routes(machine), len(machine.stops)
    # on a large machine, tries every `stride`-th pair of stops
    stride = max(1, stops * stops // 2000)
    for pair in range(0, stops * stops, stride):
        source, target = divmod(pair, stops)
        for kind in MESSAGE_KINDS:
            expected = routes.message(kind, source, target)
            assert engine.latency(kind, source, target) == expected, (kind, source, target)


X, Y = 3, 4  # stops between A and H
DATA_LATENCY = {X: 14, Y: 18}  # ns that data take by way of X or Y; other messages take 10 ns


def forked(hashed: bool) -> Machine:
    """Returns a machine with two equal routes between A and H."""
    ends = [
        (a, b)
        for middle in DATA_LATENCY
        for pair in ((A, middle), (middle, H))
        for a, b in (pair, pair[::-1])
    ]
    forked_links = [
        least(
            Link, source=a, target=b, control=5 * NS, data=DATA_LATENCY[max(a, b)] * NS // 2,
            snoop=5 * NS, channel=-1, level="system",
        )
        for a, b in ends
    ]  # fmt: skip
    links_to_b = [link for link in wires() if {link.source, link.target} == {H, B}]
    stops = ("A", "H", "B", "X", "Y")
    return line(links=(*links_to_b, *forked_links), stops=stops, hashed_routes=hashed)


def lines_and_latencies(machine: Machine, **options: Any) -> tuple[list[int], list[int]]:
    """Loads eight lines at A. Returns their numbers, and the latencies of their data from H to A in
    ns.
    """
    plans = [[Step(1000 * n, Do.LOAD, n) for n in range(1, 9)]]
    log, _ = logged(machine, guest("plan"), 1, **words(plans), **options)
    loads = log.filter(polars.col("request") >= (START + 1000) * NS)[:8]
    times = (loads["data"] - loads["open"]) // NS - MEMORY
    return [address // 64 for address in loads["line"]], times.to_list()


def hashed_latencies(lines: list[int]) -> list[int]:
    """F1.1: returns the latency in ns of the route that each line's hash chooses."""
    return [DATA_LATENCY[(X, Y)[mix(mix(mix(number) + H) + A) % 64 % 2]] for number in lines]


def test_hash_of_a_line_chooses_among_equal_routes() -> None:
    """F1.1: data go from H to A. Without hashing, all take the links with the lower numbers."""
    lines, times = lines_and_latencies(forked(True))
    assert times == hashed_latencies(lines) and set(times) == {14, 18}
    assert set(lines_and_latencies(forked(False))[1]) == {14}


SLICE_CHANCE = Chance(slice=999_999)


@pytest.mark.parametrize("seed", [1, 2])
def test_drawn_offset_shifts_the_route_of_every_line(seed: int) -> None:
    """V10, F1.1: the run's draw that shifts lines among slices also shifts them among equal
    routes.
    """
    machine = dataclasses.replace(forked(True), chance=SLICE_CHANCE)
    lines, times = lines_and_latencies(machine, seeds=(seed,))
    offset = draw(SLICE_CHANCE.slice, 9, 0, 0, seed)
    assert (
        times == hashed_latencies([number + offset for number in lines]) != hashed_latencies(lines)
    )


def test_routes_have_no_offset_if_the_job_names_the_slice() -> None:
    """V10: nothing is drawn if the job names the slice."""
    machine = dataclasses.replace(forked(True), chance=SLICE_CHANCE)
    lines, times = lines_and_latencies(machine, seeds=(1,), slices="0")
    assert times == hashed_latencies(lines)


# ns for which data occupy a channel; other messages occupy it for a quarter of this time
DATA_BUSY = 40
CONTROL_BUSY = DATA_BUSY // 4


def test_message_arrives_when_its_tail_has_passed_the_slowest_channel() -> None:
    """F3: with cut-through, the length of the message counts only once, although data from A to B
    pass two channels. There is no link from A to B.
    """
    links = tuple(link for link in wires(DATA_BUSY) if {link.source, link.target} != {A, B})
    spans = steps(line(links=links), [[Step(1000, Do.AMO)], [Step(2000, Do.AMO)]])
    undelayed = (
        L2 + way("control", A, H) + CONTROL_BUSY + SERVICE + MEMORY + way("data", H, A) + DATA_BUSY
    )
    assert spans[0][0].cost == undelayed + ATOMIC
    decision = L2 + way("control", B, H) + CONTROL_BUSY + SERVICE
    probed = decision + way("snoop", H, A) + CONTROL_BUSY + L2
    assert spans[1][0].cost == probed + way("data", A, H) + way("data", H, B) + DATA_BUSY + ATOMIC


def test_slow_channel_delays_the_tail_even_if_the_last_channel_is_fast() -> None:
    """F3.3: A's line takes a slow channel and then a fast one to B."""
    links = tuple(
        dataclasses.replace(link, data_busy=NS) if link.target == B else link
        for link in wires(DATA_BUSY)
        if {link.source, link.target} != {A, B}
    )
    spans = steps(line(links=links), [[Step(1000, Do.AMO)], [Step(2000, Do.AMO)]])
    decision = L2 + way("control", B, H) + CONTROL_BUSY + SERVICE
    probed = decision + way("snoop", H, A) + CONTROL_BUSY + L2
    assert spans[1][0].cost == probed + way("data", A, H) + way("data", H, B) + DATA_BUSY + ATOMIC


def test_head_of_a_message_waits_for_a_busy_channel() -> None:
    """F3: two harts at A miss a nanosecond apart. The second hart's messages wait for the first's
    in both directions.
    """
    machine = line(links=wires(DATA_BUSY), threads_per_core=2)
    plans = [[Step(1000, Do.LOAD, 0)], [Step(1001, Do.LOAD, 1)]]
    first, second = (spans[0] for spans in steps(machine, plans, placement="siblings"))
    undelayed = (
        L2
        + way("control", A, H)
        + CONTROL_BUSY
        + SERVICE
        + MEMORY
        + way("data", H, A)
        + DATA_BUSY
        + LOAD
    )
    assert first.cost == undelayed
    assert second.begin + second.cost == first.begin + undelayed + DATA_BUSY


def test_all_links_of_a_bus_share_one_channel() -> None:
    """F4, T2: A and B send requests at the same time, on the one channel."""
    links = tuple(dataclasses.replace(link, channel=0) for link in wires(DATA_BUSY))
    spans = steps(line(links=links), [[Step(1000, Do.LOAD, 0)], [Step(1000, Do.LOAD, 1)]])
    tails = [CONTROL_BUSY, 2 * CONTROL_BUSY]  # ns until a request's tail has left the channel
    received = [
        L2 + way("control", stop, H) + tail for stop, tail in zip((A, B), tails, strict=True)
    ]
    # Memory's data leave as soon as they are ready, because B's request has passed the channel long
    # before.
    assert spans[0][0].cost == received[0] + SERVICE + MEMORY + way("data", H, A) + DATA_BUSY + LOAD
    assert (
        spans[1][0].cost
        == received[0] + SERVICE + MEMORY + DATA_BUSY + way("data", H, B) + DATA_BUSY + LOAD
    )


# ---- M: memory -----------------------------------------------------------------------------------


@pytest.mark.parametrize("later", [0, 1, 49, 50, 51])
def test_read_occupies_the_channel_of_its_memory(later: int) -> None:
    """M1: the second read waits while the first occupies the channel, but not for the first's
    latency.
    """
    head_start = way("control", B, H) - way("control", A, H)
    # the slice, and then the memory, serves the second request after the first
    gap = SERVICE + later
    plans = [[Step(1000 + head_start + gap, Do.LOAD, 0)], [Step(1000, Do.LOAD, 1)]]
    spans = steps(line(memory={"busy": 50 * NS}), plans)
    assert spans[1][0].cost == fetch(B) + LOAD
    assert spans[0][0].cost == fetch(A) + LOAD + max(50 - gap, 0)


# ---- I: interrupts -------------------------------------------------------------------------------

SEND, ACCEPT, ENTRY, EXIT = 140, 50, 30, 20
TO_CLOCK_READ = 2  # instructions that the handler executes before it reads the clock
HANDLER = 9 + 2 * LOAD  # ns of the whole handler


def test_ipi_travels_as_a_control_message_after_the_send_time() -> None:
    """I1, I2, I3: the send occupies the sender. The receiver, which sleeps, wakes and enters its
    handler.
    """
    plans = [[Step(2000, Do.IPI, 1)], [Step(1000, Do.SLEEP)]]
    spans, taken_at = results(line(), plans)
    sent, slept = spans[0][0], spans[1][0]
    assert sent.cost == 1 + SEND  # one instruction loads the value, and another stores it
    pending = sent.begin + 1 + 1 + SEND + way("control", A, B) + ACCEPT
    assert taken_at[1] == pending + ENTRY + TO_CLOCK_READ
    assert slept.begin + 2 + slept.cost == pending + ENTRY + HANDLER + EXIT


@pytest.mark.parametrize("into", [0, 1, 6])
def test_a_hart_takes_an_interrupt_at_an_instruction_boundary(into: int) -> None:
    """I2: the interrupt becomes pending `into` ns after the start of a pause that takes 7 ns."""
    ipi = Step(2000, Do.IPI, 1)
    pending = ipi.at + LEAD + 1 + SEND + way("control", A, B) + ACCEPT
    plans = [[ipi], [Step(pending - into - LEAD, Do.PAUSE)]]
    spans, taken_at = results(line(), plans)
    assert spans[1][0].begin + 1 == pending - into
    boundary = pending if into == 0 else pending + 7 - into
    assert taken_at[1] == boundary + ENTRY + TO_CLOCK_READ


def test_interrupt_send_and_entry_take_longer_while_a_sibling_executes() -> None:
    """I2: the send and the entry into the handler take twice as long while the siblings compute."""
    ipi, slept = [Step(2000, Do.IPI, 2)], [Step(1000, Do.SLEEP)]
    busy = [Step(at, Do.COMPUTE) for at in (1800, 2300, 2800)]
    taken = {}
    for share in (1000, 500):
        machine = line(core={"smt_share": share}, threads_per_core=2)
        plans = [ipi, busy, slept, busy]
        spans, taken_at = results(machine, plans, placement="siblings")
        taken[share] = taken_at[2] - spans[0][0].begin
        assert spans[0][0].cost == (1 + SEND) * 1000 // share + 2 * (1000 // share - 1)
    sent = 1 + 1  # instructions from the start of the step to the store
    assert taken[500] - taken[1000] == sent + SEND + ENTRY + TO_CLOCK_READ


@pytest.mark.parametrize("delay", [1, ENTRY - 1, ENTRY, ENTRY + 1, ENTRY + 2])
def test_each_instruction_of_a_handler_runs_at_the_smt_share_of_the_time_at_which_it_begins(
    delay: int,
) -> None:
    """I2, H6.1: the sibling's line arrives `delay` ns after the entry has begun. Instructions that
    begin after the arrival take 2 ns. The handler is already in the cache.
    """
    ipis = [Step(2000, Do.IPI, 1), Step(4000, Do.IPI, 1)]
    pending = ipis[1].at + LEAD + 1 + SEND + way("control", A, B) + ACCEPT
    sleeps = [Step(1000, Do.SLEEP), Step(3000, Do.SLEEP)]
    waits = [Step(1500, Do.NOTHING), at(pending + delay - fetch(B), Do.LOAD)]
    machine = line(core={"smt_share": 500}, threads_per_core=2)
    spans, taken_at = results(machine, [ipis, sleeps, waits], placement="0,2,3")
    assert spans[2][1].begin + 1 + fetch(B) == pending + delay
    clock = pending + ENTRY
    for _ in range(TO_CLOCK_READ):
        clock += 2 if clock >= pending + delay else 1
    assert taken_at[1] == clock


def test_an_ipi_waits_for_the_store_buffer() -> None:
    """I1, H4: an IPI after a store that misses leaves when the store has become visible."""
    warm = Step(1000, Do.IPI, 0)  # puts the code that leads to this step into the cache
    plans = [[warm, Step(2000, Do.STORE, 5), Step(2001, Do.IPI, 1)], [Step(1000, Do.SLEEP)]]
    spans, taken_at = results(line(), plans)
    visible = spans[0][1].begin + 1 + fetch(A)
    assert spans[0][2].begin < visible
    pending = visible + SEND + way("control", A, B) + ACCEPT
    assert taken_at[1] == pending + ENTRY + TO_CLOCK_READ


def test_register_of_another_core_is_accessed_by_messages() -> None:
    """I4: a write occupies its sender for `send`. A read waits for a message to the other core and
    back.
    """
    plans = [[Step(1000, Do.CLEAR, 1), Step(2000, Do.PEEK, 1), Step(3000, Do.PEEK, 0)], []]
    cleared, peeked, own_peek = steps(line(), plans)[0]
    assert cleared.cost == SEND
    assert peeked.cost == way("control", A, B) + ACCEPT + way("control", B, A)
    assert own_peek.cost == 0


@pytest.mark.parametrize("waker", [0, 1])
def test_a_timer_set_by_another_hart_wakes_a_sleeper(waker: int) -> None:
    """I3, I4: hart 2 sleeps. A hart of another core, or its sibling, lets its timer expire."""
    plans: list[list[Step]] = [[], [], [Step(1000, Do.DOZE)]]
    plans[waker * 3 :] += [[Step(2000, Do.EXPIRE, 2)]] if waker else []
    plans[0] += [] if waker else [Step(2000, Do.EXPIRE, 2)]
    machine = line(threads_per_core=2, core_stops=(A, B, H))
    spans = steps(machine, plans, placement="siblings")
    slept, woke = spans[2][0], spans[3 if waker else 0][0]
    travel = 0 if waker else SEND + way("control", A, B) + ACCEPT
    assert slept.begin + 2 + slept.cost == woke.begin + 1 + travel


def test_timer_set_to_the_present_time_expires_at_once() -> None:
    """I3: the timer is set to the present time, so the hart does not sleep."""
    (span,) = steps(line(), [[Step(1000, Do.DUE_NOW, 0)]])[0]
    assert span.cost == 3  # three more instructions


def test_timer_that_is_set_again_expires_only_at_its_new_time() -> None:
    """I3: the hart sleeps past the time to which the timer was set first."""
    assert not point(line(), guest("timer"), 1)["failures"]


def test_simultaneous_register_messages_leave_in_order_of_target_hart() -> None:
    """T2: two IPIs leave core B at the same time. The IPI to hart 0 takes the channel first,
    although hart 2, which sends the other one, executes first.
    """
    machine = line(links=wires(DATA_BUSY), threads_per_core=2)
    plans = [[Step(1000, Do.SLEEP)], [Step(1000, Do.SLEEP)], [Step(2000, Do.IPI, 1)]]
    plans.append([Step(2000, Do.IPI, 0)])
    spans, taken_at = results(machine, plans, placement="siblings")
    assert spans[2][0].begin == spans[3][0].begin
    assert taken_at[1] - taken_at[0] == CONTROL_BUSY


def test_multicast_is_ordered_by_its_lowest_hart_until_it_forks() -> None:
    """I5, T2: hart 0's multicast goes to harts 1 and 2 at B by way of H. At H, hart 3's IPI to hart
    1 needs the same channel at the same time; core 0 precedes core 3.
    """
    links = tuple(link for link in wires(DATA_BUSY) if {link.source, link.target} != {A, B})
    cores = {"shape": ((0,), (1,), (2,), (3,)), "core_stops": (A, B, B, H)}
    root = dataclasses.replace(HOME, children=(0, 1, 2, 3))
    machine = line(links=links, interrupt={"multicast": True}, resolvers=(root,), **cores)
    sleep, way_to_h = [Step(1000, Do.SLEEP)], way("control", A, H)
    multicast, single = [Step(2000, Do.MULTICAST, 0b110)], [Step(2000 + way_to_h - 1, Do.IPI, 1)]
    contended, undelayed = (
        results(machine, [multicast, sleep, sleep, other]) for other in (single, [])
    )
    sent = [contended[0][hart][0].begin for hart in (0, 3)]
    assert sent[1] == sent[0] + way_to_h - 1  # hart 3's IPI takes one instruction more
    assert contended[1][2] == undelayed[1][2]


def test_multicast_occupies_each_channel_once() -> None:
    """I5: the multicast goes to hart 1 at B by way of H, where it forks to hart 2."""
    links = tuple(link for link in wires(DATA_BUSY) if {link.source, link.target} != {A, B})
    machine = line(links=links, interrupt={"multicast": True})
    plans = [[Step(2000, Do.MULTICAST, 0b110)], [Step(1000, Do.SLEEP)], [Step(1000, Do.SLEEP)]]
    spans, taken_at = results(machine, plans)
    assert spans[0][0].cost == SEND
    sent_at = spans[0][0].begin + 1 + SEND
    pending = sent_at + way("control", A, H) + CONTROL_BUSY + ACCEPT
    assert taken_at[2] == pending + ENTRY + TO_CLOCK_READ
    assert taken_at[1] == pending + way("control", H, B) + ENTRY + TO_CLOCK_READ

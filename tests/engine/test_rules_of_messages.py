"""Does each rule of docs/model.md on resolvers, fabric, memory and interrupts (R, F, M, J, I) hold?

Small machines, whole nanoseconds, exact expectations, like test_rules_of_cores.py.
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
    """Returns the time at which the request of a miss reaches the resolver."""
    return begin + L2 + way("control", stop, H)


@pytest.mark.parametrize("later", [0, 1, 5, 6, 7])
def test_a_slice_serves_one_request_after_the_other(later: int) -> None:
    """R1: the second request, `later` ns after the first, waits until the first has been served."""
    head_start = way("control", B, H) - way("control", A, H)
    # On a tie the lower line is first (T2).
    plans = [[Step(1000 + head_start + later, Do.LOAD, 1)], [Step(1000, Do.LOAD, 0)]]
    spans = steps(line(), plans)
    assert spans[1][0].cost == fetch(B) + LOAD
    assert spans[0][0].cost == fetch(A) + LOAD + max(SERVICE - later, 0)


@pytest.mark.parametrize("reply", ["direct", "via"])
@pytest.mark.parametrize("unblock", ["completion", "response"])
def test_transfer_between_owners_follows_reply_and_unblock(reply: str, unblock: str) -> None:
    """R4, R5: A owns the line; B requests it, and H requests it while B's transaction is open.

    With `direct` the data take the wire A - B. With `response` the transaction closes when the
    owner's answer arrives at H, with `completion` when B's Unblock does.
    """
    plans = [[Step(1000, Do.AMO)], [Step(2000, Do.AMO)], [Step(2035, Do.AMO)]]
    spans = steps(line(resolver={"reply": reply, "unblock": unblock}), plans)
    first, second = spans[1][0], spans[2][0]
    answered = arrival(first.begin + 1, B) + SERVICE + way("snoop", H, A) + L2
    if reply == "direct":
        seen, filled = answered + way("snoop", A, H), answered + way("data", A, B)
    else:
        seen = answered + way("data", A, H)
        filled = seen + way("data", H, B)
    assert first.begin + 1 + first.cost == filled + ATOMIC
    closed = seen if unblock == "response" else filled + way("snoop", B, H)
    done = filled + ATOMIC  # C4: the atomic that waited for the line comes first
    probed = max(closed + way("snoop", H, B), done)
    assert second.begin + 1 + second.cost == probed + L2 + way("data", B, H) + ATOMIC


@pytest.mark.parametrize("early", [30, 1, 0, -30])
def test_completion_takes_an_extra_turn_if_a_request_waits_for_it(early: int) -> None:
    """R5.3: H's request is served `early` ns before B's completion arrives (negative: after it)."""
    turn, b_asks = 90, 2000 + LEAD
    answered = arrival(b_asks, B) + SERVICE + way("snoop", H, A) + L2
    completed = answered + way("data", A, B) + way("snoop", B, H)
    asks = completed - early - SERVICE - arrival(0, H)
    plans = [[Step(1000, Do.AMO)], [at(b_asks, Do.AMO)], [at(asks, Do.AMO)]]
    span = steps(line(resolver={"turn": turn * NS}), plans)[2][0]
    closed = completed + turn if early > 0 else completed - early
    assert asks + span.cost == closed + way("snoop", H, B) + L2 + way("data", B, H) + ATOMIC


def test_shared_grants_of_a_resolver_overlap() -> None:
    """R5: H's request comes before B's completion, and need not wait; in MSI all readers share."""
    plans = [[Step(1000, Do.LOAD)], [Step(2000, Do.LOAD)], [Step(2026, Do.LOAD)]]
    spans = steps(line(resolver=KEPT, protocol="msi"), plans)
    served = L2 + SERVICE + 21
    assert spans[1][0].cost == served + way("control", B, H) + way("data", H, B) + LOAD
    assert spans[2][0].cost == served + LOAD


def test_a_level_sends_its_own_data_after_their_latency() -> None:
    """R6, R7: the second reader is served from the level's store, `data_hit` after the decision."""
    plans = [[Step(1000, Do.LOAD)], [Step(2000, Do.LOAD)], [Step(3000, Do.LOAD)]]
    spans = steps(line(resolver=KEPT), plans)
    served = L2 + way("control", H, H) + SERVICE + 21 + way("data", H, H)
    assert spans[2][0].cost == served + LOAD


def test_snooping_resolver_probes_every_child() -> None:
    """R3: no child has the line, but the farthest child must answer before memory is read."""
    span = steps(line(resolver={"knows": "snoop"}), [[Step(1000, Do.LOAD)]])[0][0]
    far = way("snoop", H, B) + L2 + way("snoop", B, H)
    assert span.cost == fetch(A) + far + LOAD


def test_a_full_directory_recalls_its_oldest_line() -> None:
    """R8: 64 sets of one entry, two lines of one set; the owner loses its line, which is written
    back.
    """
    plans = [
        [Step(1000, Do.AMO, 0), Step(1500, Do.LOAD, 0), Step(3000, Do.LOAD, 0)],
        [Step(2000, Do.LOAD, 1)],
    ]
    spans = steps(line(resolver={"entries": 64, "ways": 1}), plans, stride=64 * 64)
    assert [span.cost for span in spans[0][1:]] == [LOAD, fetch(A) + LOAD]


@pytest.mark.parametrize(("line_index", "recalled"), [(0, True), (1, False)])
def test_full_directory_set_recalls_one_line_per_new_line(line_index: int, recalled: bool) -> None:
    """R8: the older of two lines is recalled; the answer of its owner does not recall the other
    one.
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
    """Returns a machine with cores 0 to 2 below a join at H, and core 3 beside it; the root is at H
    as well.
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


# While core 1 waits for core 0's hold, core 2, the outer core 3 and core 0 send requests.
CROWD = [
    [Step(1000, Do.AMO), Step(1500, Do.AMO)],  # the second when core 1 holds the line
    [Step(1130, Do.AMO)],
    [Step(1180, Do.AMO)],
    [Step(1190, Do.AMO)],
]


def served(spans: list[list[Span]]) -> list[int]:
    """Returns the cores in the order in which their last steps ended."""
    return sorted(range(4), key=lambda hart: spans[hart][-1].begin + spans[hart][-1].cost)


@pytest.mark.parametrize(("grants", "order"), [(1, [1, 2, 3, 0]), (2, [1, 2, 0, 3])])
def test_join_serves_up_to_grants_children_before_a_probe_from_above(
    grants: int, order: list[int]
) -> None:
    """J2, J3: `grants` limits the number of children served first."""
    assert served(steps(two_levels(grants), CROWD)) == order


@pytest.mark.parametrize(("late", "order"), [(0, [1, 3, 2, 0]), (1, [1, 2, 3, 0])])
def test_join_serves_its_children_until_the_outer_request_reaches_its_age(
    late: int, order: list[int]
) -> None:
    """J3: core 2 is served before core 3 if core 3's request is `late` ps younger than the age."""
    first, _, _, outer = steps(two_levels(0), CROWD)
    handed = first[0].begin + first[0].cost - ATOMIC + HOLD + L2 + way("snoop", A, H)
    age = handed - (outer[0].begin + L2)
    assert served(steps(two_levels(0, age * NS + late), CROWD)) == order


# ---- F: the fabric -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*shipped(), "bus:9", "ring:13", "mesh:5x3", "ccx:5x3"])
def test_a_message_takes_the_route_of_least_control_latency(name: str) -> None:
    """F1, F2: compares the latency of each kind of message between any two stops with route.py."""
    machine = load(name)
    engine = native.start(job(machine, "counter/atomic", 1))
    routes, stops = Routes(machine), len(machine.stops)
    apart = max(1, stops * stops // 2000)  # tries every `apart`-th pair of stops of a large machine
    for pair in range(0, stops * stops, apart):
        source, target = divmod(pair, stops)
        for kind in MESSAGE_KINDS:
            expected = routes.message(kind, source, target)
            assert engine.latency(kind, source, target) == expected, (kind, source, target)


X, Y = 3, 4  # stops between A and H
BY = {X: 14, Y: 18}  # latency of data by way of each stop, in ns; other messages take 10


def forked(hashed: bool) -> Machine:
    """Returns a machine with two equal routes between A and H."""
    ends = [
        (a, b)
        for middle in BY
        for pair in ((A, middle), (middle, H))
        for a, b in (pair, pair[::-1])
    ]
    between = [
        least(
            Link, source=a, target=b, control=5 * NS, data=BY[max(a, b)] * NS // 2, snoop=5 * NS,
            channel=-1, level="system",
        )
        for a, b in ends
    ]  # fmt: skip
    to_b = [link for link in wires() if {link.source, link.target} == {H, B}]
    stops = ("A", "H", "B", "X", "Y")
    return line(links=(*to_b, *between), stops=stops, hashed_routes=hashed)


def taken_ways(machine: Machine, **options: Any) -> tuple[list[int], list[int]]:
    """Returns the numbers of eight lines, and the latencies of their data from H to A in ns."""
    plans = [[Step(1000 * n, Do.LOAD, n) for n in range(1, 9)]]
    log, _ = logged(machine, guest("plan"), 1, **words(plans), **options)
    loads = log.filter(polars.col("request") >= (START + 1000) * NS)[:8]
    times = (loads["data"] - loads["open"]) // NS - MEMORY
    return [address // 64 for address in loads["line"]], times.to_list()


def by_hash(lines: list[int]) -> list[int]:
    """F1.1: returns the latency in ns of the route that each line's hash selects."""
    return [BY[(X, Y)[mix(mix(mix(number) + H) + A) % 64 % 2]] for number in lines]


def test_hash_of_a_line_chooses_among_equal_routes() -> None:
    """F1.1: data go from H to A; without hashing, all take the links with the lower numbers."""
    lines, times = taken_ways(forked(True))
    assert times == by_hash(lines) and set(times) == {14, 18}
    assert set(taken_ways(forked(False))[1]) == {14}


DRAWN = Chance(slice=999_999)


@pytest.mark.parametrize("seed", [1, 2])
def test_drawn_offset_shifts_the_route_of_every_line(seed: int) -> None:
    """V10, F1.1: the draw of a run that shifts lines among slices also shifts them among routes."""
    machine = dataclasses.replace(forked(True), chance=DRAWN)
    lines, times = taken_ways(machine, seeds=(seed,))
    further = draw(DRAWN.slice, 9, 0, 0, seed)
    assert times == by_hash([number + further for number in lines]) != by_hash(lines)


def test_routes_have_no_offset_if_the_job_names_the_slice() -> None:
    """V10: nothing is drawn where the job names the slice."""
    machine = dataclasses.replace(forked(True), chance=DRAWN)
    lines, times = taken_ways(machine, seeds=(1,), slices="0")
    assert times == by_hash(lines)


BUSY = 40  # ns for which data occupy a channel; other messages occupy it for a quarter of that
SHORT = BUSY // 4


def test_message_arrives_when_its_tail_has_passed_the_slowest_channel() -> None:
    """F3: with cut-through, the time of the tail counts only once, although data from A to B pass
    two channels.  There is no wire A - B.
    """
    links = tuple(link for link in wires(BUSY) if {link.source, link.target} != {A, B})
    spans = steps(line(links=links), [[Step(1000, Do.AMO)], [Step(2000, Do.AMO)]])
    alone = L2 + way("control", A, H) + SHORT + SERVICE + MEMORY + way("data", H, A) + BUSY
    assert spans[0][0].cost == alone + ATOMIC
    decision = L2 + way("control", B, H) + SHORT + SERVICE
    probed = decision + way("snoop", H, A) + SHORT + L2
    assert spans[1][0].cost == probed + way("data", A, H) + way("data", H, B) + BUSY + ATOMIC


def test_slow_channel_delays_the_tail_though_the_last_channel_is_fast() -> None:
    """F3.3: A's line takes a slow channel and then a fast one to B."""
    links = tuple(
        dataclasses.replace(link, data_busy=NS) if link.target == B else link
        for link in wires(BUSY)
        if {link.source, link.target} != {A, B}
    )
    spans = steps(line(links=links), [[Step(1000, Do.AMO)], [Step(2000, Do.AMO)]])
    decision = L2 + way("control", B, H) + SHORT + SERVICE
    probed = decision + way("snoop", H, A) + SHORT + L2
    assert spans[1][0].cost == probed + way("data", A, H) + way("data", H, B) + BUSY + ATOMIC


def test_a_head_waits_for_a_busy_channel() -> None:
    """F3: two harts at A miss a nanosecond apart; the second message waits in both directions."""
    machine = line(links=wires(BUSY), threads_per_core=2)
    plans = [[Step(1000, Do.LOAD, 0)], [Step(1001, Do.LOAD, 1)]]
    first, second = (spans[0] for spans in steps(machine, plans, placement="siblings"))
    alone = L2 + way("control", A, H) + SHORT + SERVICE + MEMORY + way("data", H, A) + BUSY + LOAD
    assert first.cost == alone
    assert second.begin + second.cost == first.begin + alone + BUSY


def test_a_bus_is_one_shared_medium() -> None:
    """F4, T2: A and B send requests at the same time on one channel."""
    links = tuple(dataclasses.replace(link, channel=0) for link in wires(BUSY))
    spans = steps(line(links=links), [[Step(1000, Do.LOAD, 0)], [Step(1000, Do.LOAD, 1)]])
    arrived = [SHORT, 2 * SHORT]  # time at which the tail of each request has left the channel
    acts = [L2 + way("control", stop, H) + tail for stop, tail in zip((A, B), arrived, strict=True)]
    # Memory's data leave when they are ready; B's request has passed the channel long before.
    assert spans[0][0].cost == acts[0] + SERVICE + MEMORY + way("data", H, A) + BUSY + LOAD
    assert spans[1][0].cost == acts[0] + SERVICE + MEMORY + BUSY + way("data", H, B) + BUSY + LOAD


# ---- M: memory -----------------------------------------------------------------------------------


@pytest.mark.parametrize("later", [0, 1, 49, 50, 51])
def test_read_occupies_the_channel_of_its_memory(later: int) -> None:
    """M1: the second read waits while the first one occupies the channel, not for its latency."""
    head_start = way("control", B, H) - way("control", A, H)
    # the slice serves the second request after the first one, and so does the memory
    gap = SERVICE + later
    plans = [[Step(1000 + head_start + gap, Do.LOAD, 0)], [Step(1000, Do.LOAD, 1)]]
    spans = steps(line(memory={"busy": 50 * NS}), plans)
    assert spans[1][0].cost == fetch(B) + LOAD
    assert spans[0][0].cost == fetch(A) + LOAD + max(50 - gap, 0)


# ---- I: interrupts -------------------------------------------------------------------------------

SEND, ACCEPT, ENTRY, EXIT = 140, 50, 30, 20
TO_THE_CLOCK = 2  # instructions of the handler before it reads the clock
HANDLER = 9 + 2 * LOAD  # the whole handler


def test_ipi_travels_as_a_control_message_after_the_send_time() -> None:
    """I1, I2, I3: the sender is occupied; the receiver, which sleeps, wakes and enters its
    handler.
    """
    plans = [[Step(2000, Do.IPI, 1)], [Step(1000, Do.SLEEP)]]
    spans, taken_at = results(line(), plans)
    sent, slept = spans[0][0], spans[1][0]
    assert sent.cost == 1 + SEND  # an instruction loads the value, another one stores it
    pending = sent.begin + 1 + 1 + SEND + way("control", A, B) + ACCEPT
    assert taken_at[1] == pending + ENTRY + TO_THE_CLOCK
    assert slept.begin + 2 + slept.cost == pending + ENTRY + HANDLER + EXIT


@pytest.mark.parametrize("into", [0, 1, 6])
def test_a_hart_takes_an_interrupt_at_an_instruction_boundary(into: int) -> None:
    """I2: the interrupt becomes pending `into` ns after the start of a pause of 7 ns."""
    ipi = Step(2000, Do.IPI, 1)
    pending = ipi.at + LEAD + 1 + SEND + way("control", A, B) + ACCEPT
    plans = [[ipi], [Step(pending - into - LEAD, Do.PAUSE)]]
    spans, taken_at = results(line(), plans)
    assert spans[1][0].begin + 1 == pending - into
    boundary = pending if into == 0 else pending + 7 - into
    assert taken_at[1] == boundary + ENTRY + TO_THE_CLOCK


def test_sending_and_entering_an_interrupt_run_at_the_harts_share() -> None:
    """I2: the send and the entry into the handler take twice as long while siblings compute."""
    ipi, slept = [Step(2000, Do.IPI, 2)], [Step(1000, Do.SLEEP)]
    busy = [Step(at, Do.COMPUTE) for at in (1800, 2300, 2800)]
    taken = {}
    for share in (1000, 500):
        machine = line(core={"smt_share": share}, threads_per_core=2)
        plans = [ipi, busy, slept, busy]
        spans, taken_at = results(machine, plans, placement="siblings")
        taken[share] = taken_at[2] - spans[0][0].begin
        assert spans[0][0].cost == (1 + SEND) * 1000 // share + 2 * (1000 // share - 1)
    sent = 1 + 1  # instructions from the begin to the store
    assert taken[500] - taken[1000] == sent + SEND + ENTRY + TO_THE_CLOCK


@pytest.mark.parametrize("gained", [1, ENTRY - 1, ENTRY, ENTRY + 1, ENTRY + 2])
def test_handler_runs_at_the_share_in_force_at_each_instruction(gained: int) -> None:
    """I2, H6.1: the sibling's line arrives `gained` ns after the entry has begun; instructions that
    begin after that take 2 ns. The handler has been executed before.
    """
    ipis = [Step(2000, Do.IPI, 1), Step(4000, Do.IPI, 1)]
    pending = ipis[1].at + LEAD + 1 + SEND + way("control", A, B) + ACCEPT
    sleeps = [Step(1000, Do.SLEEP), Step(3000, Do.SLEEP)]
    waits = [Step(1500, Do.NOTHING), at(pending + gained - fetch(B), Do.LOAD)]
    machine = line(core={"smt_share": 500}, threads_per_core=2)
    spans, taken_at = results(machine, [ipis, sleeps, waits], placement="0,2,3")
    assert spans[2][1].begin + 1 + fetch(B) == pending + gained
    clock = pending + ENTRY
    for _ in range(TO_THE_CLOCK):
        clock += 2 if clock >= pending + gained else 1
    assert taken_at[1] == clock


def test_an_ipi_waits_for_the_store_buffer() -> None:
    """I1, H4: an IPI after a store that misses leaves when the store is visible."""
    warm = Step(1000, Do.IPI, 0)  # puts the code that leads to this step into the cache
    plans = [[warm, Step(2000, Do.STORE, 5), Step(2001, Do.IPI, 1)], [Step(1000, Do.SLEEP)]]
    spans, taken_at = results(line(), plans)
    visible = spans[0][1].begin + 1 + fetch(A)
    assert spans[0][2].begin < visible
    pending = visible + SEND + way("control", A, B) + ACCEPT
    assert taken_at[1] == pending + ENTRY + TO_THE_CLOCK


def test_register_of_another_core_is_accessed_by_messages() -> None:
    """I4: a write occupies its sender for `send`; a read waits for a message there and back."""
    plans = [[Step(1000, Do.CLEAR, 1), Step(2000, Do.PEEK, 1), Step(3000, Do.PEEK, 0)], []]
    cleared, peeked, own = steps(line(), plans)[0]
    assert cleared.cost == SEND
    assert peeked.cost == way("control", A, B) + ACCEPT + way("control", B, A)
    assert own.cost == 0


@pytest.mark.parametrize("waker", [0, 1])
def test_a_timer_set_by_another_hart_wakes_a_sleeper(waker: int) -> None:
    """I3, I4: hart 2 sleeps; a hart of another core, or its sibling, makes its timer expire."""
    plans: list[list[Step]] = [[], [], [Step(1000, Do.DOZE)]]
    plans[waker * 3 :] += [[Step(2000, Do.EXPIRE, 2)]] if waker else []
    plans[0] += [] if waker else [Step(2000, Do.EXPIRE, 2)]
    machine = line(threads_per_core=2, core_stops=(A, B, H))
    spans = steps(machine, plans, placement="siblings")
    slept, wrote = spans[2][0], spans[3 if waker else 0][0]
    there = 0 if waker else SEND + way("control", A, B) + ACCEPT
    assert slept.begin + 2 + slept.cost == wrote.begin + 1 + there


def test_timer_set_to_the_present_time_is_due_at_once() -> None:
    """I3: the timer is set to the present time, so the hart does not sleep."""
    (span,) = steps(line(), [[Step(1000, Do.DUE_NOW, 0)]])[0]
    assert span.cost == 3  # three instructions more


def test_timer_set_again_is_due_at_its_new_time_only() -> None:
    """I3: the hart sleeps past the time that it set first."""
    assert not point(line(), guest("timer"), 1)["failures"]


def test_simultaneous_register_messages_leave_in_order_of_target_hart() -> None:
    """T2: two IPIs leave core B at one time. The one to hart 0 takes the channel first, although
    hart 2, which sends the other one, executes first.
    """
    machine = line(links=wires(BUSY), threads_per_core=2)
    plans = [[Step(1000, Do.SLEEP)], [Step(1000, Do.SLEEP)], [Step(2000, Do.IPI, 1)]]
    plans.append([Step(2000, Do.IPI, 0)])
    spans, taken_at = results(machine, plans, placement="siblings")
    assert spans[2][0].begin == spans[3][0].begin
    assert taken_at[1] - taken_at[0] == SHORT


def test_multicast_is_ordered_by_its_lowest_hart_until_it_forks() -> None:
    """I5, T2: hart 0's multicast goes to harts 1 and 2 at B by way of H. There, hart 3's IPI to
    hart 1 needs the same channel at the same time; core 0 comes before core 3.
    """
    links = tuple(link for link in wires(BUSY) if {link.source, link.target} != {A, B})
    cores = {"shape": ((0,), (1,), (2,), (3,)), "core_stops": (A, B, B, H)}
    root = dataclasses.replace(HOME, children=(0, 1, 2, 3))
    machine = line(links=links, interrupt={"multicast": True}, resolvers=(root,), **cores)
    sleep, way_to_h = [Step(1000, Do.SLEEP)], way("control", A, H)
    many, single = [Step(2000, Do.MULTICAST, 0b110)], [Step(2000 + way_to_h - 1, Do.IPI, 1)]
    met, alone = (results(machine, [many, sleep, sleep, other]) for other in (single, []))
    left = [met[0][hart][0].begin for hart in (0, 3)]
    assert left[1] == left[0] + way_to_h - 1  # the second hart's IPI is one instruction longer
    assert met[1][2] == alone[1][2]


def test_multicast_occupies_each_channel_once() -> None:
    """I5: the multicast goes to hart 1 at B by way of H, where it forks to hart 2."""
    links = tuple(link for link in wires(BUSY) if {link.source, link.target} != {A, B})
    machine = line(links=links, interrupt={"multicast": True})
    plans = [[Step(2000, Do.MULTICAST, 0b110)], [Step(1000, Do.SLEEP)], [Step(1000, Do.SLEEP)]]
    spans, taken_at = results(machine, plans)
    assert spans[0][0].cost == SEND
    left = spans[0][0].begin + 1 + SEND
    pending = left + way("control", A, H) + SHORT + ACCEPT
    assert taken_at[2] == pending + ENTRY + TO_THE_CLOCK
    assert taken_at[1] == pending + way("control", H, B) + ENTRY + TO_THE_CLOCK

"""Does a join send only the necessary requests to its parent (J1, J4), and store data as R7 and A5
say?

The machine has two levels. Cores 0 and 1 at A and core 2 at H are below a join at H. Core 3 at B is
beside the join, with the root and the memory.
"""

from __future__ import annotations

import polars
import pytest
from tests.support.line import KEPT, NS, ONE_WAY, SET_STRIDE, A, B, H, line, way
from tests.support.plans import NEAR, START, Do, Step, at, steps, words
from tests.support.rule_costs import ATOMIC, L2, LOAD, MEMORY, SERVICE, fetch
from tests.support.runs import guest, logged
from tests.support.two_levels import JOIN, ROOT, levels

from uncore.topology.machine import Machine

# ns from a miss at A until the join has served its request
TO_JOIN = L2 + way("control", A, H) + SERVICE


# ---- J: requests of a join to its parent ---------------------------------------------------------


@pytest.mark.parametrize(("do", "end"), [(Do.LOAD, LOAD), (Do.AMO, ATOMIC)])
def test_join_that_owns_a_line_serves_its_children_without_the_root(do: Do, end: int) -> None:
    """J1: since core 0's load, the join is the line's only owner, so core 1's request does not
    reach the root.
    """
    plans = [[at(1000, Do.LOAD)], [at(2000, do)], [], []]
    first, second = (spans[0].cost for spans in steps(levels(), plans)[:2])
    above = way("control", H, B) + SERVICE + MEMORY + way("data", B, H)
    assert first == TO_JOIN + above + way("data", H, A) + LOAD
    assert second == TO_JOIN + way("snoop", H, A) + L2 + way("data", A, A) + end


@pytest.mark.parametrize(
    ("core", "data", "op"),
    [(0, "none", "Upg"), (1, "none", "GetM"), (1, "victim", "Upg"), (1, "inclusive", "Upg")],
)
def test_join_requests_data_with_a_right_only_if_needed(core: int, data: str, op: str) -> None:
    """J1, J4: cores 0 and 3 share the line, and core 0 or core 1 writes it. The join requests data
    unless the writing core has them, or the join itself is certain to have them.
    """
    plans: list[list[Step]] = [[at(1000, Do.LOAD)], [], [], [at(2000, Do.LOAD)]]
    plans[core].append(at(3000, Do.AMO))
    table, _ = logged(levels(data), guest("plan"), 4, **words(plans))
    offset_ns = table.filter(polars.col("request") >= (START + 3000) * NS)
    address = offset_ns["line"].first()
    below, above, *others = offset_ns.filter(polars.col("line") == address).to_dicts()
    assert not others
    assert (below["requester"], below["resolver"]) == (core, JOIN)
    assert (above["requester"], above["resolver"], above["op"]) == (JOIN, ROOT, op)
    assert above["request"] == below["open"] == (START + 3000 + TO_JOIN) * NS
    # time of the probe that invalidates core 3's copy
    probe = way("snoop", B, B) + L2 + way("snoop", B, B)
    reply_kind = "control" if op == "Upg" else "data"
    memory = 0 if op == "Upg" else MEMORY
    answer = way("control", H, B) + SERVICE + probe + memory + way(reply_kind, B, H)
    assert above["data"] == above["request"] + answer * NS


# ---- R7: a level's data --------------------------------------------------------------------------


def direct_mapped(data: str) -> Machine:
    """Returns a machine whose resolver has a direct-mapped data cache (one line per set) of the
    kind `data`.
    """
    return line(resolver=dict(KEPT, data=data, data_ways=1))


@pytest.mark.parametrize(
    ("data", "do", "recalled"),
    [
        ("inclusive", Do.LOAD, True),
        ("inclusive", Do.AMO, True),
        ("victim", Do.LOAD, False),  # the level evicts a clean line silently
        ("victim", Do.AMO, False),  # the grant had moved the line to the core
    ],
)
@pytest.mark.parametrize("offset_ns", NEAR)
def test_inclusive_level_recalls_lines_that_it_evicts(
    data: str, do: Do, recalled: bool, offset_ns: int
) -> None:
    """R7: memory's data for B evict A's line. The recall leaves H when these data arrive there."""
    evicted = 2000 + fetch(B) - way("data", H, B)
    probed = evicted + way("snoop", H, A)
    plans = [[at(1000, do, 0), at(probed + offset_ns, Do.LOAD, 0)], [at(2000, Do.LOAD, 1)]]
    hit = not recalled or offset_ns < 0
    spans = steps(direct_mapped(data), plans, stride=SET_STRIDE)
    assert spans[0][1].cost == (LOAD if hit else fetch(A) + LOAD)
    assert spans[1][0].cost == fetch(B) + LOAD  # B does not wait for the recall


@pytest.mark.parametrize("offset_ns", NEAR)
def test_a_victim_level_that_evicts_a_dirty_line_recalls_its_copies(offset_ns: int) -> None:
    """R7: the level stores A's dirty line when B reads it. When the level evicts the line, A and B
    lose their copies.
    """
    recall_at_b = 3000 + fetch(H) + way("snoop", H, B)
    plans = [[at(1000, Do.AMO, 0)], [at(2000, Do.LOAD, 0), at(recall_at_b + offset_ns, Do.LOAD, 0)]]
    plans.append([at(3000, Do.LOAD, 1)])
    span = steps(direct_mapped("victim"), plans, stride=SET_STRIDE)[1][1]
    assert span.cost == (LOAD if offset_ns < 0 else fetch(B) + LOAD)


@pytest.mark.parametrize("data", ["none", "inclusive", "victim"])
def test_level_with_data_serves_a_line_that_was_written_back(data: str) -> None:
    """R7, R6: A's line is written back. B gets it from the level's data, or from memory if the
    level has none.
    """
    machine = line(core=ONE_WAY, resolver=dict(KEPT, data=data) if data != "none" else {})
    plans = [[at(1000, Do.AMO, 0), at(2000, Do.LOAD, 1)], [at(3000, Do.LOAD, 0)]]
    span = steps(machine, plans, stride=SET_STRIDE)[1][0]
    assert span.cost == fetch(B) - (0 if data == "none" else MEMORY - 21) + LOAD


# ---- R6, R10: who serves readers -----------------------------------------------------------------


@pytest.mark.parametrize("offset_ns", NEAR)
def test_a_level_sends_copies_of_one_line_at_least_key_data_repeat_apart(offset_ns: int) -> None:
    """R6.2: two cores read the same line from a level's data; the second request is served about 50
    ns after the first.
    """
    machine = line(protocol="msi", resolver=dict(KEPT, data_repeat=50 * NS))
    first, second = 2000, 2000 + way("control", B, H) - way("control", H, H) + 50 + offset_ns
    plans = [[at(1000, Do.LOAD)], [at(first, Do.LOAD)], [at(second, Do.LOAD)]]
    data_hit = 21 - MEMORY  # the latency of the level's data replaces that of memory
    spans = steps(machine, plans)
    assert spans[1][0].cost == fetch(B) + data_hit + LOAD
    assert spans[2][0].cost == fetch(H) + data_hit + LOAD + max(0, -offset_ns)


@pytest.mark.parametrize(("forwarder", "right", "source"), [(True, "F", 1), (False, "S", 3)])
def test_level_serves_a_reader_itself_if_no_sharer_has_the_line_in_f(
    forwarder: bool, right: str, source: int
) -> None:
    """R10: the third reader gets the line from the second reader, which is the forwarder, or from
    the home.
    """
    machine = line(protocol="mesif", resolver=dict(KEPT, forwarder=forwarder))
    plans = [[at(1000, Do.LOAD)], [at(2000, Do.LOAD)], [at(3000, Do.LOAD)]]
    table, _ = logged(machine, guest("plan"), 3, **words(plans))
    plan_records = table.filter(polars.col("request") >= START * NS)
    readers = plan_records.filter(polars.col("line") == plan_records["line"].first())
    assert readers["right"].to_list() == ["E", right, right]
    assert readers["source"].to_list()[2] == source


# ---- R11: directories with few pointers ----------------------------------------------------------


@pytest.mark.parametrize(
    ("pointers", "probed", "data"), [(0, [A], 0), (2, [A], 0), (1, [A, B], MEMORY)]
)
def test_directory_probes_every_child_after_its_pointers_overflow(
    pointers: int, probed: list[int], data: int
) -> None:
    """R11: A and H share the line. When H writes and the pointers have overflowed, B is probed
    although it has no copy. H itself is not probed.
    """
    plans = [[at(1000, Do.LOAD)], [], [at(2000, Do.LOAD), at(3000, Do.AMO)]]
    _, _, spans = steps(line(resolver={"pointers": pointers}), plans)
    probe = max(2 * way("snoop", H, stop) for stop in probed) + L2
    assert spans[1].cost == L2 + SERVICE + probe + data + ATOMIC


def test_read_without_a_free_pointer_invalidates_the_next_sharer() -> None:
    """R11.3: A and H share the line. B's read evicts H's copy, which is the next one; then H's read
    evicts A's.
    """
    plans = [
        [at(1000, Do.LOAD), at(3500, Do.LOAD), at(4500, Do.LOAD)],
        [at(3000, Do.LOAD), at(4200, Do.LOAD)],
        [at(2000, Do.LOAD), at(4000, Do.LOAD)],
    ]
    first, second, third = steps(line(resolver={"pointers": 2, "overflow": "evict"}), plans)
    invalidation = {stop: 2 * way("snoop", H, stop) + L2 for stop in (A, H)}
    assert second[0].cost == fetch(B) + invalidation[H] + LOAD
    assert third[1].cost == fetch(H) + invalidation[A] + LOAD
    assert [first[1].cost, second[1].cost] == [LOAD, LOAD]
    assert first[2].cost > fetch(A)


# ---- A5: a core's sets ---------------------------------------------------------------------------


@pytest.mark.parametrize("is_held", [True, False])
def test_next_line_in_an_overfull_set_evicts_until_the_set_fits(is_held: bool) -> None:
    """A5, R7, C4: the L2's set holds one line. A second line arrives while the first is held, so
    the set is overfull; when a third line arrives, both are evicted.
    """
    machine = line(core=dict(ONE_WAY, l1_ways=2, hold=(500 if is_held else 0) * NS))
    first_steps = [at(1000, Do.AMO, 0), at(1200, Do.AMO, 1), at(1400, Do.LOAD, 0)]
    miss = fetch(A) + LOAD
    first = steps(machine, [first_steps], stride=SET_STRIDE)[0][2]
    assert first.cost == (LOAD if is_held else miss)
    plan = [*first_steps[:2], at(3000, Do.LOAD, 2), at(4000, Do.LOAD, 1)]
    assert steps(machine, [plan], stride=SET_STRIDE)[0][3].cost == miss


# ---- R9: a directory in memory -------------------------------------------------------------------

LOOKUP = 70


@pytest.mark.parametrize(("near_cores", "extra"), [((0, 1), LOOKUP), ((0, 1, 2), 0), ((2,), 0)])
def test_directory_in_memory_is_looked_up_unless_the_owner_is_among_the_near_cores(
    near_cores: tuple[int, ...], extra: int
) -> None:
    """Core 0 loads a line that core 2 wrote. The root must look up the owner in memory unless that
    core is near.
    """
    machine = line(resolver={"lookup": LOOKUP * NS, "near": near_cores})
    plans = [[at(2000, Do.LOAD)], [], [at(1000, Do.STORE)]]
    (load,) = steps(machine, plans)[0]
    without_lookup = steps(line(), plans)[0][0]
    assert load.cost == without_lookup.cost + extra


def test_directory_does_not_look_up_an_owner_that_it_is_probing() -> None:
    """A second request arrives while the owner is being probed for the first one, so it needs no
    lookup.
    """
    machine = line(resolver={"lookup": LOOKUP * NS, "near": (0, 1)})
    plans = [[at(2000, Do.AMO)], [at(2000 + LOOKUP + 20, Do.AMO)], [at(1000, Do.STORE)]]
    with_lookup, without_lookup = (steps(m, plans) for m in (machine, line()))
    assert with_lookup[0][0].cost == without_lookup[0][0].cost + LOOKUP
    second = with_lookup[1][0]
    assert (
        second.begin + second.cost < without_lookup[1][0].begin + without_lookup[1][0].cost + LOOKUP
    )


def test_queued_request_causes_no_directory_lookup() -> None:
    """R9: core 0 remains the owner (O) after core 1 has read. Core 2's request waits for core 1's
    Unblock, although the read's transaction has already closed. Core 0's upgrade is
    queued behind it. Neither request waits for a lookup.
    """
    lookup = 300
    machine = line(protocol="moesi", resolver={"lookup": lookup * NS, "near": (1, 2)})
    # time at which the root begins to serve the read
    read = 3000 + L2 + way("control", B, H) + SERVICE + lookup
    answered = read + 2 * way("snoop", H, A) + L2
    unblocked = read + way("snoop", H, A) + L2 + way("data", A, B) + way("snoop", B, H)
    upgrade_served = (answered + unblocked) // 2
    upgrade = upgrade_served - L2 - way("control", A, H) - SERVICE
    plans = [[at(1000, Do.AMO), at(upgrade, Do.AMO)], [at(3000, Do.LOAD)], [at(3030, Do.AMO)]]
    table, _ = logged(machine, guest("plan"), 3, **words(plans))
    in_question = polars.col("request").is_between(
        (START + 3000) * NS, (START + upgrade_served) * NS
    )
    first, second, third = table.filter(in_question).sort("open").to_dicts()
    assert (first["open"], first["close"]) == ((START + read) * NS, (START + answered) * NS)
    assert (second["requester"], second["open"]) == (2, (START + unblocked) * NS)
    assert (third["op"], third["open"]) == ("Upg", second["close"])

"""Does each line have the slice (A3) and the home node (A4) that docs/model.md assigns to it?

The log records the line that each step of a plan accessed and the resolver that served it. The time
of the miss shows at which stops the slice and the node are.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from tests.engine.test_rules_of_chance import draw
from tests.support.line import HOME as RESOLVER
from tests.support.line import NODE, NS, ONE_WAY, A, B, H, line, way
from tests.support.plans import LEAD, START, Do, Plans, Step, steps, words
from tests.support.rule_costs import LOAD, MEMORY, SERVICE, fetch, taken
from tests.support.runs import guest, logged

from uncore.program.abi import CONSTANTS
from uncore.topology.machine import Chance, Machine
from uncore.topology.schema import LINE_SIZES as SIZES

PAGE = 4096  # bytes
L2 = 9


def missed(machine: Machine, plans: Plans, **options: Any) -> list[dict[str, Any]]:
    """Returns the log's record of each step's only miss, in order of time. `took` is its latency in
    ns.
    """
    table, _ = logged(machine, guest("plan"), len(plans), **words(plans), **options)
    requests = {
        (hart, (START + step.at + LEAD + L2) * NS)
        for hart, plan in enumerate(plans)
        for step in plan
    }
    misses = [
        record
        for record in table.to_dicts()
        if (record["requester"], record["request"]) in requests
    ]
    assert len(misses) == len(requests)
    size = machine.line
    return [
        record
        | {"line": record["line"] // size, "took": (record["data"] - record["request"]) // NS}
        for record in misses
    ]


def fetch_latency(core: int, resolver: int, memory: int) -> int:
    """Returns the ns from a request to the arrival of memory's data. Arguments are the stops of the
    core, the resolver and the memory.
    """
    to_memory = way("control", core, resolver) + SERVICE + way("control", resolver, memory)
    return to_memory + MEMORY + way("data", memory, resolver) + way("data", resolver, core)


# ---- A2: lines -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("size", "stride", "shared"),
    [(64, 64, False), (128, 64, True), (128, 128, False), (256, 128, True), (256, 256, False)],
)
def test_words_of_one_line_are_invalidated_together(size: int, stride: int, shared: bool) -> None:
    """A2: hart 1 adds to the words before and after hart 0's word. At most one of them is on hart
    0's line.
    """
    plans = [
        [Step(1000, Do.AMO, 1), Step(9000, Do.LOAD, 1)],
        [Step(3000, Do.AMO, 0), Step(6000, Do.AMO, 2)],
    ]
    second_load = steps(line(line=size), plans, stride=stride)[0][1]
    assert second_load.cost == LOAD + (taken(A, B) if shared else 0)


@pytest.mark.parametrize("size", SIZES)
def test_lines_share_a_set_if_their_numbers_differ_by_the_number_of_sets(size: int) -> None:
    """A2, A5.2: with one way, only a line that shares its set evicts a line."""
    sets = ONE_WAY["l2_sets"]
    for distance, remains in ((sets, False), (sets - 1, True)):
        plans = [[Step(1000, Do.LOAD, 0), Step(3000, Do.LOAD, 1), Step(9000, Do.LOAD, 0)]]
        second_load = steps(line(line=size, core=ONE_WAY), plans, stride=distance * size)[0][2]
        assert second_load.cost == LOAD + (0 if remains else fetch(A))


# ---- A3: slices ----------------------------------------------------------------------------------

SLICES = (B, A, H)  # stops
LINES = [[Step(1000 * (i + 1), Do.LOAD, index) for i, index in enumerate(range(1, 57, 7))]]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("slices", ["hash", 0, 1, 2])
def test_a_line_is_served_by_the_slice_of_its_hash_or_of_the_job(
    slices: int | str, size: int
) -> None:
    """A3: the hash of a line's number chooses the slice. If the job names a slice, it serves all
    lines.
    """
    records = missed(
        line(line=size, resolver={"slices": SLICES}), LINES, stride=size, slices=str(slices)
    )
    served = set()
    for r in records:
        number = slice_of(r["line"]) if slices == "hash" else int(slices)
        assert r["took"] == fetch_latency(A, SLICES[number], H)
        served.add(number)
    assert served == ({0, 1, 2} if slices == "hash" else {slices})


def slice_of(number: int) -> int:
    """A3: returns the slice of the line with this number."""
    return (number * 0x9E3779B97F4A7C15 % 2**64 >> 32) % 3


@pytest.mark.parametrize("seed", [0, 1, 2**63 - 1])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("slices", ["hash", "1"])
def test_drawn_offset_shifts_the_slice_of_every_line(slices: str, size: int, seed: int) -> None:
    """V10: a draw of the run shifts all lines among the slices, unless the job names the slice."""
    most = 999_999
    machine = line(line=size, resolver={"slices": SLICES}, chance=Chance(slice=most))
    records = missed(machine, LINES, stride=size, slices=slices, seeds=(seed,))
    lines, offset = [r["line"] for r in records], draw(most, 9, 0, 0, seed)
    expected_slices = [slice_of(number + offset) if slices == "hash" else 1 for number in lines]
    assert [r["took"] for r in records] == [fetch_latency(A, SLICES[n], H) for n in expected_slices]
    assert expected_slices != [slice_of(number) for number in lines]


# ---- A4: home nodes ------------------------------------------------------------------------------

NODES = (B, A)  # stops of nodes 0 and 1
# Cores A and H miss on other lines of the pages that core B touched first.
TOUCHED = [
    [Step(1000 * i, Do.LOAD, index) for i, index in ((4, 8), (5, 9), (6, 11), (7, 12))],
    [Step(1000, Do.LOAD, 10)],
    [Step(1000 * i, Do.LOAD, index) for i, index in ((2, 13), (3, 20))],
]


def two_nodes(central: bool) -> Machine:
    """Returns a machine with two memory nodes, both below one resolver at H (`central`) or each
    below its own resolver.
    """
    memories = tuple(dataclasses.replace(NODE, stop=stop) for stop in NODES)
    one_per_node = (
        dataclasses.replace(RESOLVER, slices=(s,), memory=k) for k, s in enumerate(NODES)
    )
    return (
        line(memories=memories)
        if central
        else line(memories=memories, resolvers=tuple(one_per_node))
    )


def expected_homes(home: str, node: int, records: list[dict[str, Any]]) -> list[int]:
    """A4: returns the home node of each record's line."""
    if home == "addressed":
        return [node] * len(records)
    if home.startswith("node"):
        return [int(home[-1])] * len(records)
    if home == "interleave":
        return [r["line"] * 64 // PAGE % 2 for r in records]
    # node 0 is nearest to the core at B, node 1 is nearest to the cores at A and H
    first: dict[int, int] = {}
    return [
        first.setdefault(r["line"] * 64 // PAGE, 0 if r["requester"] == 1 else 1) for r in records
    ]


def test_memory_of_each_node_begins_where_the_previous_ends() -> None:
    """A4: the first line of node 1 follows the last line of node 0."""
    first = [[Step(1000, Do.LOAD, 0)]]
    (record,) = missed(two_nodes(central=True), first, home="addressed", node=1)
    assert record["line"] * 64 == CONSTANTS["UC_RAM_BASE"] + NODE.size
    assert record["source"] == 4 + 1


def test_lowest_of_equally_near_nodes_is_the_home_of_a_page() -> None:
    """A4: both nodes are at the same stop."""
    memories = (dataclasses.replace(NODE, stop=A), NODE, NODE)
    (record,) = missed(line(memories=memories), [[], [Step(1000, Do.LOAD)]], home="first-touch")
    assert record["source"] == 4 + 1


@pytest.mark.parametrize("central", [True, False], ids=["one resolver", "a resolver a node"])
@pytest.mark.parametrize("node", [0, 1])
@pytest.mark.parametrize("home", ["addressed", "node0", "node1", "interleave", "first-touch"])
def test_a_line_is_served_by_the_memory_of_its_home_node(
    home: str, node: int, central: bool
) -> None:
    """A4: each page has two of the plan's lines. The plan allocates its lines on `node`."""
    records = missed(two_nodes(central), TOUCHED, home=home, node=node, stride=2048)
    nodes = expected_homes(home, node, records)
    stops = (A, B, H)  # stops of the cores
    for r, k in zip(records, nodes, strict=True):
        resolver_stop = H if central else NODES[k]
        first_memory = 4 if central else 5
        assert r["source"] == first_memory + k and r["resolver"] == (3 if central else 3 + k)
        assert r["took"] == fetch_latency(stops[r["requester"]], resolver_stop, NODES[k])
    assert len(set(nodes)) == (2 if home in ("interleave", "first-touch") else 1)
    if home == "first-touch":  # the home does not depend on which core misses later
        assert any(r["requester"] == 0 and k == 0 for r, k in zip(records, nodes, strict=True))

"""Does a part that is cut out of a machine behave as it does in the whole machine?"""

from __future__ import annotations

import pytest

from uncore import api
from uncore.errors import UserError
from uncore.topology import Machine, load
from uncore.topology.cpus import hart_of_cpu
from uncore.topology.load import shipped
from uncore.topology.route import Routes


def part_of(name: str, path: str) -> Machine:
    return load(name, [f"part={path}"])


@pytest.mark.parametrize("name", shipped())
def test_a_message_takes_as_long_in_a_part_as_in_the_whole_machine(name: str) -> None:
    whole = load(name)
    part = part_of(name, f"{whole.levels[1]}0")
    assert part.cores == sum(row[1] == 0 for row in whole.shape)
    here, there = Routes(part), Routes(whole)
    seats = sorted({*part.core_stops, *(memory.stop for memory in part.memories)})
    for a in seats[:3]:
        for b in seats[-3:]:
            ends = [whole.stops.index(part.stops[stop]) for stop in (a, b)]
            for kind in ("control", "data", "snoop"):
                assert here.message(kind, a, b) == there.message(kind, *ends)


@pytest.mark.parametrize(
    ("name", "path", "node", "first"),
    [
        ("epyc7601x2", "socket1.die2", "node6", 48),
        ("epyc7302x2", "socket1.die3.ccx1", "node1", 30),
        ("opteron6168x4", "socket2", "node4", 24),
        ("x8275clx2", "socket1", "node1", 24),
    ],
)
def test_a_line_that_stays_in_a_part_takes_as_long_as_in_the_whole_machine(
    name: str, path: str, node: str, first: int
) -> None:
    sizes = {"rounds": "5", "pairs": "one"}
    threads = load(name).threads_per_core
    places = [first * threads, (first + 1) * threads]
    (whole,) = api.run(
        name, "latency/pingpong", [2], parameters=sizes, home=node, slices="0",
        placement=",".join(map(str, places)), seeds=(),
    ).outcome.points  # fmt: skip
    (alone,) = api.run(
        name, "latency/pingpong", [2], parameters=sizes, home="node0", slices="0",
        overrides={"part": path}, placement=f"0,{threads}", seeds=(),
    ).outcome.points  # fmt: skip
    assert alone.failures == []
    here, there = (max(point.tables["handoff"][0]) for point in (alone, whole))
    assert here == pytest.approx(there, rel=0.005)  # the time of a poll is random


def test_a_complex_cut_out_of_a_machine_has_its_nearest_memory() -> None:
    assert len(part_of("epyc7601x2", "socket0").memories) == 4
    assert len(part_of("epyc7601x2", "socket0.die3.ccx1").memories) == 1


def test_part_keeps_the_cpu_numbers_of_its_machine() -> None:
    """On the EPYC 7601, Linux numbers the first threads of all cores before the second ones."""
    harts = hart_of_cpu(part_of("epyc7601x2", "socket0.die1"))
    assert [cpu for cpu, hart in enumerate(harts) if hart is not None] == [
        *range(8, 16),
        *range(72, 80),
    ]
    assert harts[8:10] == [0, 2] and harts[72] == 1


@pytest.mark.parametrize("path", ["socket2", "die0", "socket0.die0.ccx0.core0.thread0"])
def test_unknown_part_is_refused(path: str) -> None:
    with pytest.raises(
        UserError, match=r"expected a part of the tree, like socket0 or socket0\.die0"
    ):
        part_of("epyc7601x2", path)

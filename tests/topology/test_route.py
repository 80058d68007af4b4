"""Do closed-form handoffs follow the law of the resolver exactly?

The triangle law: if the owner replies directly, and the requester's completion unblocks the home, a
handoff takes the time from core i to the home, to core j, and back to i.  The additive law: if the
owner's response unblocks the home, the time is the sum of a part for each core.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from tests.support.small_machines import load_text, with_join

from uncore.topology import Machine, load
from uncore.topology.route import Handoff, Routes, nearest_memories

MESH = 'kind = "mesh"\nlatency = "1ns"\ncontrol_ratio = 0.5\ninject = "4ns"\nmap = "m 0 1 2 3"'


def mesh(tmp_path: Path, *settings: str) -> Machine:
    text = with_join(MESH, "socket:1 core:4 thread:1")
    return load_text(tmp_path, text, "system.resolver.service=2ns", "core.hold=5ns", *settings)


def test_direct_reply_with_completion_follows_the_triangle_law(tmp_path: Path) -> None:
    handoff = Handoff(mesh(tmp_path))
    # 4 ns in, 1 ps out (the least time of a wire); 2 hops from core to core; 1 and 3 hops from the
    # home, in both directions
    data, near, far = 4001 + 2000, 4001 + 2 * 500, 4001 + 2 * 1500
    assert handoff.estimate(2, 0) == data + (near + far) // 2 + 2000


def test_handoff_with_unblock_by_the_response_follows_the_additive_law(tmp_path: Path) -> None:
    machine = mesh(tmp_path, "system.resolver.unblock=response", "core.hold=0ns")
    handoff = Handoff(machine)
    cost = [handoff.estimate(0, j) for j in (1, 2, 3)]
    assert cost[1] - cost[0] == cost[2] - cost[1] == 500
    near, far = 4001 + 2 * 500, 4001 + 2 * 1500
    assert handoff.estimate(2, 0) == (near + far) // 2 + 2000


def test_handoff_with_unblock_by_the_response_waits_for_the_hold_of_the_owner(
    tmp_path: Path,
) -> None:
    machine = mesh(tmp_path, "system.resolver.unblock=response", "core.hold=50ns")
    assert Handoff(machine).estimate(1, 0) == 50_000 + 4001 + 1000


def test_reply_via_the_home_takes_the_path_through_the_home(tmp_path: Path) -> None:
    handoff = Handoff(mesh(tmp_path, "system.resolver.reply=via"))
    data, control = ([4001 + 2 * hop * hops for hops in (1, 3)] for hop in (1000, 500))
    assert handoff.estimate(2, 0) == sum(data) // 2 + sum(control) // 2 + 2000


def test_handoff_crosses_as_many_die_links_as_the_places_of_cores_and_home_imply() -> None:
    """A handoff takes 0 links if both cores are on the home's die, 2 if one or both are on one
    other die, and 3 if they are on two other dies.
    """
    handoff = Handoff(load("epyc7601x2", ["socket.join.latency=1us", "system.join.latency=1us"]))
    base = handoff.estimate(0, 4)
    links = [round((handoff.estimate(i, j) - base) / 1e6) for i, j in ((8, 12), (0, 8), (8, 16))]
    assert links == [2, 2, 3]


def test_handoff_between_cores_far_from_the_home_crosses_sockets_twice() -> None:
    handoff = Handoff(load("epyc7302x2", ["system.join.latency=1us"]))
    crossings = handoff.estimate(0, 4, node=1) - handoff.estimate(0, 4, node=0)
    assert crossings == pytest.approx(2e6, rel=0.001)


def test_hashed_lines_are_spread_over_all_equal_routes() -> None:
    machine = load("mesh:3x3", ["routes=hashed"])
    routes, (source, target) = Routes(machine), (machine.stops.index(s) for s in ("x0y0", "x2y2"))
    taken = Counter(tuple(routes.path(source, target, line)) for line in range(600))
    assert len(taken) == 6 and {len(path) for path in taken} == {4}
    assert min(taken.values()) > 40  # at least 40 of 150 where two hops are free to choose, else 75
    assert Routes(load("mesh:3x3")).path(source, target, 7) == routes.path(source, target)


def test_a_message_adds_its_slowest_wire_once() -> None:
    machine = load("mesh:4x1", ["system.join.width=8B/ns"])
    routes = Routes(machine)
    ends = machine.stops.index("x0y0"), machine.stops.index("x3y0")
    assert routes.message("data", *ends) == 3 * 1000 + 10_000
    assert routes.message("control", *ends) == 3 * 1000 + 2000


def test_each_hart_has_its_nearest_memory() -> None:
    """Each of eight dies has a memory, four cores form a complex, and siblings have adjacent
    numbers.
    """
    machine = load("epyc7601x2")
    assert nearest_memories(machine, [0, 15, 16, 17, 64, 127]) == [0, 0, 1, 1, 4, 7]
    assert set(nearest_memories(load("ring"), range(16))) == {0}

"""Do shapes have the stops and links that an architect would draw, and do messages take the
expected route?
"""

from __future__ import annotations

from itertools import pairwise, product
from pathlib import Path

import pytest
from tests.support.small_machines import load_text, with_join

from uncore.errors import UserError
from uncore.topology import Machine, load
from uncore.topology.floorplan import grid_of
from uncore.topology.load import shipped
from uncore.topology.route import Routes
from uncore.topology.tree import parse_tree


def way(machine: Machine, source: str, target: str) -> list[str]:
    """Returns the names of the stops along the route."""
    ends = machine.stops.index(source), machine.stops.index(target)
    return [source, *(machine.stops[machine.links[n].target] for n in Routes(machine).path(*ends))]


def pairs(machine: Machine) -> list[tuple[int, int]]:
    some = range(0, len(machine.stops), max(1, len(machine.stops) // 24))
    return list(product(some, some))


@pytest.mark.parametrize("name", [*shipped(), "mesh:16x8", "ccx:32x8"])
def test_message_takes_the_same_time_in_both_directions(name: str) -> None:
    machine = load(name)
    routes = Routes(machine)
    for a, b in pairs(machine):
        for kind in ("control", "data", "snoop"):
            there, back = routes.message(kind, a, b), routes.message(kind, b, a)
            if not any(link.channel >= 0 and link.snoop_busy == 0 for link in machine.links):
                assert abs(there - back) <= 40  # half of an odd number of ps is rounded


@pytest.mark.parametrize("name", [*shipped(), "mesh:16x8"])
def test_a_path_is_a_chain_of_links_of_least_latency(name: str) -> None:
    machine = load(name)
    routes = Routes(machine)
    for a, b in pairs(machine):
        links = [machine.links[n] for n in routes.path(a, b)]
        assert all(first.target == second.source for first, second in pairwise(links))
        assert sum(link.control for link in links) == routes.distances(b)[a]


def test_a_message_in_a_mesh_goes_along_x_then_along_y() -> None:
    machine = load("mesh:4x4")
    assert way(machine, "x0y0", "x2y2") == ["x0y0", "x1y0", "x2y0", "x2y1", "x2y2"]
    assert way(machine, "x3y3", "x2y1") == ["x3y3", "x2y3", "x2y2", "x2y1"]


def test_each_hub_of_a_tree_is_wired_to_its_share_of_the_hubs_above() -> None:
    """Each of a complex's two hubs is wired to two of the four outer hubs, so there are four routes
    to another complex.
    """
    machine = load("ccx:3x2", ["routes=hashed", "ccx.join.hubs=2", "system.join.hubs=4"])
    wired = {(machine.stops[k.source], machine.stops[k.target]) for k in machine.links}
    for hub in range(2):
        above = {target for source, target in wired if source == f"ccx1.hub{hub}"}
        assert above == {f"hub{hub}", f"hub{hub + 2}", "ccx1.core0", "ccx1.core1"}
    ends = [machine.stops.index(name) for name in ("ccx0.core1", "ccx2.core0")]
    taken = {tuple(Routes(machine).path(*ends, line)) for line in range(100)}
    assert len(taken) == 4 and {len(path) for path in taken} == {4}


def test_only_a_crossbar_stands_above_several_hubs() -> None:
    with pytest.raises(UserError, match="'ccx0' has several hubs; expected a crossbar above them"):
        load("ccx:3x2", ["ccx.join.hubs=2", "system.join=all-to-all 9ns"])


def test_a_message_to_the_far_side_of_a_ring_goes_clockwise() -> None:
    machine = load("ring:6")
    assert way(machine, "s0", "s3") == ["s0", "s1", "s2", "s3"]
    assert way(machine, "s4", "s1") == ["s4", "s5", "s0", "s1"]
    assert way(machine, "s0", "s4") == ["s0", "s5", "s4"]


def test_rows_and_columns_of_a_torus_close_into_rings(tmp_path: Path) -> None:
    """On a torus of 4 x 3, the middle of a row is two hops away, and the stop across its end one
    hop. A ring of two stops needs no extra wire.
    """

    def torus(size: str, cores: int) -> Machine:
        join = f'kind = "torus"\nsize = "{size}"\nlatency = "1ns"'
        return load_text(tmp_path, with_join(join, f"socket:1 core:{cores} thread:1"))

    machine = torus("4x3", 12)
    hops = Routes(machine).distances(machine.core_stops[0])
    rows = [[hops[machine.core_stops[4 * y + x]] // 1000 for x in range(4)] for y in range(3)]
    assert rows == [[0, 1, 2, 1], [1, 2, 3, 2], [1, 2, 3, 2]]
    assert len(machine.links) == 2 * (12 + 12)
    assert len(torus("4x2", 8).links) == 2 * (8 + 4)


@pytest.mark.parametrize(
    ("kind", "far", "wires"), [("mesh", [0, 1, 2, 3], 144), ("torus", [0, 1, 2, 1], 192)]
)
def test_distance_in_a_mesh_with_layers_is_the_sum_over_three_axes(
    tmp_path: Path, kind: str, far: list[int], wires: int
) -> None:
    """On 4 x 4 x 4 a distance is the sum over the three axes; a hop between layers costs `dz`."""
    join = f'kind = "{kind}"\nsize = "4x4x4"\nlatency = "1ns"\ndz = "100ns"'
    machine = load_text(tmp_path, with_join(join, "socket:1 core:64 thread:1"))
    hops = Routes(machine).distances(machine.core_stops[0])
    at = {(x, y, z): 16 * z + 4 * y + x for x in range(4) for y in range(4) for z in range(4)}
    for (x, y, z), core in at.items():
        expected = far[x] + far[y] + 100 * far[z]
        assert hops[machine.core_stops[core]] == expected * 1000
    assert len(machine.links) == 2 * wires


def test_mesh_with_layers_needs_the_time_between_layers(tmp_path: Path) -> None:
    join = 'kind = "mesh"\nsize = "2x2x2"\ndx = "1ns"\ndy = "1ns"'
    with pytest.raises(UserError, match="expected dz, or latency"):
        load_text(tmp_path, with_join(join, "socket:1 core:8 thread:1"))


def test_a_message_goes_around_a_hole(tmp_path: Path) -> None:
    join = 'kind = "mesh"\nlatency = "1ns"\nmap = """\n 0 x 1\n 2 3 4 \n"""'
    machine = load_text(tmp_path, with_join(join, "socket:1 core:5 thread:1"))
    stops = [machine.stops.index("socket0.x0y0"), machine.stops.index("socket0.x2y0")]
    assert len(Routes(machine).path(*stops)) == 4


def test_agents_are_where_the_map_puts_them(tmp_path: Path) -> None:
    join = 'kind = "mesh"\nlatency = "1ns"\nmap = """\n 3+1 . m \n s 0 2+u+s \n"""'
    machine = load_text(
        tmp_path,
        'protocol = "moesi"\n'
        + with_join(join, "socket:2 core:4 thread:1")
        + '[socket.resolver]\nknows = "directory"\nat = "slices"\nreply = "via"\n'
        + 'unblock = "response"\nservice = "1ns"\ngrants = 1\n'
        + '[system]\njoin = "crossbar 20ns"\n',
    )
    names = [machine.stops[stop] for stop in machine.core_stops]
    assert names[:4] == [f"socket0.{stop}" for stop in ("x1y1", "x0y0", "x2y1", "x0y0")]
    assert names[4] == "socket1.x1y1"
    slices = [machine.stops[stop] for stop in machine.resolvers[0].slices]
    assert slices == ["socket0.x0y1", "socket0.x2y1"]
    assert [machine.stops[m.stop] for m in machine.memories] == ["socket0.x2y0", "socket1.x2y0"]
    assert way(machine, "socket0.x0y1", "hub") == [
        *("socket0.x0y1", "socket0.x1y1", "socket0.x2y1", "hub"),
    ]


def test_the_far_ring_is_reached_over_the_nearest_bridge() -> None:
    machine = load("e52695v4x2", ["socket.join.bridge=7ns"])
    bridges = {
        (machine.stops[link.source], machine.stops[link.target])
        for link in machine.links
        if link.level == "socket" and link.control == 7_000
    }
    ways = {("socket0.s6", "socket0.s14"), ("socket0.s13", "socket0.s20")}
    assert ways <= bridges and len(bridges) == 8


def test_quadrants_have_a_diagonal_link_only_if_the_file_states_it(tmp_path: Path) -> None:
    join = 'kind = "quadrants"\ndx = "6ns"\ndy = "18ns"'
    tree = "socket:1 core:4 thread:1"
    plain = load_text(tmp_path, with_join(join, tree))
    assert way(plain, "socket0.q0", "socket0.q3") == ["socket0.q0", "socket0.q1", "socket0.q3"]
    crossed = load_text(tmp_path, with_join(join + '\ndiagonal = "18ns"', tree))
    assert way(crossed, "socket0.q0", "socket0.q3") == ["socket0.q0", "socket0.q3"]
    assert len(crossed.links) - len(plain.links) == 4


def test_a_bus_is_one_channel_that_snoops_do_not_take() -> None:
    machine = load("bus:8")
    inward = [link for link in machine.links if machine.stops[link.target] == "bus"]
    assert {link.channel for link in inward} == {0}
    assert all(link.control_busy and link.data_busy and not link.snoop_busy for link in inward)
    outward = [link for link in machine.links if machine.stops[link.source] == "bus"]
    assert all(link.channel == -1 for link in outward)


def test_every_wire_of_a_crossbar_has_its_own_channel() -> None:
    machine = load("r3900x", ["ccx.join.latency=17ns"])
    limited = [link.channel for link in machine.links if link.channel >= 0]
    assert len(limited) == len(set(limited)) == len(machine.links)
    assert machine.links[0].control == 8_500  # ps: half of 17 ns in, half out


def test_dies_of_two_sockets_are_linked_pairwise() -> None:
    machine = load("epyc7601x2")
    assert way(machine, "socket0.die1.hub", "socket1.die2.hub") == [
        *("socket0.die1.hub", "socket0.die0.hub", "socket1.die2.hub"),
    ]


def test_harts_are_numbered_in_the_order_of_the_tree() -> None:
    machine = load("epyc7601x2")
    assert machine.levels == ("system", "socket", "die", "ccx", "core", "thread")
    assert machine.shape[0] == (0, 0, 0, 0, 0)
    assert machine.shape[37] == (0, 1, 4, 9, 37)
    assert machine.threads_per_core == 2


def test_parents_of_one_level_may_have_different_numbers_of_children() -> None:
    tree = parse_tree("die:2 ccx:2,1 core:4,2,3 thread:1")
    assert [len(group.cores()) for group in tree.groups("ccx")] == [4, 2, 3]
    assert [group.path for group in tree.groups("ccx")] == ["die0.ccx0", "die0.ccx1", "die1.ccx0"]
    assert tree.groups("core")[6].ancestors == (0, 1, 2)


def test_shapes_of_a_thousand_harts_resolve() -> None:
    for name in ("bus:1024", "ring:1024", "mesh:32x32", "ccx:128x8"):
        assert load(name).harts == 1024


def test_members_that_share_stops_are_grouped_in_blocks() -> None:
    """Eight members share two by two stops: two members with adjacent numbers are at each stop."""
    plan = grid_of(8, 2, 2)
    assert [plan.members[m] for m in range(8)] == [spot for spot in plan.spots for _ in range(2)]

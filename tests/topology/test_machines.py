"""Does every shipped machine load, with the structure that its maker published?"""

from __future__ import annotations

import pytest

from uncore.topology import Machine, list_machines, load
from uncore.topology.cpus import hart_of_cpu
from uncore.topology.load import shipped
from uncore.topology.route import Handoff

HARTS = {
    "ampereone192": 192,
    "athlonx2-3800": 2,
    "atomd510": 4,
    "broadwell10x2": 40,
    "core2q9550": 4,
    "e52620v4x2": 32,
    "e52630v4x2": 40,
    "e52680v4x2": 56,
    "e52690x2": 32,
    "e52695v4x2": 72,
    "e52699v3x2": 72,
    "e78890v3x4": 144,
    "epyc7302x2": 64,
    "epyc7453": 56,
    "epyc7453x2": 112,
    "epyc7601x2": 128,
    "epyc7742x2": 256,
    "epyc7763x2": 256,
    "epyc7773x": 128,
    "epyc9274fx2": 96,
    "epyc9374f": 64,
    "epyc9374fx2": 128,
    "epyc9654x2": 192,
    "epyc9754": 128,
    "epyc9755x2": 512,
    "epyc9965x2": 768,
    "fx8300": 8,
    "grace": 72,
    "graviton2": 64,
    "graviton4": 96,
    "graviton4x2": 192,
    "i510310u": 8,
    "i54590": 4,
    "i76700k": 8,
    "knl7210": 64,
    "m1pro": 8,
    "naples32": 64,
    "opteron2384x2": 8,
    "opteron6168x4": 48,
    "opteron8218x4": 8,
    "power10x4": 352,
    "power9x2": 128,
    "r2700x": 16,
    "r3900x": 24,
    "r5600x": 12,
    "r5700x": 16,
    "r5800u": 16,
    "r5800x3d": 16,
    "r5900hx": 16,
    "r5950x": 32,
    "r9950x": 32,
    "skylake24": 48,
    "tr1950x": 32,
    "tr2990wx": 64,
    "tr3960x": 48,
    "tr9980x": 128,
    "trpro3945wx": 24,
    "trpro5995wx": 128,
    "w2150b": 20,
    "w93495x": 112,
    "x5570x2": 16,
    "x5650x2": 24,
    "x6130x2": 64,
    "x6242x1": 32,
    "x6242x2": 64,
    "x6252nx2": 96,
    "x6336yx2": 96,
    "x6780e": 144,
    "x6980p": 256,
    "x8160x2": 96,
    "x8180": 56,
    "x8180x2": 112,
    "x8275clx2": 96,
    "x8358x2": 64,
}
SHAPES = {"bus:8": 8, "ring:16": 16, "mesh:16x8": 128, "ccx:32x8": 256, "mesh:32x32": 1024}


@pytest.mark.parametrize(("name", "harts"), (HARTS | SHAPES).items())
def test_the_machine_has_the_harts_its_maker_says(name: str, harts: int) -> None:
    machine = load(name)
    assert machine.harts == harts
    assert sorted(hart_of_cpu(machine)) == list(range(harts))


@pytest.mark.parametrize("name", shipped())
def test_every_number_of_a_shipped_machine_has_a_source_and_a_line(name: str) -> None:
    machine = load(name)
    assert machine.numbers
    for number in machine.numbers:
        assert number.source not in ("", "unstated"), number
        assert number.line > 0 and number.file.startswith("topologies/"), number


def test_every_shipped_machine_is_listed_in_one_line() -> None:
    listed = dict(list_machines())
    assert set(HARTS) | {"bus", "ring", "mesh", "ccx"} <= set(listed)
    assert all(line and "\n" not in line for line in listed.values())


@pytest.mark.parametrize("name", [*shipped(), *SHAPES])
def test_every_core_is_under_resolvers_that_end_at_a_root(name: str) -> None:
    machine = load(name)
    handoff = Handoff(machine)
    for node in range(len(machine.memories)):
        for core in range(machine.cores):
            chain = handoff.chain(core, node)
            assert not chain[-1].parents
            assert chain[-1].memory in (-1, node)
            assert all(r.parents for r in chain[:-1])


@pytest.mark.parametrize("name", [*shipped(), *SHAPES])
def test_each_resolver_is_a_parent_of_the_resolvers_below_it(name: str) -> None:
    machine = load(name)
    for agent, resolver in enumerate(machine.resolvers, start=machine.cores):
        for child in resolver.children:
            if child >= machine.cores:
                assert agent in machine.resolvers[child - machine.cores].parents


def agents_of(machine: Machine, level: str) -> list[str]:
    return [resolver.name for resolver in machine.resolvers if resolver.level == level]


def test_ownership_is_resolved_where_the_maker_resolves_it() -> None:
    naples, skylake, desktop = load("epyc7601x2"), load("x6130x2"), load("w2150b")
    assert len(agents_of(naples, "ccx")) == 16
    assert agents_of(naples, "system") == [f"home{node}" for node in range(8)]
    assert agents_of(skylake, "socket") == ["socket0", "socket1"]
    assert agents_of(skylake, "system") == ["home0", "home1"]
    assert agents_of(desktop, "socket") == ["socket0"] and not agents_of(desktop, "system")
    assert desktop.resolvers[0].memory == -1


def test_nehalem_asks_cores_that_may_have_the_line_and_a_bus_asks_all() -> None:
    nehalem, bus = load("x5570x2"), load("bus:8")
    assert nehalem.cores == bus.cores == 8
    assert [r.knows for r in nehalem.resolvers if r.level == "socket"] == ["inclusive"] * 2
    assert [r.knows for r in bus.resolvers] == ["snoop"]
    [first, second] = (set(r.children) for r in nehalem.resolvers if r.level == "socket")
    assert (first, second) == ({0, 1, 2, 3}, {4, 5, 6, 7})
    assert set(bus.resolvers[0].children) == first | second


@pytest.mark.parametrize(
    "name", ["skylake24", "w2150b", "x6130x2", "x6252nx2", "x8160x2", "x8176x8"]
)
def test_a_snoop_filter_slice_of_skylake_sp_tracks_one_and_a_half_times_the_l2(name: str) -> None:
    """For each set of a slice's data there is a filter set of twelve ways: 2048 sets per slice."""
    machine = load(name)
    [socket, *_] = (resolver for resolver in machine.resolvers if resolver.level == "socket")
    assert (socket.ways, socket.entries) == (12, 12 * socket.data_sets)
    core = machine.core
    slices = socket.data_sets // 2048
    assert socket.entries == 3 * slices * core.l2_sets * core.l2_ways // 2


def test_two_complexes_of_a_rome_die_meet_only_on_the_io_die() -> None:
    machine = load("epyc7302x2")
    handoff = Handoff(machine)
    first, second = machine.core_stops[0], machine.core_stops[2]
    way = [machine.links[n].target for n in handoff.routes.path(first, second)]
    assert "socket0.q0" in [machine.stops[stop] for stop in way]


def test_the_dies_of_four_magny_cours_are_at_most_two_hops_apart() -> None:
    machine = load("opteron6168x4")
    hub = {name: stop for stop, name in enumerate(machine.stops)}
    routes = Handoff(machine).routes
    dies = [hub[f"socket{s}.die{d}.hub"] for s in range(4) for d in range(2)]
    hops = {a: sorted(len(routes.path(a, b)) for b in dies) for a in dies}
    assert set(map(tuple, hops.values())) == {(0, 1, 1, 1, 1, 2, 2, 2)}


def test_two_dies_of_the_2990wx_have_no_memory() -> None:
    machine = load("tr2990wx")
    assert [machine.stops[m.stop] for m in machine.memories] == [
        "socket0.die0.hub",
        "socket0.die2.hub",
    ]

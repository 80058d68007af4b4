"""Is memory of another kind at its stated place, as slow as stated, and used on request?"""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from tests.support.small_machines import ROOT, load_text

from uncore.boot.device_tree import RAM_BASE
from uncore.boot.images import Kernel
from uncore.boot.kernel_run import Boot, memory_of_nodes
from uncore.errors import UserError
from uncore.execution.execute import execute
from uncore.execution.request import make_job
from uncore.job import home_nodes
from uncore.topology import Machine, hwloc
from uncore.topology.route import Routes
from uncore.topology.show import tree_text

TWO = (
    """\
extends = "families/teaching"
name = "two sockets, an expander"
tree = "socket:2 core:2 thread:1"

[socket]
join = "crossbar 4ns 32B/ns"

[system]
join = "crossbar 20ns 32B/ns"

[memory.cxl]
node      = "socket"
groups    = "1"
link      = "70ns"
bandwidth = "20GB/s"

"""
    + ROOT
)


@pytest.fixture
def expanded(tmp_path: Path) -> Machine:
    return load_text(tmp_path, TWO)


def test_kind_of_memory_inherits_what_it_does_not_state(expanded: Machine) -> None:
    *own, cxl = expanded.memories
    assert [memory.kind for memory in expanded.memories] == ["", "", "cxl"]
    assert cxl.latency == own[1].latency == 60_000
    assert cxl.busy == 64_000 // 20 and cxl.busy != own[1].busy
    assert expanded.memory_kinds == ("cxl",) and expanded.nodes_of("cxl") == [2]


def test_memory_behind_a_link_is_farther_by_the_latency_of_the_link_in_each_direction(
    expanded: Machine,
) -> None:
    near, cxl = (memory.stop for memory in expanded.memories[1:])
    assert expanded.stops[cxl] == "socket1.cxl"
    routes, core = Routes(expanded), expanded.core_stops[2]
    assert routes.distances(core)[cxl] - routes.distances(core)[near] == 70_000
    assert routes.distances(cxl)[core] - routes.distances(near)[core] == 70_000


def test_policy_assigns_pages_to_the_nodes_of_one_kind(expanded: Machine) -> None:
    assert home_nodes("cxl", expanded) == [2]
    assert home_nodes("interleave", expanded) == [0, 1]
    assert home_nodes("node2", expanded) == [2]
    assert home_nodes("addressed", expanded) == [0, 1, 2]


@pytest.mark.parametrize("engine", ["native", "reference"])
def test_load_behind_a_link_takes_two_link_latencies_longer(expanded: Machine, engine: str) -> None:
    """Both kinds of memory have equal channels in this machine; the home is at the port of the
    link.
    """

    def load(home: str) -> int:
        job = make_job(
            expanded,
            "latency/chase",
            [2],
            home=home,
            placement="2-3",
            engine=engine,
            parameters={"state": "none", "lines": 8, "rounds": 1},
        )
        (point,) = execute([job])[0].outcome.points
        return int(point.tables["load"][0][1])

    assert load("cxl") - load("node1") == pytest.approx(140_000, rel=0.01)


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        ({"node": '"socket"', "size": '"3KiB"'}, "'memory.cxl.size = 3KiB': expected a multiple"),
        ({"node": '"socket"', "groups": '"2"'}, "expected indices from 0 to 1"),
        ({"lnk": '"70ns"'}, "unknown key 'memory.cxl.lnk'. Did you mean 'memory.cxl.link'"),
        ({"link": '"70"'}, "memory.cxl.link"),
    ],
)
def test_mistake_in_a_kind_of_memory_is_named(
    tmp_path: Path, edit: dict[str, str], words: str
) -> None:
    table = "\n".join(f"{key} = {value}" for key, value in edit.items())
    a, b = TWO.index("node      ="), TWO.index("\n\n" + ROOT)
    with pytest.raises(UserError, match=re.escape(words)):
        load_text(tmp_path, TWO[:a] + table + TWO[b:])


@pytest.fixture
def larger(tmp_path: Path) -> Machine:
    return load_text(tmp_path, TWO, "memory.size=1GiB", "memory.cxl.size=3GiB")


def test_nodes_of_each_kind_have_the_size_that_the_kind_states(larger: Machine) -> None:
    assert [memory.size >> 30 for memory in larger.memories] == [1, 1, 3]
    assert "2 memory nodes of 1 GiB, 1 of cxl of 3 GiB" in tree_text(larger)
    nodes = ElementTree.fromstring(hwloc.xml(larger)).iter("object")
    told = {n.get("os_index"): n.get("local_memory") for n in nodes if n.get("type") == "NUMANode"}
    assert told == {"0": str(1 << 30), "1": str(1 << 30), "2": str(3 << 30)}


def test_a_kernel_is_told_where_nodes_begin_and_how_large_they_are(larger: Machine) -> None:
    """A4.1: the nodes of each kind begin at a multiple of the largest node's size."""
    boot = Boot(larger, (0,), Kernel(b"", 0, 0), memory=5 << 30)
    sizes = [(node.address - RAM_BASE >> 30, node.size >> 30) for node in memory_of_nodes(boot)]
    assert sizes == [(0, 1), (3, 1), (6, 3)]
    half = [node.size >> 20 for node in memory_of_nodes(dataclasses.replace(boot, memory=1 << 30))]
    # The nodes have a fifth, a fifth and three fifths of the memory, in pages of 2 MiB.
    assert half == [204, 204, 614]


@pytest.mark.parametrize("engine", ["native", "reference"])
def test_address_in_the_ram_of_a_node_belongs_to_that_node(larger: Machine, engine: str) -> None:
    """A4.1: memory that a program allocates on a node is in that node, whatever the sizes of the
    nodes before it.
    """
    times = []
    for node in range(3):
        given = {"state": "none", "lines": 8, "rounds": 1, "lines_node": node}
        job = make_job(
            larger, "latency/chase", [2], placement="2-3", engine=engine, parameters=given
        )
        (point,) = execute([job])[0].outcome.points
        times.append(int(point.tables["load"][0][1]))
    far, near, cxl = times
    assert near < far and cxl - near == pytest.approx(140_000, rel=0.01)


def test_error_about_an_unknown_home_names_the_kinds_of_memory(expanded: Machine) -> None:
    with pytest.raises(UserError, match="Did you mean 'cxl'"):
        make_job(expanded, "latency/chase", [2], home="cxll")


@pytest.mark.parametrize("name", ["pair", "interleave", "node0"])
def test_home_that_is_a_policy_and_a_kind_is_refused(name: str, tmp_path: Path) -> None:
    machine = load_text(tmp_path, TWO.replace("memory.cxl", f"memory.{name}"))
    with pytest.raises(UserError, match=rf"--home {name}: a policy, and a kind of memory of "):
        make_job(machine, "latency/chase", [2], home=name)

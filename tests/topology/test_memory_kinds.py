"""Is memory of another kind where its file says, as slow as it says, and used when asked for?"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.support.small_machines import ROOT, load_text

from uncore.errors import UserError
from uncore.execution.execute import execute
from uncore.execution.request import make_job
from uncore.job import home_nodes
from uncore.topology import Machine
from uncore.topology.route import Routes

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


def test_a_kind_has_what_it_says_and_otherwise_what_memory_has(expanded: Machine) -> None:
    *own, cxl = expanded.memories
    assert [memory.kind for memory in expanded.memories] == ["", "", "cxl"]
    assert cxl.latency == own[1].latency == 60_000
    assert cxl.busy == 64_000 // 20 and cxl.busy != own[1].busy
    assert expanded.memory_kinds == ("cxl",) and expanded.nodes_of("cxl") == [2]


def test_memory_behind_a_link_is_that_much_farther_both_ways(expanded: Machine) -> None:
    near, cxl = (memory.stop for memory in expanded.memories[1:])
    assert expanded.stops[cxl] == "socket1.cxl"
    routes, core = Routes(expanded), expanded.core_stops[2]
    assert routes.distances(core)[cxl] - routes.distances(core)[near] == 70_000
    assert routes.distances(cxl)[core] - routes.distances(near)[core] == 70_000


def test_policy_deals_pages_out_to_the_nodes_of_one_kind(expanded: Machine) -> None:
    assert home_nodes("cxl", expanded) == [2]
    assert home_nodes("interleave", expanded) == [0, 1]
    assert home_nodes("node2", expanded) == [2]
    assert home_nodes("addressed", expanded) == [0, 1, 2]


@pytest.mark.parametrize("engine", ["native", "reference"])
def test_load_from_behind_a_link_takes_longer_by_the_link_twice(
    expanded: Machine, engine: str
) -> None:
    """Each kind has the same channel here; the home is at the port."""

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
        ({"node": '"socket"', "size": '"2GiB"'}, "'memory.cxl.size': expected"),
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


def test_unknown_home_names_the_kinds_that_there_are(expanded: Machine) -> None:
    with pytest.raises(UserError, match="Did you mean 'cxl'"):
        make_job(expanded, "latency/chase", [2], home="cxll")


@pytest.mark.parametrize("name", ["pair", "interleave", "node0"])
def test_home_that_is_a_policy_and_a_kind_is_refused(name: str, tmp_path: Path) -> None:
    machine = load_text(tmp_path, TWO.replace("memory.cxl", f"memory.{name}"))
    with pytest.raises(UserError, match=rf"--home {name}: a policy, and a kind of memory of "):
        make_job(machine, "latency/chase", [2], home=name)

"""Do the kinds of a machine's parts differ only in the keys that its file states?"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.support.small_machines import ROOT, load_text

from uncore.errors import UserError
from uncore.job.placement import place
from uncore.topology import Machine, explained_text, load
from uncore.topology.distance import distance

HYBRID = (
    """\
extends = "families/teaching"
name = "hybrid"
tree = "socket:1 module:4 core:1,1,2,2"

[kinds]
small = "module2-3"

[core]
atomic = { value = "20cy", source = "fitted" }

[core.small]
clock = "1GHz"
l1    = "16KiB 8-way 3cy"
hold  = "6cy@core"

[socket.join]
kind    = "ring"
latency = "2cy"

[module.small]
join = "crossbar 4cy"
data = "inclusive 64KiB 8-way 10cy"

[module.small.resolver]
knows   = "shadow-tags"
at      = "hub"
reply   = "direct"
unblock = "response"
service = "2cy + 3cy@core"
grants  = 2

"""
    + ROOT
)


@pytest.fixture
def hybrid(tmp_path: Path) -> Machine:
    return load_text(tmp_path, HYBRID)


def test_kind_inherits_from_its_level_what_it_does_not_state(hybrid: Machine) -> None:
    assert hybrid.core_kinds == ("core",) * 2 + ("small",) * 4
    large, small = hybrid.each_core[1], hybrid.each_core[2]
    assert large == hybrid.core
    assert (large.l1_sets, large.l1_hit, large.hold) == (64, 1333, 13333)
    assert (small.l1_sets, small.l1_hit, small.hold) == (32, 3000, 2000)
    assert (small.l2_sets, small.store_buffer) == (large.l2_sets, large.store_buffer)


def test_cycles_are_those_of_the_kinds_clock(hybrid: Machine) -> None:
    """The cycles may be inherited by a kind, or belong to levels around its cores."""
    large, small = hybrid.each_core[1], hybrid.each_core[2]
    assert [core.atomic for core in (large, small)] == [6667, 20000]
    resolver = hybrid.resolvers[0]
    assert (resolver.service, resolver.data_hit) == (3000, 10000)
    assert {link.control for link in hybrid.links if link.level == "module"} == {2000}
    assert {link.control for link in hybrid.links if link.level == "socket"} >= {667}


def test_only_parts_of_the_kind_that_states_a_resolver_have_a_resolver(hybrid: Machine) -> None:
    assert [
        (resolver.name, resolver.level, resolver.children) for resolver in hybrid.resolvers
    ] == [
        ("module2", "module", (2, 3)),
        ("module3", "module", (4, 5)),
        ("home0", "system", (0, 1, 6, 7)),
    ]


def test_a_number_that_a_kind_inherits_belongs_to_its_level_alone(hybrid: Machine) -> None:
    """A fitted number counts once, however many kinds inherit it."""
    keys = [number.key for number in hybrid.numbers]
    assert "core.atomic" in keys
    assert [key for key in keys if key.startswith("core.small")] == [
        "core.small.l1.ways",
        "core.small.l1.size",
        "core.small.clock",
        "core.small.l1.latency",
        "core.small.hold",
    ]


def test_an_override_can_name_a_kind() -> None:
    machine = load(
        "ccx:2x3", ["kinds.slow=ccx1", "core.slow.clock=1.5GHz", "ccx.slow.join=bus 9ns"]
    )
    assert machine.core_kinds == ("core",) * 3 + ("slow",) * 3
    assert machine.each_core[5].l1_hit == pytest.approx(2 * machine.each_core[0].l1_hit, abs=1)
    assert {stop for stop in machine.stops if stop.endswith(".bus")} == {"ccx1.bus"}


def test_kind_applies_to_matching_places_in_every_parent() -> None:
    overrides = ["tree=socket:2 ccx:2 core:3", "kinds.slow=ccx1 socket0.ccx0.core0-1"]
    machine = load("ccx:2x3", [*overrides, "core.slow.hold=0ns"])
    assert [kind == "slow" for kind in machine.core_kinds] == [
        *(1, 1, 0, 1, 1, 1),
        *(0, 0, 0, 1, 1, 1),
    ]


def test_a_part_of_one_kind_is_a_machine_of_one_kind(hybrid: Machine, tmp_path: Path) -> None:
    part = load_text(tmp_path, HYBRID, "part=socket0.module2")
    assert (part.core, part.kinds) == (hybrid.each_core[2], ())
    whole = load_text(tmp_path, HYBRID, "part=socket0")
    assert whole.core_kinds == hybrid.core_kinds


def test_each_core_has_the_threads_that_the_tree_gives_it(tmp_path: Path) -> None:
    text = HYBRID.replace("core:1,1,2,2", "core:1,1,2,2 thread:2,2,1,1,1,1")
    machine = load_text(tmp_path, text)
    assert machine.hart_cores == (0, 0, 1, 1, 2, 3, 4, 5)
    assert [machine.core_of(hart) for hart in range(8)] == list(machine.hart_cores)
    assert [list(machine.harts_of(core)) for core in (1, 2)] == [[2, 3], [4]]
    assert place(machine, "compact") == (0, 2, 4, 5, 6, 7, 1, 3)
    assert place(machine, "compact", smt=False) == (0, 2, 4, 5, 6, 7)
    assert place(machine, "siblings") == tuple(range(8))
    assert (distance(machine, 0, 1), distance(machine, 5, 4)) == ("core", "module")
    assert "2 x core: 2 threads" in explained_text(machine)
    part = load_text(tmp_path, text, "part=socket0.module2")
    assert (part.harts, part.threads, part.cpus) == (2, (), "- - - - 0 1 - -")


def test_text_of_a_machine_describes_its_kinds(hybrid: Machine) -> None:
    text = explained_text(hybrid)
    assert "2 x core: 1 thread, L1 32 KiB 1.33 ns" in text
    assert "4 x core, small: 1 thread, L1 16 KiB 3 ns" in text
    clusters = explained_text(load("m1pro"))
    assert "resolver cluster0: inclusive, inclusive 4 MiB" in clusters
    assert "resolver cluster1 .. cluster2: inclusive, inclusive 12 MiB" in clusters


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('"module2-3"', '"module7"', r":6: 'kinds.small = module7': .*no part.*socket0.module3"),
        ('"module2-3"', '"modul2"', r":6: .*'modul2' is no part of the tree"),
        ('"module2-3"', '""', r":6: .*'' is no part"),
        ("small =", "resolver =", r":6: 'kinds.resolver': expected a name .*like 'small'"),
        ("[kinds]", '[kinds]\nodd = "module3"', r":7: .*socket0.module3 is of 'odd' too"),
        ("[kinds]", '[kinds]\nodd = "module0"', r":6: .*nothing is different.*\[core.odd\]"),
        ("small =", "core =", r":6: 'kinds.core': expected a name"),
        (
            "[kinds]\nsmall",
            "[clocks]\nsmall",
            r":11: unknown key 'core.small'.* \[kinds\] must say",
        ),
        (
            "[memory]",
            "[system.small]\n[memory]",
            r":40: .*no whole system is in .*write \[system\]",
        ),
        ("[core.small]", "[core.smal]", r":11: unknown key 'core.smal'.*core.small'"),
        ("clock = ", "clok = ", r":12: unknown key 'core.small.clok'.*core.small.clock'"),
        ('"16KiB 8-way 3cy"', '"16KiB"', r":13: 'core.small.l1 = 16KiB': expected size"),
        ("6cy@core", "6cy@cores", r":14: 'core.small.hold = .*no clock 'cores'"),
        (
            "[socket.join]",
            "[socket.small]\n[socket.join]",
            r":16: .*no whole socket is in .*socket0",
        ),
    ],
)
def test_message_about_a_mistake_names_its_line_and_the_remedy(
    old: str, new: str, words: str, tmp_path: Path
) -> None:
    assert old in HYBRID
    with pytest.raises(UserError, match=words) as caught:
        load_text(tmp_path, HYBRID.replace(old, new, 1))
    assert re.match(r"\S*small\.toml:\d+: ", str(caught.value))


def test_a_topmost_resolver_of_one_kind_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r":24: \[module.small.resolver\]: .*one for all parts"):
        load_text(tmp_path, without("system.resolver"))


def test_data_of_a_kind_without_a_resolver_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r":22: \[module.small\] has data but no resolver"):
        load_text(tmp_path, without("module.small.resolver"))


def without(table: str) -> str:
    before, rest = HYBRID.split(f"[{table}]\n")
    return before + rest.split("\n\n", 1)[1]

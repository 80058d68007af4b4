"""Does a machine have the numbers of its file, and otherwise those of the files that it extends?"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from tests.support.small_machines import SMALL, load_text, with_join, write

from uncore.support.paths import TOPOLOGIES
from uncore.topology import Machine, load
from uncore.topology.units import duration, frequency, rate, size

GHZ = {None: Fraction(250), "fabric": Fraction(10**6, 1467)}


@pytest.mark.parametrize(
    ("text", "ps"),
    [
        ("12ns", 12_000),
        ("9cy", 2250),
        ("3cy + 12ns", 12_750),
        ("1.5us", 1_500_000),
        ("2cy@fabric", Fraction(2 * 10**6, 1467)),
        ("0.1cy+7ps", 32),
    ],
)
def test_a_duration_is_the_exact_sum_of_its_parts(text: str, ps: Fraction) -> None:
    assert duration(text, lambda domain: GHZ[domain]) == ps


def test_rates_sizes_and_clocks_are_exact() -> None:
    assert rate("32B/cy", lambda _: Fraction(250)) == Fraction(32, 250)
    assert rate("32B/1.2ns", lambda _: Fraction(1)) == Fraction(32, 1200)
    assert rate("40GB/s", lambda _: Fraction(1)) == Fraction(40, 1000)
    assert (size("1.375MiB"), size("64B"), size("1KB")) == (1441792, 64, 1000)
    assert frequency("1600MHz") == 625


def number(machine: Machine, key: str) -> tuple[str, str, str, int]:
    numbers = {n.key: n for n in machine.numbers}[key]
    return numbers.text, numbers.source, Path(numbers.file).name, numbers.line


def ring_hop(machine: Machine) -> int:
    return next(link for link in machine.links if link.level == "socket").control


def test_each_number_carries_text_source_file_and_line(tmp_path: Path) -> None:
    machine = load_text(tmp_path, SMALL)
    assert number(machine, "socket.join.latency") == ("3cy + 1ns", "unstated", "small.toml", 13)
    assert number(machine, "clocks.fabric") == ("2GHz", "unstated", "small.toml", 6)
    text, source, file, line = number(machine, "core.atomic")
    assert (source, file) == ("teaching: a round number", "teaching.toml")
    assert f'"{text}"' in (TOPOLOGIES / "families" / file).read_text().splitlines()[line - 1]
    assert ring_hop(machine) == 2500  # three cycles of the fabric, not of the core


def test_override_replaces_the_number_of_the_file_and_is_named_as_its_source() -> None:
    changed = load("tr1950x", ["socket.join.latency=64ns"])
    assert number(changed, "socket.join.latency")[:3] == (
        "64ns",
        "--with",
        "--with socket.join.latency=64ns",
    )
    assert {link.control for link in changed.links if link.level == "socket"} == {64_000}


@pytest.mark.parametrize("name", ["epyc7601x2", "e52695v4x2", "core2q9550", "mesh:4x4"])
def test_every_number_can_be_overridden_by_its_own_text(name: str) -> None:
    plain = load(name)
    again = load(name, [f"{number.key}={number.text}" for number in plain.numbers])
    assert again == plain
    assert {number.source for number in again.numbers} == {"--with"}


def test_each_quantity_in_the_short_form_of_a_cache_can_be_overridden(tmp_path: Path) -> None:
    text = SMALL + '[core]\nl1 = "16KiB 4-way 3cy"\n'
    assert load_text(tmp_path, text).core.l1_sets == 64
    machine = load_text(tmp_path, text, "core.l1.ways=8", "core.l1.latency=5cy")
    assert (machine.core.l1_sets, machine.core.l1_ways, machine.core.l1_hit) == (32, 8, 1667)


def test_file_overrides_the_files_that_it_extends(tmp_path: Path) -> None:
    write(tmp_path, SMALL)
    write(tmp_path, "[memory]\nlatency = '70ns'\nbandwidth = '1GB/s'", "slow.toml")
    text = 'extends = ["small", "slow"]\n[memory]\nlatency = "80ns"\n'
    machine = load(write(tmp_path, text, "mine.toml"))
    assert (machine.memories[0].latency, machine.memories[0].busy) == (80_000, 64_000)
    assert (machine.id, machine.name) == ("mine", "small")


def test_another_kind_of_join_drops_the_keys_of_the_old_join(tmp_path: Path) -> None:
    write(tmp_path, SMALL)
    text = 'extends = "small"\n[socket]\njoin = "crossbar 6ns"\n'
    machine = load(write(tmp_path, text, "mine.toml"))
    assert {link.control for link in machine.links} == {3000}
    assert "socket.join.inject" not in {number.key for number in machine.numbers}


def test_source_of_a_number_is_its_own_or_else_that_of_its_table(tmp_path: Path) -> None:
    text = SMALL.replace('width = "32B/cy"', 'width = "32B/cy"\nsource = "a datasheet"')
    text = text.replace('inject = "2ns"', 'inject = { value = "2ns", source = "fitted" }')
    machine = load_text(tmp_path, text)
    sources = {n.key: n.source for n in machine.numbers}
    assert sources["socket.join.latency"] == "a datasheet"
    assert sources["socket.join.inject"] == "fitted"
    assert sources["system.resolver.service"] == "unstated"


def test_a_measured_machine_has_the_clock_of_the_host_that_was_measured(tmp_path: Path) -> None:
    text = SMALL + '\n[core]\nclock = "4GHz"\nmeasured_clock = "2GHz"\nl1.latency = "4cy"\n'
    path = write(tmp_path, text)
    product, host = load(path), load(path, measured=True)
    assert (product.core.l1_hit, host.core.l1_hit) == (1000, 2000)
    assert number(host, "core.clock")[0] == "2GHz"
    assert load(path, ["core.clock=1GHz"], measured=True).core.l1_hit == 4000


def test_control_messages_are_scaled_and_wires_are_busy_for_their_bytes(tmp_path: Path) -> None:
    join = 'kind = "mesh"\nsize = "3x2"\ndx = "10ns"\ndy = "20ns"\n'
    join += 'control_ratio = 0.6\nwidth = "16B/ns"'
    machine = load_text(tmp_path, with_join(join, "socket:1 core:6 thread:1"))
    costs = {(k.control, k.data, k.control_busy, k.data_busy) for k in machine.links}
    assert costs == {(6000, 10_000, 1000, 5000), (12_000, 20_000, 1000, 5000)}


def test_twice_as_wide_a_line_halves_the_sets_and_doubles_the_time_of_its_data_in_memory() -> None:
    usual, wide = (
        load("ccx:2x2", [f"line={line}B", "ccx.join.width=16B/ns"]) for line in (64, 128)
    )
    assert (usual.line, wide.line) == (64, 128)
    assert wide.core.l1_sets * 2 == usual.core.l1_sets
    assert wide.resolvers[0].data_sets * 2 == usual.resolvers[0].data_sets
    assert wide.memories[0].busy == 2 * usual.memories[0].busy > 0
    busy = (next(link for link in m.links if link.level == "ccx") for m in (usual, wide))
    assert [(link.control_busy, link.data_busy) for link in busy] == [(1000, 5000), (1000, 9000)]


def test_machine_file_that_is_loaded_twice_gives_equal_machines() -> None:
    assert load("epyc7742x2") == load("epyc7742x2")
    assert hash(load("ccx:4x4")) == hash(load("ccx:4x4"))

"""Does every mistake in a machine file give one message with the line, the word and the remedy?"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.support.small_machines import ALONE, SMALL, load_text, with_join, write

from uncore.errors import UserError
from uncore.topology import load

# replaced text, replacement, line of the mistake, pattern of the message
MISTAKES = {
    "no tree": ('tree = "socket:1 core:6 thread:2"', "", 1, "the file lacks 'tree'; write tree = "),
    "a key left out": ('service = "4cy"', "", 17, "'service'; write service = .4cy."),
    "misspelt key": ('latency = "3cy', 'latancy = "3cy', 13, "latancy.*'socket.join.latency'"),
    "key too many": ('inject = "2ns"', 'inject = "2ns"\nheight = 3', 15, "socket.join.height"),
    "unknown table": ("[memory]", "[memery]", 25, "memery.*'memory'"),
    "wrong unit": ('"2ns"', '"2GB"', 14, "socket.join.inject = 2GB.*'GB' is no unit of time"),
    "no unit": ('"2ns"', "2", 14, "socket.join.inject = 2.*expected a duration"),
    "unknown clock": ('"2ns"', '"2cy@fabrik"', 14, "'fabrik'.*fabric"),
    "unknown domain": ('clock = "fabric"', 'clock = "fabrik"', 9, "fabrik.*core|fabric"),
    "zero clock": ('"2GHz"', '"0GHz"', 6, "above zero"),
    "wrong word": ('"direct"', '"straight"', 20, "straight.*'direct' or 'via'"),
    "wrong kind of join": ('"ring"', '"rink"', 12, "rink.*Did you mean 'ring'"),
    "wrong kind of value": ('inject = "2ns"', "inject = [2]", 14, "not a list"),
    "table for a value": ('inject = "2ns"', "inject = {a = 2}", 14, "not a table"),
    "value for a table": ("[memory]", "clocks = 3\n[memory]", 25, "clocks"),
    "broken TOML": ('kind = "ring"', "kind = ring", 12, "broken TOML"),
    "unknown level": ('node = "socket"', 'node = "die"', 26, "die.*'system' or 'socket' or 'core'"),
    "not a level": ("core:6", "core-6", 3, "core-6.*NAME:COUNT"),
    "core not innermost": ("core:6 thread:2", "core:6 tile:2", 3, "'core' innermost"),
    "too many harts": ("core:6", "core:99999", 3, "4096"),
    "counts that do not fit": ("core:6", "core:1,2", 3, "1 parents"),
    "zero cores": ("core:6", "core:0", 3, "1 or more"),
    "no such family": ('"families/teaching"', '"families/teeching"', 1, "families/teaching"),
    "expression": ("[clocks]", 'cpus = "open(i)"\n[clocks]', 5, "cpus.*expression of i"),
    "expression not one to one": ("[clocks]", 'cpus = "i//2"\n[clocks]', 5, "each hart"),
    "grants zero": ("grants = 2", "grants = 0", 23, "from 1 to"),
    "grants of no kind": ("grants = 2", 'grants = "soon"', 23, "requests, or a time like '1us'"),
    "grants of no unit": ("grants = 2", 'grants = "2 us us"', 23, "expected a duration"),
    "entries that nobody counts": (
        '"directory"',
        '"shadow-tags"\nentries = 64\nways = 4',
        19,
        "system.resolver.entries.*shadow-tags.*delete it",
    ),
    "entries without ways": ("grants = 2", "grants = 2\nentries = 64", 24, "64 entries in 0 ways"),
    "ways without entries": ("grants = 2", "grants = 2\nways = 4", 17, "0 entries in 4 ways"),
    "sets that are not whole": (
        "grants = 2",
        "grants = 2\nentries = 66\nways = 4",
        24,
        "66 entries in 4 ways.*such as",
    ),
    "one pointer for two": (
        "grants = 2",
        'grants = 2\npointers = 1\noverflow = "evict"',
        25,
        "overflow = evict.*with 1: expected at least 2 pointers",
    ),
    "regions without pointers": (
        "grants = 2",
        'grants = 2\noverflow = "coarse"',
        24,
        "coarse.*with a pointer for every child: expected at least 1",
    ),
    "inclusive of nothing": ('"directory"', '"inclusive"', 18, "data = none; write data = 'incl"),
    "inclusive of a victim": (
        '[system.resolver]\nknows = "directory"',
        '[system]\ndata = "victim 1MiB 16-way 4cy"\n[system.resolver]\nknows = "inclusive"',
        20,
        "knows = inclusive.*data = victim",
    ),
    "snooping early": (
        '"directory"\nat = "home"\nreply = "direct"\nunblock = "completion"',
        '"snoop"\nat = "home"\nreply = "direct"\nunblock = "response"',
        21,
        "unblock = response.*expected 'completion'",
    ),
    "snooping below": (
        "[system.resolver]",
        '[socket.resolver]\nknows = "snoop"\nat = "slices"\nreply = "via"\nunblock = "completion"\n'
        'service = "4cy"\ngrants = 2\n\n[system.resolver]',
        18,
        "knows = snoop.*topmost",
    ),
    "no place for dirty data": (
        "[system.resolver]",
        '[socket.resolver]\nknows = "shadow-tags"\nat = "slices"\nreply = "via"\n'
        'unblock = "response"\nservice = "4cy"\ngrants = 2\n\n[system.resolver]',
        18,
        "socket.resolver.*MESI.*moesi",
    ),
    "home below": ("[system.resolver]", "[socket.resolver]", 17, None),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_message_about_a_mistake_names_its_line_and_the_remedy(
    mistake: str, tmp_path: Path
) -> None:
    old, new, line, words = MISTAKES[mistake]
    assert old in SMALL
    path = write(tmp_path, SMALL.replace(old, new, 1))
    if words is None:
        load(path)
        return
    with pytest.raises(UserError) as caught:
        load(path)
    text = str(caught.value)
    assert re.match(rf"\S*small\.toml:{line}: ", text), text
    assert re.search(words, text), text
    _, _, adds = text.partition("\n")
    assert not adds or adds.startswith(("add\n", "write in ["))


def test_error_about_a_cycle_of_families_names_its_files(tmp_path: Path) -> None:
    write(tmp_path, 'extends = "b"', "a.toml")
    write(tmp_path, '# first\nextends = "a"', "b.toml")
    with pytest.raises(UserError, match=r"b.toml:2: .*circle: a.toml -> b.toml -> a.toml"):
        load(str(tmp_path / "a.toml"))


def test_a_family_read_too_often_is_an_error(tmp_path: Path) -> None:
    for number in range(20):
        write(tmp_path, f'extends = ["f{number + 1}", "f{number + 1}"]', f"f{number}.toml")
    write(tmp_path, "", "f20.toml")
    with pytest.raises(UserError, match="more than 32 files"):
        load(str(tmp_path / "f0.toml"))


def test_level_whose_parts_no_join_connects_is_refused_with_its_line(tmp_path: Path) -> None:
    text = SMALL.replace("socket:1", "socket:2")
    with pytest.raises(UserError, match=r"small.toml:3: .*socket0, socket1.*join"):
        load_text(tmp_path, text)


@pytest.mark.parametrize(
    ("map_", "words"),
    [
        ("0 1 2 x 3 4 5", "'socket0.x4y0' cannot be reached from 'socket0.x0y0'"),
        ("0 1 2 3 4", "member 5 is not in the map"),
        ("0 1 2 3 4 5 6", "has a member 6"),
        ("0 1 2 3 4 5+0", "member 0 stands twice"),
        ("0 1 2 3 4 5+q", "'q' is no agent"),
        ("", "expected 1 to"),
    ],
)
def test_invalid_map_is_refused_with_the_reason(map_: str, words: str, tmp_path: Path) -> None:
    join = f'kind = "mesh"\nlatency = "1ns"\nmap = "{map_}"'
    with pytest.raises(UserError, match=rf"small.toml:1[14]: .*{words}"):
        load_text(tmp_path, with_join(join, "socket:1 core:6 thread:2"))


def test_one_error_names_all_missing_keys_of_a_machine_file(tmp_path: Path) -> None:
    text = SMALL.replace('extends = "families/teaching"', 'protocol = "mesi"')
    text = text.replace('service = "4cy"', "").replace('kind = "ring"', "")
    with pytest.raises(UserError) as caught:
        load_text(tmp_path, text)
    core, *others = str(caught.value).splitlines()
    assert re.search(r"small.toml:\d+: \[core\] lacks 'atomic', .*'l1', .*; write atomic = ", core)
    tables = [re.match(r"\S*small.toml:\d+: \[([a-z.]+)\] lacks ", line) for line in others]
    assert [table[1] for table in tables if table] == [
        "interrupt", "memory", "messages", "socket.join", "system.resolver",
    ]  # fmt: skip


def test_machine_file_that_extends_no_file_takes_the_defaults(tmp_path: Path) -> None:
    assert load_text(tmp_path, ALONE).os.quantum == 10**9  # a millisecond


def test_link_to_an_unknown_stop_or_to_its_own_stop_is_refused(tmp_path: Path) -> None:
    tree = "socket:1 die:2 core:3 thread:2"
    die = '[die]\njoin = "crossbar 3ns"\n'
    join = 'kind = "links"\nlatency = "1ns"\nlinks = [["die0", "die2"]]'
    with pytest.raises(UserError, match=r":14: .*'die2' names nothing here.*die0, die1"):
        load_text(tmp_path, with_join(join, tree) + die)
    with pytest.raises(UserError, match=r":14: .*joins a stop to itself"):
        load_text(tmp_path, with_join(join.replace("die2", "die0"), tree) + die)


def test_link_to_a_part_whose_cores_have_no_join_is_refused(tmp_path: Path) -> None:
    text = SMALL.replace("socket:1", "socket:2").replace("[socket.join]", "[system.join]")
    text = text.replace('inject = "2ns"', 'links = [["socket0", "socket1"]]')
    with pytest.raises(UserError, match=r":12: .*nothing joins the cores of 'socket0'"):
        load_text(tmp_path, text.replace('kind = "ring"', 'kind = "links"'))


def test_memory_without_a_stop_is_refused(tmp_path: Path) -> None:
    tree = "socket:1 die:2 core:3 thread:2"
    join = 'kind = "crossbar"\nlatency = "1ns"'
    text = with_join(join, tree).replace('node = "socket"', 'node = "die"')
    with pytest.raises(UserError, match=r"'memory.node = die': socket0.die0 has no one stop"):
        load_text(tmp_path, text)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("epyc7601", "Did you mean 'epyc7601x2'"),
        ("mesh:16", "like mesh:16x8"),
        ("mesh:0x8", "like mesh:16x8"),
        ("tree:8", "bus:8 ring:16"),
        ("bus:99999", "4096"),
        ("./nothing.toml", "cannot read"),
        ("", "unknown machine"),
        ("a\0b.toml", "cannot read"),
    ],
)
def test_error_about_a_wrong_name_proposes_a_right_name(name: str, words: str) -> None:
    with pytest.raises(UserError, match=words):
        load(name)


def test_far_atomics_are_refused_if_the_resolver_keeps_no_data(tmp_path: Path) -> None:
    inner = """\
        [socket.resolver]
        knows = "shadow-tags"
        at = "slices"
        reply = "via"
        unblock = "response"
        service = "4cy"
        grants = 2
        """
    text = SMALL.replace('name = "small"', 'name = "small"\nprotocol = "moesi"') + inner
    load_text(tmp_path, text)
    with pytest.raises(UserError, match=r":36: .*= far': \[socket.resolver\] has no data.*'near'"):
        load_text(tmp_path, text + '[core]\natomics = "far"\n')


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("socket.join.latency", "expected KEY=VALUE"),
        ("socket.join.latency=", "expected KEY=VALUE"),
        ("=3ns", "expected KEY=VALUE"),
        ("socket.join.latency=3parsec", "'parsec' is no unit of time"),
        ("socket.join.latancy=3ns", "socket.join.latancy.*'socket.join.latency'"),
        ("socket.latency=3ns", "unknown key 'socket.latency'"),
        ("hold=3ns", "unknown key 'hold'"),
    ],
)
def test_error_about_an_override_quotes_the_override(setting: str, words: str) -> None:
    with pytest.raises(UserError, match=words) as caught:
        load("tr1950x", [setting])
    assert str(caught.value).startswith(f"--with {setting}: ")


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("ccx.data=none", r"--with ccx.data=none: \[ccx.resolver\].*no data.*MESI.*\"victim"),
        ("line=32B", r"--with line=32B: .*expected one of 64B, 128B, 256B"),
        (
            "core.instruction=0ns",
            r"--with core.instruction=0ns: .*time would not advance.*at least 1ps",
        ),
    ],
)
def test_message_names_an_override_that_cannot_work(override: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        load("ccx:2x2", [override])

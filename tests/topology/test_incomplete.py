"""Does the error about an incomplete machine propose lines that complete it?"""

from __future__ import annotations

import dataclasses
import random
from pathlib import Path

import pytest
from tests.support import machine_edits
from tests.support.small_machines import ALONE, SMALL, load_text, with_join, write

from uncore.cli.app import main
from uncore.errors import UserError
from uncore.program import abi
from uncore.topology import load, resolve
from uncore.topology.keys import KEYS
from uncore.topology.load import shipped, whole_text
from uncore.topology.schema import Key

CROSSBAR = 'kind = "crossbar"\nlatency = "1ns"'
LINKS = 'kind = "links"\nlatency = "9ns"\nlinks = [["socket0", "socket1"]]'
DATA = 'data = "victim 1MiB 16-way 9ns"'
ROOTS = with_join(CROSSBAR, "socket:2 core:3 thread:2").replace("[system.res", "[socket.res")
ROOTS = ROOTS.replace('at = "home"', 'at = "hub"')
LACKS = {  # text of a machine -> the refused line, and the reason
    "two roots": (ROOTS + '[system]\njoin = "crossbar 20ns"\n', 15, "each socket would own"),
    "no way between": (with_join(CROSSBAR, "socket:2 core:3 thread:1"), 3, "cannot reach one"),
    "neither": (ROOTS, 3, "cannot reach one another"),
    "no resolver": (SMALL.partition("[system.resolver]")[0] + '[memory]\nnode = "socket"', 1, "no"),
    "data alone": (SMALL.replace("[socket]", f"[socket]\n{DATA}"), 9, "has data but no resolver"),
    "a level without a way out": (
        with_join(CROSSBAR, "socket:2 core:3 thread:1").replace("[socket.j", "[system.j"),
        24,
        "has no one stop to put memory at",
    ),
}


def refusal(path: str) -> str:
    with pytest.raises(UserError) as caught:
        load(path)
    return str(caught.value)


@pytest.mark.parametrize("lack", LACKS)
def test_text_proposed_by_a_refusal_completes_the_machine(lack: str, tmp_path: Path) -> None:
    text, line, words = LACKS[lack]
    path = write(tmp_path, text)
    first, add, tables = refusal(path).partition("\nadd\n")
    assert f"small.toml:{line}: " in first and words in first
    assert add
    machine_edits.shares(load_text(tmp_path, f"{text}\n{tables}\n"), ops=12)


def test_refusal_of_an_unconnected_part_proposes_links_that_connect_it(tmp_path: Path) -> None:
    text = with_join(CROSSBAR, "socket:3 core:2 thread:1") + f"[system.join]\n{LINKS}\n"
    first, _, more = refusal(write(tmp_path, text)).partition("\n")
    assert "small.toml:25: stop 'socket2.hub' cannot be reached from 'socket0.hub'" in first
    links = more.removeprefix("write in [system.join]: ")
    assert "socket2" in links
    assert load_text(tmp_path, text.replace('links = [["socket0", "socket1"]]', links)).cores == 6


@pytest.mark.parametrize("name", [*shipped()[::7], "bus:4", "mesh:3x2", "ccx:2x4"])
def test_complete_file_of_a_machine_loads_as_the_same_machine(name: str, tmp_path: Path) -> None:
    machine, again = load(name), load(write(tmp_path, whole_text(name), "whole.toml"))
    assert dataclasses.replace(again, id=machine.id) == machine
    said = [{(n.key, n.text, n.source, n.interval) for n in m.numbers} for m in (machine, again)]
    assert said[0] == said[1]


def test_show_completes_a_file_that_lacks_keys_and_tables(tmp_path, capsys) -> None:
    text = 'name = "x"\ntree = "socket:2 core:4"\n[socket.resolver]\nknows = "snoop"\n'
    path = write(tmp_path, text + '[core]\nclock = "2GHz"\n')
    assert "`uncore show --complete FILE` prints a whole file" in refusal(path)
    with pytest.raises(SystemExit, match="0"):
        main(["show", path, "--complete"])
    machine = load_text(tmp_path, capsys.readouterr().out)
    # 250 ps are half a cycle, as in the teaching machines, of the clock of 2 GHz in the file.
    assert (machine.cores, machine.core.instruction) == (8, 250)
    machine_edits.shares(machine, ops=12)
    with pytest.raises(SystemExit, match="2"):
        main(["show", path, "--complete", "--keys"])


def test_a_memory_without_room_for_a_program_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path, ALONE.replace('size = "1GiB"', 'size = "32KiB"'))
    assert (
        "'memory.size = 32KiB': expected a multiple of 4KiB, like 1GiB, of at least 2112KiB:"
        in (refusal(path))
    )


@pytest.mark.parametrize(
    "key", [k for k in KEYS.values() if k.default is not None], ids=lambda key: key.name
)
def test_every_default_can_be_written_and_read(key: Key, tmp_path: Path) -> None:
    """A key with its default value has the same effect as a missing key."""
    kind = key.joins[0] if key.joins else "crossbar"
    others = [f"system.join={kind} 1ns", "system.data=victim 1MiB 16-way 4ns"]
    stated = f"{key.name.replace('LEVEL', 'system')}={key.default}"
    path = write(tmp_path, ALONE)
    assert load(path, [*others, stated]) == load(path, others)


@pytest.mark.parametrize("seed", range(240))
def test_edited_machine_is_sound_or_is_refused_with_its_line(seed: int, tmp_path: Path) -> None:
    name = machine_edits.NAMES[seed % len(machine_edits.NAMES)]
    text = machine_edits.edited(name, random.Random(seed))
    machine_edits.outcome(write(tmp_path, text))


@pytest.mark.long
def test_ten_thousand_edits_load_no_unsound_machine(tmp_path: Path) -> None:
    outcomes = set[str]()
    for seed in range(240, 10_240):
        name = machine_edits.NAMES[seed % len(machine_edits.NAMES)]
        text = machine_edits.edited(name, random.Random(seed))
        outcomes.add(machine_edits.outcome(write(tmp_path, text)))
    assert outcomes == {"refused", "passes"}


def test_required_memory_is_enough_for_the_stacks_of_programs() -> None:
    assert abi.CONSTANTS["UC_STACK_STRIDE"] == resolve.STACK_BYTES

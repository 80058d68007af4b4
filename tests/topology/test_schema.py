"""Do the fields of a machine define the keys of machine files and their descriptions?"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.small_machines import SMALL, load_text, with_join

from uncore.errors import UserError
from uncore.support.paths import CHECKOUT
from uncore.topology.document import Branch, Place
from uncore.topology.keys import KEYS
from uncore.topology.load import load, shipped
from uncore.topology.machine import PARTS
from uncore.topology.page import page
from uncore.topology.schema import fields
from uncore.topology.table_reader import KeyRecord, Table

# keys that lineage.py and KeyRecord read while a file is merged with the files that it extends
ELSEWHERE = {"extends", "source", "lineage.year", "clocks.NAME"}


def test_every_key_that_a_field_declares_is_read(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    read = set[str]()
    leaf = Table.leaf

    def recording(table: Table, key: str) -> object:
        read.add(table.declared(key).name)
        return leaf(table, key)

    monkeypatch.setattr(Table, "leaf", recording)
    for name in shipped():
        load(name)
    ring = 'kind = "ring"\nlatency = "1ns"\nuplink = "s0"'
    load_text(tmp_path, with_join(ring, "socket:1 core:6 thread:1"))
    load("ring", ["memory.cache=1MiB 4-way 40ns"])
    assert KEYS.keys() - read == ELSEWHERE


def test_undeclared_key_cannot_be_read() -> None:
    empty = Branch(Place("", 0))
    top = Table(empty, "", KeyRecord(empty))
    with pytest.raises(KeyError, match="no field declares"):
        top.table_or_empty("core").duration("foo", None)
    with pytest.raises(KeyError, match="no field declares"):
        top.table_or_empty("core").count("hold")  # a duration


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.__name__)
def test_every_field_and_key_has_a_description(part: type) -> None:
    for member in fields(part):
        assert member.about and not member.about.endswith("."), member.name
        assert all(key.about for key in member.keys), member.name


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (
            "[clocks]",
            '[core]\nl1_sizze = "3cy"\n\n[clocks]',
            r":6: .*core.l1_sizze'.*core.l1.size'",
        ),
        (
            "[clocks]",
            '[core]\nl1 = {sizze = "3cy"}\n[clocks]',
            r":6: .*'core.l1.sizze'.*core.l1.size",
        ),
        ('service = "4cy"', 'servise = "4cy"', r":22: .*resolver.servise'.*resolver.service'"),
        ("[memory]", "[messages]\nconrol = 3\n[memory]", r":26: .*conrol'.*'messages.control'"),
        (
            'inject = "2ns"',
            'size = "3x2"',
            r":14: unknown key 'socket.join.size'",
        ),  # not a mesh, so it has no size
        ('inject = "2ns"', "inject = {a = 2}", r":14: 'socket.join.inject' expects a value"),
    ],
)
def test_a_wrong_key_is_named_with_its_line_and_the_nearest_key(
    old: str, new: str, words: str, tmp_path: Path
) -> None:
    with pytest.raises(UserError, match=words):
        load_text(tmp_path, SMALL.replace(old, new, 1))


def test_error_of_a_number_below_its_range_describes_the_number() -> None:
    with pytest.raises(UserError, match=r"core.instruction = 0ns.*not advance.*at least 1ps"):
        load("bus:2", ["core.instruction=0ns"])


INTERVAL = 'inject = { value = "2ns", interval = ["1.5ns", "3ns"] }'


def test_a_number_keeps_the_interval_that_its_file_states(tmp_path: Path) -> None:
    machine = load_text(tmp_path, SMALL)
    stated = load_text(tmp_path, SMALL.replace('inject = "2ns"', INTERVAL))
    assert stated == machine
    intervals = {number.key: number.interval for number in stated.numbers if number.interval}
    assert intervals == {"socket.join.inject": ("1.5ns", "3ns")}


@pytest.mark.parametrize(
    ("interval", "words"),
    [
        ('["3ns", "4ns"]', "an interval that holds it"),
        ('["1ns", "3parsec"]', "'parsec' is no unit of time"),
        ('["1ns"]', "the ends of an interval"),
        ('"1ns to 3ns"', "the ends of an interval"),
        ('"1ns", from = 3', "unknown key 'from' beside 'value'"),
    ],
)
def test_an_interval_has_two_ends_that_enclose_the_number(
    interval: str, words: str, tmp_path: Path
) -> None:
    text = SMALL.replace('"2ns"', f'{{ value = "2ns", interval = {interval} }}')
    with pytest.raises(UserError, match=rf":14: .*{words}"):
        load_text(tmp_path, text)


STRUCTS = sorted((CHECKOUT / "build/native/spec").glob("*.hh")) if CHECKOUT else []


@pytest.mark.parametrize("made", STRUCTS, ids=lambda made: made.stem)
def test_structs_of_the_native_engine_are_formatted_like_other_code(made: Path) -> None:
    """SCons makes the structs from the dataclasses; people read them as well."""
    clang_format = Path(sys.executable).with_name("clang-format")
    style = f"--style=file:{CHECKOUT}/.clang-format"
    written = subprocess.run(
        [clang_format, style, made], capture_output=True, text=True, check=True
    )
    assert written.stdout == made.read_text()


def test_structs_are_made_before_the_native_module_is_built(tmp_path: Path) -> None:
    """In a new checkout, the structs can be made before the module is built."""
    assert CHECKOUT
    generate = CHECKOUT / "sim/native/spec/generate.py"
    unbuilt = {**os.environ, "UNCORE_NATIVE": "unbuilt"}
    subprocess.run([sys.executable, generate, tmp_path], check=True, env=unbuilt)
    assert sorted(made.name for made in tmp_path.iterdir()) == [made.name for made in STRUCTS]
    for made in STRUCTS:
        assert (tmp_path / made.name).read_text() == made.read_text()


def test_headers_of_the_engine_do_not_include_the_numbers_of_a_core() -> None:
    """Changing a number of the core recompiles only the files that read it."""
    assert CHECKOUT
    for part in ("machine_spec.hh", "job_spec.hh"):
        assert "core_spec.hh" not in (CHECKOUT / "build/native/spec" / part).read_text()
    for header in (CHECKOUT / "sim/native").glob("*/*.hh"):
        if header.name not in ("thread_port.hh", "read_spec.hh", "spec_words.hh"):
            text = header.read_text()
            assert '"spec/core_spec.hh"' not in text and '"spec/spec.hh"' not in text, header


def suffixes(key: str) -> tuple[str, str]:
    """Returns the key without its first part, and the last part of the key."""
    return key.partition(".")[2], key.rpartition(".")[2]


def test_page_of_keys_describes_every_key() -> None:
    rows = re.findall(r"^\| `([^`]+)` \|.*(?<!\\)\| (\S.*) \|$", page(), re.MULTILINE)
    named = {name for name, _ in rows}
    assert [key for key in KEYS if not {key, *suffixes(key)} & named] == []

"""Is every text loaded or refused with a message, never with a traceback?"""

from __future__ import annotations

import contextlib
import random
import tomllib
from pathlib import Path

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tests.support.small_machines import SMALL, with_join, write

from uncore.errors import UserError
from uncore.support.paths import TOPOLOGIES
from uncore.topology import load
from uncore.topology.cpus import check_cpus
from uncore.topology.floorplan import parse_map
from uncore.topology.positions import key_lines
from uncore.topology.tree import parse_tree
from uncore.topology.units import UnitError, cache_parts, duration, frequency, rate, size

FIXED = settings(
    derandomize=True,
    deadline=None,
    max_examples=300,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)

FILES = [SMALL] + [path.read_text() for path in sorted(TOPOLOGIES.rglob("*.toml"))]
WORDS = sorted({word for text in FILES for word in text.split()})
SCRAPS = [
    *WORDS,
    *("[", "]", "[[", "]]", "{", "}", "=", '"', '"""', "'", "#", "\n", ".", ",", "\\", "\0", "é"),
    *("-1", "0", "1e999", "nan", "inf", "99999999999999999999", "1979-05-27", "true", "0x10"),
    *('"x"', '""', "[]", "{}", "[[1]]", '"0ns"', '"1ns"', '"1B/ns"', '"0B/ns"', "x = 1", "²", "٣"),
]


def outcome(path: str, *overrides: str) -> str:
    """Returns the message of a refusal, or "" if the file loads. Other exceptions fail the test."""
    try:
        load(path, overrides)
    except UserError as error:
        return str(error)
    return ""


@FIXED
@given(data=st.binary(max_size=200))
def test_arbitrary_bytes_load_or_are_refused_with_a_message(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_bytes(data)
    assert outcome(str(path))


@FIXED
@given(
    text=st.sampled_from(FILES),
    edits=st.lists(
        st.tuples(st.integers(0, 10**6), st.integers(0, 12), st.sampled_from(SCRAPS)), max_size=3
    ),
)
def test_edited_machine_file_loads_or_is_refused_with_a_message(
    text: str, edits: list[tuple[int, int, str]], tmp_path: Path
) -> None:
    for at, removed, scrap in edits:
        at %= len(text)
        text = text[:at] + scrap + text[at + removed :]
    outcome(write(tmp_path, text))


@FIXED
@given(
    text=st.sampled_from(FILES),
    edits=st.lists(
        st.tuples(
            st.integers(0, 999), st.integers(0, 2), st.sampled_from("\n".join(FILES).splitlines())
        ),
        max_size=3,
    ),
)
def test_machine_file_with_foreign_lines_loads_or_is_refused_with_a_message(
    text: str, edits: list[tuple[int, int, str]], tmp_path: Path
) -> None:
    lines = text.splitlines()
    for at, removed, line in edits:
        at %= len(lines)
        lines[at : at + removed] = [line]
    outcome(write(tmp_path, "\n".join(lines)))


@FIXED
@given(
    text=st.sampled_from(FILES),
    choice=st.randoms(use_true_random=False),
    scrap=st.sampled_from(SCRAPS),
)
def test_machine_file_with_another_value_loads_or_is_refused_with_a_message(
    text: str, choice: random.Random, scrap: str, tmp_path: Path
) -> None:
    """The files are well-formed TOML with wrong contents, so the parser accepts them."""
    lines = text.splitlines()
    number = choice.choice([n for n, line in enumerate(lines) if " = " in line])
    key = lines[number].partition("=")[0]
    for value in (scrap, f'"{scrap}"', f"{{ value = {scrap}, source = 3 }}", f"[{scrap}]"):
        outcome(
            write(tmp_path, "\n".join([*lines[:number], f"{key}= {value}", *lines[number + 1 :]]))
        )


KEYS = [number.key for name in ("r5950x", "epyc7302x2") for number in load(name).numbers]


@FIXED
@given(
    key=st.one_of(st.sampled_from(KEYS), st.text(max_size=30)),
    value=st.one_of(st.sampled_from(SCRAPS), st.text(max_size=30)),
)
@example("cpus.join", "ring")
@example("tree", "core:2")
@example("core", "2")
@example("system.resolver", "3")
@example("die.join", "crossbar 1ns")
def test_any_override_is_applied_or_refused_with_a_message(key: str, value: str) -> None:
    outcome("epyc7302x2", f"{key}={value}")
    outcome("r5950x", f"{key}={value}")


@FIXED
@given(
    kind=st.sampled_from(["ring", "two-rings", "ladder", "mesh", "quadrants", "bus", "links"]),
    words=st.lists(
        st.lists(st.sampled_from(["0", "1", "2+m", "s", "u", ".", "x", "b0", "b1", "3+u", "m"])),
        max_size=4,
    ),
)
def test_any_floorplan_loads_or_is_refused_with_a_message(
    kind: str, words: list[list[str]], tmp_path: Path
) -> None:
    plan = "\n".join(" ".join(row) for row in words)
    join = f"kind = '{kind}'\nlatency = '2ns'\nbridge = '1ns'\nmap = '''{plan}'''"
    outcome(write(tmp_path, with_join(join, "socket:1 core:4 thread:1")))
    outcome(write(tmp_path, with_join(join.replace("bridge", "#"), "socket:1 core:4 thread:1")))


@FIXED
@given(text=st.text(alphabet="0123456789.+-*/%@() icyxnsBGH,:ui", max_size=24))
def test_readers_of_quantities_refuse_with_a_message(text: str) -> None:
    readers = [
        lambda: duration(text, lambda _: frequency("1GHz")),
        lambda: rate(text, lambda _: frequency("1GHz")),
        lambda: frequency(text),
        lambda: size(text),
        lambda: cache_parts(text),
        lambda: parse_tree(text),
        lambda: parse_map(text, 2),
        lambda: check_cpus(text, 4),
    ]
    for reader in readers:
        with contextlib.suppress(UnitError):
            reader()


def test_deep_brackets_are_refused_with_a_message(tmp_path: Path) -> None:
    for text in ("x = " + "[" * 5000, "x = " + "[" * 5000 + "]" * 5000, "a" + ".a" * 5000 + " = 1"):
        assert outcome(write(tmp_path, text))
    assert outcome("tr1950x", "cpus=" + "(" * 190 + "i")
    assert outcome("tr1950x", "cpus=" + "9" * 150 + "**9")


def paths(value: object, at: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    items: list[tuple[str | int, object]] = []
    if isinstance(value, dict):
        items = list(value.items())
    elif isinstance(value, list):
        items = list(enumerate(value))
    return [at] * bool(at) + [path for key, inner in items for path in paths(inner, (*at, key))]


TOML_SCRAPS = st.sampled_from(
    [
        *("a", "b", '"c d"', "'e'", ".", "=", "[", "]", "[[", "]]", "{", "}", ",", "\n", "1.5"),
        *('"""\n"', '"""', "'''x\n'''", '"\\""', "# ] \n", "1979-05-27 07:32:00", "\r\n", "\t"),
        *("a = 1\n", "[a]\n", "[[b]]\n", "b = [1, [2]]\n", "a.b = {c = 1, d.e = [{}]}\n", "1_0"),
        *("[b.c]\n", " "),
    ]
)


@settings(FIXED, max_examples=2000)
@given(scraps=st.lists(TOML_SCRAPS, max_size=10))
@example(["b = [[1],[2, [3]]]\n", "a = 1\n"])
@example(["x = '''\n\n'''\n", "a = 1\n"])
def test_every_key_has_a_line_number(scraps: list[str]) -> None:
    text = "".join(scraps)
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    lines = key_lines(text)
    assert set(paths(values)) <= set(lines)
    assert all(1 <= line <= text.count("\n") + 1 for line in lines.values())


def test_key_lines_gives_the_line_of_each_key() -> None:
    text = 'a = """\n\n"""\nb.c = [\n 1, # ]\n [2],\n]\n[d]\n[[e]]\nf = 1\n[[e]]\n"f" = {g = 2}\n'
    lines = key_lines(text)
    assert lines["a",] == 1
    assert lines["b", "c"] == 4
    assert lines["b", "c", 1, 0] == 6
    assert lines["d",] == 8
    assert (lines["e", 0, "f"], lines["e", 1, "f"], lines["e", 1, "f", "g"]) == (10, 12, 12)

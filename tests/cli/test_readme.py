"""Does README.md show what its commands print?

Outcomes are the same on any host, so the output is compared word for word.  Lines that the page
replaces by `...` are not compared, nor are hashes, which depend on the program's bytes.  After a
change of the model, `UNCORE_ACCEPT=1 scripts/test cli` writes the new lines into the page; check
them before you commit.
"""

from __future__ import annotations

import gzip
import os
import re
import shlex
from pathlib import Path

import pytest
from tests.cli.test_boot import GUEST
from tests.isa import guest

from uncore.program import compile_for_linux
from uncore.support.paths import CHECKOUT

EXAMPLE = re.compile(r"```console\n\$ uncore (?P<words>.*)\n(?P<output>[^`]*)```\n")
OMISSION = "..."


def test_examples_of_the_readme_print_their_output(uncore, monkeypatch, tmp_path):
    """All examples run in one folder, because some read files that earlier ones have written."""
    assert CHECKOUT
    readme = CHECKOUT / "README.md"
    monkeypatch.chdir(tmp_path)
    text = readme.read_text()
    examples = list(EXAMPLE.finditer(text))
    assert len(examples) == 6
    for example in examples:
        run = uncore(*shlex.split(example["words"]))
        assert run.status == 0, run.err
        printed = [line.rstrip() for line in run.out.rstrip().splitlines()]
        if os.environ.get("UNCORE_ACCEPT"):
            shown = accepted(example["output"].splitlines(), printed)
            readme.write_text(readme.read_text().replace(example["output"], shown))
        else:
            assert first_missing_part(example["output"].splitlines(), printed) == []


def first_missing_part(shown: list[str], printed: list[str]) -> list[str]:
    """Returns the first part of the shown output that was not printed, or not in this order."""
    position = 0
    for part in parts(shown):
        places = range(position, len(printed) - len(part) + 1)
        matches = [n for n in places if equal_but_for_hashes(part, printed[n : n + len(part)])]
        if not matches:
            return part
        position = matches[0] + len(part)
    return []


def parts(shown: list[str]) -> list[list[str]]:
    """Splits the shown output at its `...` lines into groups of consecutive lines."""
    groups: list[list[str]] = [[]]
    for line in shown:
        if line == OMISSION:
            groups.append([])
        else:
            groups[-1].append(line)
    return [part for part in groups if part]


def equal_but_for_hashes(shown: list[str], printed: list[str]) -> bool:
    return [without_hash(line) for line in shown] == [without_hash(line) for line in printed]


def without_hash(line: str) -> str:
    return re.sub(r"^result [0-9a-f]+$", "result", line)


def accepted(shown: list[str], printed: list[str]) -> str:
    """Returns the new text of an example. Each part keeps its number of lines, and starts at the
    first printed line whose first word is that of the part.
    """
    lines, position = list[str](), 0
    for number, part in enumerate(parts(shown)):
        starts = [
            n
            for n in range(position, len(printed))
            if printed[n].split()[:1] == part[0].split()[:1]
        ]
        begin = starts[0] if starts else position
        position = begin + len(part)
        lines += ([OMISSION] if number else []) + printed[begin:position]
    return "\n".join([*lines, OMISSION] if shown[-1:] == [OMISSION] else lines) + "\n"


def test_line_of_an_example_that_is_not_printed_is_noticed():
    printed = ["a  1", "b  2", "c  3", "result 0f"]
    assert first_missing_part(["a  1", "...", "c  3", "result aa"], printed) == []
    assert first_missing_part(["a  1", "c  3"], printed) == ["a  1", "c  3"]
    assert first_missing_part(["c  3", "...", "a  1"], printed) == ["a  1"]


OTHER_COMMANDS = re.compile(r"^    scripts/run ((?:\S+ ?)+)|`uncore (\w+ [^`]+)`", re.MULTILINE)
# Maps a word of a command to a text that the command must print, or must write to the file of this
# name if the word is a file name.
EXPECTED_TEXT = {
    "here.toml": "[core.l2]",
    "heat.html": "socket.join",
    "watch.html": "lock/ticket",
    "fences": "Keep every order",
    "./program": "     64  ",
    "boot": "ready",
    "explore": "46 on the front",
    "--keys": "socket.join.latency",
    "lesson": "ticket",
    "new": "a machine that runs as it is",
}
SLOW_COMMANDS = ("explore", "./program")
# Stands for the program of a reader of README.md. Its argument is the number of threads.
PROGRAM = """
#include <pthread.h>
#include <stdlib.h>
static void *turn(void *turns) { return __atomic_fetch_add((long *)turns, 1, 5), turns; }
int main(int words, char **word)
{
    long turns = 0, threads = words == 3 ? atol(word[2]) : -1;
    pthread_t team[64];
    for (long t = 0; t < threads; t++) pthread_create(&team[t], 0, turn, &turns);
    for (long t = 0; t < threads; t++) pthread_join(team[t], 0);
    return turns != threads;
}
"""


def commands():
    for outside, inside in OTHER_COMMANDS.findall(
        (CHECKOUT or Path()).joinpath("README.md").read_text()
    ):
        words = shlex.split(outside or inside)
        is_slow = any(word in SLOW_COMMANDS for word in words)
        yield pytest.param(
            words, marks=pytest.mark.long if is_slow else (), id=" ".join(words)[:40]
        )


@pytest.fixture
def readers_folder(uncore, tmp_path):
    """Returns the command, in a folder that holds what a reader of README.md has: the docs, a lock,
    a kernel that prints a word and powers off, and its initial file system.
    """
    assert CHECKOUT
    (tmp_path / "docs").symlink_to(CHECKOUT / "docs")
    assert uncore("new", "lock", "my_lock.c").status == 0
    source = GUEST.replace("TEXT", "ready").replace("CODE", "0")
    (tmp_path / "vmlinux").write_bytes(guest.assemble(source, tmp_path).text)
    (tmp_path / "initrd.gz").write_bytes(gzip.compress(b"070701"))
    return uncore


@pytest.mark.parametrize("words", list(commands()))
def test_every_other_command_of_the_readme_prints_what_it_promises(readers_folder, tmp_path, words):
    if "./program" in words:
        (tmp_path / "program.c").write_text(PROGRAM)
        built = compile_for_linux(tmp_path / "program.c", (), ())
        (tmp_path / "program").write_bytes(built.data)
    run = readers_folder(*words)
    assert run.status == 0, run.err
    shows = {word: text for word, text in EXPECTED_TEXT.items() if word in words}
    assert shows, "say in EXPECTED_TEXT what it prints"
    for word, text in shows.items():
        file = tmp_path / word
        assert text in (
            file.read_text() if word.endswith((".html", ".toml")) else run.out + run.err
        )


@pytest.mark.long
def test_picture_of_the_readme_is_what_demo_draws(uncore, tmp_path):
    """After a change of the model, `scripts/run demo --plot docs/demo.svg` updates the picture."""
    assert CHECKOUT
    assert uncore("demo", "--plot", str(tmp_path / "demo.svg")).status == 0
    on_file, drawn = (shapes(folder / "demo.svg") for folder in (CHECKOUT / "docs", tmp_path))
    assert on_file == drawn


def shapes(picture):
    """Returns the texts and lines of a picture, with coordinates rounded to a tenth. Embedded
    images are left out, because libraries compress them differently.
    """
    text = re.sub(r'href="data:[^"]*"', "", picture.read_text())
    return re.sub(r"\d+\.\d+", lambda number: f"{float(number[0]):.1f}", text)

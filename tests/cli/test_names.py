"""Are control characters in names escaped, so that no name can send commands to the terminal?"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from uncore.support import paths
from uncore.support.printable import plain, plain_json

HOSTILE_NAME = "x\x1b[2J\x9b1m\u202eyz$a^{b$"
MACHINE = 'extends = "bus"\nname = %s\ntree = "core:2 thread:1"\n'


@pytest.fixture
def hostile_machine(uncore) -> str:
    """Writes a machine with control characters in its name, and in the name of its file."""
    file = f"m{HOSTILE_NAME}.toml"
    Path(file).write_text(MACHINE % json.dumps(HOSTILE_NAME))
    return file


def printable(text: str) -> bool:
    return all(letter.isprintable() or letter in "\n\t" for letter in text)


@pytest.mark.parametrize(
    "words",
    [
        ("show", "MACHINE"),
        ("show", "MACHINE", "--json"),
        ("matrix", "MACHINE", "--plot", "m.png", "--csv", f"{HOSTILE_NAME}.csv"),
        ("matrix", "MACHINE", "--json"),
        ("run", "MACHINE", "counter/atomic", "--threads", "1,2", "--plot", f"{HOSTILE_NAME}.svg"),
        ("run", "MACHINE", "counter/atomic", "--json"),
        ("run", "MACHINE", f"{HOSTILE_NAME}.elf"),
        ("run", "MACHINE", "lock/ticket", "--threads", "99"),
        ("sweep", "MACHINE", "counter/atomic", "--set", f"{HOSTILE_NAME}=1"),
        (HOSTILE_NAME,),
    ],
)
def test_control_characters_in_names_are_escaped(uncore, hostile_machine, words):
    run = uncore(*(hostile_machine if word == "MACHINE" else word for word in words))
    assert printable(run.out + run.err)
    assert HOSTILE_NAME[0] in run.out + run.err
    if "--json" in words:
        assert (
            HOSTILE_NAME in json.dumps(json.loads(run.out), ensure_ascii=False) or run.status == 0
        )


def test_plain_text_is_unchanged():
    assert plain("1.5 µs ─ lock/ticket\n\tx") == "1.5 µs ─ lock/ticket\n\tx"


def test_escaped_json_decodes_to_the_same_value():
    text = json.dumps({"name": HOSTILE_NAME, "half": "\U000e0001"}, ensure_ascii=False)
    assert json.loads(plain_json(text)) == json.loads(text)
    assert printable(plain_json(text))


def uncore_process(*words: str | bytes, **options: object) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([sys.executable, "-m", "uncore", *words], capture_output=True, **options)  # type: ignore[call-overload,no-any-return]


def test_name_that_is_not_utf_8_is_refused(tmp_path):
    run = uncore_process("run", b"\xff.toml", "counter/atomic", cwd=tmp_path)
    assert (run.returncode, run.stderr) == (
        2,
        b"uncore: \\udcff.toml: not UTF-8; give the file a name that is\n",
    )


def test_characters_that_the_output_encoding_lacks_give_no_traceback():
    run = uncore_process("show", "bus:2", env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert (run.returncode, run.stderr) == (0, b"")


def test_standard_output_to_a_full_device_gives_a_message():
    with Path("/dev/full").open("wb") as full:
        run = subprocess.run(
            [sys.executable, "-m", "uncore", "list"], stdout=full, stderr=subprocess.PIPE
        )
    assert (run.returncode, run.stderr) == (
        2,
        b"uncore: standard output: No space left on device\n",
    )


def test_machine_with_more_than_32_levels_is_refused(uncore):
    tree = " ".join(f"l{number}:1" for number in range(500))
    Path("deep.toml").write_text(f'extends = "bus"\ntree = "{tree} core:1"\n')
    run = uncore("show", "deep.toml")
    assert run.status == 2
    assert "501 levels; expected at most 32" in run.err


@pytest.mark.parametrize("engine", ["sst", "gem5"])
def test_export_to_an_unwritable_folder_gives_a_message(uncore, engine):
    run = uncore("export", engine, "bus:2", "counter/atomic", "-o", "/proc/nowhere")
    assert run.status == 2
    assert "/proc/nowhere: cannot make the folder" in run.err


@pytest.mark.parametrize("how", ['#include "%s"', "#include <%s>", 'asm(".incbin \\"%s\\"");'])
def test_source_that_includes_a_device_or_pipe_is_refused_at_once(uncore, how):
    os.mkfifo("pipe.h")
    for device in ("/dev/zero", "pipe.h" if '"%s"' in how else "/dev/zero"):
        Path("part.h").write_text((how % device).replace("\\\\", "\\") + "\n")
        Path("x.c").write_text('#include "uncore.h"\n#include "part.h"\n')
        run = uncore("run", "bus:2", "x.c")
        assert run.status == 2
        assert "part.h:1: takes in " in run.err and "not a regular file" in run.err


def test_compiler_that_does_not_end_is_stopped(uncore, monkeypatch):
    monkeypatch.setattr("uncore.program.build.COMPILE_TIMEOUT_S", 1)
    name = '#include "uncore.h"\n#define NAME "/dev/zero"\n#include NAME\n'
    Path("x.c").write_text(name)
    run = uncore("run", "bus:2", "x.c")
    assert run.status == 2
    assert "x.c: the compiler has not ended after 1 s" in run.err
    assert str(paths.CACHE) not in run.err

"""Does README.md lead a stranger to an answer in at most ten commands, and are the pages good?

The commands of each sitting (sittings.toml) are typed as they stand.  The pages are also saved as
pictures in build/sittings, to look at; a fifth sitting, in a browser, is
tests/site/test_student.py.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.trace.browser import check_page

from uncore.support.paths import CHECKOUT

assert CHECKOUT
README = (CHECKOUT / "README.md").read_text()
SITTINGS = tomllib.loads(Path(__file__).with_name("sittings.toml").read_text())["sitting"]
MAX_SITTING_COMMANDS = 10
# needs a minute and a half, because its first command compiles C++'s library
COMPILED = "author of a C++ library"


class Sat(NamedTuple):
    """A sitting that was typed: its table in sittings.toml, its folder, and the output of each
    command.
    """

    told: dict[str, Any]
    folder: Path
    printed: list[str]


def typed(command: str, folder: Path) -> str:
    words = [sys.executable, "-m", *shlex.split(command)]
    surroundings = os.environ | {"COLUMNS": "100"}
    done = subprocess.run(words, capture_output=True, text=True, cwd=folder, env=surroundings)
    assert done.returncode == 0, f"{command}: {done.stderr}"
    return done.stdout + done.stderr


SAT = [
    pytest.param(told, marks=pytest.mark.long if told["who"] == COMPILED else (), id=told["who"])
    for told in SITTINGS
]


@pytest.fixture(scope="module", params=SAT)
def sat(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Sat:
    told, folder = request.param, tmp_path_factory.mktemp("sitting")
    for name, text in told.get("files", {}).items():
        (folder / name).write_text(text.lstrip())
    return Sat(told, folder, [typed(command, folder) for command in told["commands"]])


def test_a_question_is_answered_in_ten_commands(sat: Sat) -> None:
    assert len(sat.told["commands"]) <= MAX_SITTING_COMMANDS
    printed = " ".join(" ".join(sat.printed).split())
    missing = [text for text in sat.told["answers"] if not re.search(text, printed)]
    assert missing == []


def test_typed_commands_were_printed_before(sat: Sat) -> None:
    """Every command and option stands in README.md, or was printed by an earlier command."""
    read = README
    for command, printed in zip(sat.told["commands"], sat.printed, strict=True):
        words = shlex.split(command.partition(" -- ")[0])
        assert re.search(rf"(uncore|scripts/run) {words[1]}\b", read), command
        flags = [word.partition("=")[0] for word in words if word.startswith("--")]
        assert [flag for flag in flags if flag not in (*read.split(), "--help")] == [], command
        read += " " + re.sub(r"[,()│]", " ", printed)


WIDTHS = (1280, 1920, 390)


@pytest.mark.long
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_pages_are_whole_on_every_screen(sat: Sat, width: int, dark: bool) -> None:
    for name in sat.told["pages"]:
        check_page(sat.folder / name, width, dark)

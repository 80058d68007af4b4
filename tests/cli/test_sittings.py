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


class TypedSitting(NamedTuple):
    """A sitting that was typed: its table in sittings.toml, its folder, and the output of each
    command.
    """

    sitting: dict[str, Any]
    folder: Path
    printed: list[str]


def typed(command: str, folder: Path) -> str:
    arguments = [sys.executable, "-m", *shlex.split(command)]
    surroundings = os.environ | {"COLUMNS": "100"}
    completed = subprocess.run(
        arguments, capture_output=True, text=True, cwd=folder, env=surroundings
    )
    assert completed.returncode == 0, f"{command}: {completed.stderr}"
    return completed.stdout + completed.stderr


SITTING_CASES = [
    pytest.param(
        sitting,
        marks=pytest.mark.long if sitting["who"] == COMPILED else (),
        id=sitting["who"],
    )
    for sitting in SITTINGS
]


@pytest.fixture(scope="module", params=SITTING_CASES)
def sat(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> TypedSitting:
    sitting, folder = request.param, tmp_path_factory.mktemp("sitting")
    for name, text in sitting.get("files", {}).items():
        (folder / name).write_text(text.lstrip())
    return TypedSitting(
        sitting, folder, [typed(command, folder) for command in sitting["commands"]]
    )


def test_a_question_is_answered_in_at_most_ten_commands(sat: TypedSitting) -> None:
    assert len(sat.sitting["commands"]) <= MAX_SITTING_COMMANDS
    printed = " ".join(" ".join(sat.printed).split())
    missing = [text for text in sat.sitting["answers"] if not re.search(text, printed)]
    assert missing == []


def test_every_typed_command_stands_in_the_readme_or_in_earlier_output(sat: TypedSitting) -> None:
    """Every command and option stands in README.md, or was printed by an earlier command."""
    read = README
    for command, printed in zip(sat.sitting["commands"], sat.printed, strict=True):
        arguments = shlex.split(command.partition(" -- ")[0])
        assert re.search(rf"(uncore|scripts/run) {arguments[1]}\b", read), command
        flags = [word.partition("=")[0] for word in arguments if word.startswith("--")]
        assert [flag for flag in flags if flag not in (*read.split(), "--help")] == [], command
        read += " " + re.sub(r"[,()│]", " ", printed)


WIDTHS = (1280, 1920, 390)


@pytest.mark.long
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_pages_have_no_fault_and_fit_every_screen(
    sat: TypedSitting, width: int, dark: bool
) -> None:
    for name in sat.sitting["pages"]:
        check_page(sat.folder / name, width, dark)

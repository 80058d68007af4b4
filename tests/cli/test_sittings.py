"""Does README.md lead a newcomer to an answer in at most ten commands, and do the pages work?

A sitting is one newcomer's session: a question, and the commands that answer it (sittings.toml).
The commands run exactly as written there.  Screenshots of the pages are saved in build/sittings.
Another sitting, which happens in a browser, is tests/site/test_student.py.
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
# This sitting takes a minute and a half, because its first command compiles the C++ library.
COMPILED = "author of a C++ library"


class FinishedSitting(NamedTuple):
    """A sitting whose commands have run: its table in sittings.toml, the folder in which they ran,
    and the output of each.
    """

    sitting: dict[str, Any]
    folder: Path
    printed: list[str]


def run_command(command: str, folder: Path) -> str:
    arguments = [sys.executable, "-m", *shlex.split(command)]
    environment = os.environ | {"COLUMNS": "100"}
    completed = subprocess.run(
        arguments, capture_output=True, text=True, cwd=folder, env=environment
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
def finished(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> FinishedSitting:
    sitting, folder = request.param, tmp_path_factory.mktemp("sitting")
    for name, text in sitting.get("files", {}).items():
        (folder / name).write_text(text.lstrip())
    return FinishedSitting(
        sitting, folder, [run_command(command, folder) for command in sitting["commands"]]
    )


def test_question_of_a_newcomer_is_answered_in_at_most_ten_commands(
    finished: FinishedSitting,
) -> None:
    assert len(finished.sitting["commands"]) <= MAX_SITTING_COMMANDS
    printed = " ".join(" ".join(finished.printed).split())
    missing = [text for text in finished.sitting["answers"] if not re.search(text, printed)]
    assert missing == []


def test_every_command_is_in_the_readme_or_in_earlier_output(finished: FinishedSitting) -> None:
    """Otherwise the newcomer could not know the command or the option."""
    read = README
    for command, printed in zip(finished.sitting["commands"], finished.printed, strict=True):
        arguments = shlex.split(command.partition(" -- ")[0])
        assert re.search(rf"(uncore|scripts/run) {arguments[1]}\b", read), command
        flags = [word.partition("=")[0] for word in arguments if word.startswith("--")]
        assert [flag for flag in flags if flag not in (*read.split(), "--help")] == [], command
        read += " " + re.sub(r"[,()│]", " ", printed)


WIDTHS = (1280, 1920, 390)


@pytest.mark.long
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_pages_of_a_sitting_pass_the_browser_checks_at_every_width(
    finished: FinishedSitting, width: int, dark: bool
) -> None:
    for name in finished.sitting["pages"]:
        check_page(finished.folder / name, width, dark)

"""Does `man uncore` agree with --help, and is the page installed?"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest
from tests.docs.man_page import FILE, page
from tests.docs.pages import ROOT

from uncore.cli import app as cli
from uncore.cli.commands import COMMANDS
from uncore.support import plugins

INSTALLED = "share/man/man1/uncore.1"


def test_manual_page_agrees_with_the_command_line_parser() -> None:
    told = "docs/uncore.1 is not today's; write it: python -m tests.docs.man_page"
    assert FILE.read_text() == page(), told


def test_manual_page_has_every_command_option_and_column_of_help() -> None:
    """The expected texts come from the site's page of commands, which is made independently."""
    text = FILE.read_text().replace("\\-", "-")
    for name in {**COMMANDS, **plugins.commands()}:
        assert f"\n.SS uncore {name}\n" in text
    options = set(re.findall(r"--[a-z][\w-]+", cli.document()))
    assert len(options) > 100
    assert [option for option in sorted(options) if option not in text] == []
    columns = {c.head for c in cli._explained_columns(COMMANDS["lines"].tables)}
    shown = text.partition("\n.SS uncore lines\n")[2].partition("\n.SS ")[0]
    assert [head for head in columns if f"\\fB{head}\\fP" not in shown] == []


@pytest.mark.skipif(not shutil.which("groff"), reason="groff is not installed")
def test_groff_reads_the_manual_page_without_a_warning() -> None:
    done = subprocess.run(
        ["groff", "-man", "-ww", "-Tutf8", "-z", FILE], capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_wheel_installs_the_manual_page_where_man_finds_it(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path],
        cwd=ROOT,
        env=os.environ | {"HATCH_BUILD_NO_HOOKS": "true"},  # without the native module
        capture_output=True,
        check=True,
    )
    (wheel,) = tmp_path.glob("*.whl")
    with ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".1"))
        assert name.endswith(f".data/data/{INSTALLED}")
        assert archive.read(name) == FILE.read_bytes()

"""Does uncore work if its laboratory, the package uncore_lab, is not installed?"""

from __future__ import annotations

import subprocess
import sys

import pytest

# Hides the package: importing it fails, and a search for plugins does not find it.
START_WITHOUT_LABORATORY = (
    "import sys; sys.modules['uncore_lab'] = None; from uncore.cli.app import main; main()"
)


def uncore(
    *arguments: str, start: str = START_WITHOUT_LABORATORY
) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", start, *arguments], capture_output=True, text=True)


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "bus:2", "counter/contended", "--threads", "2", "--set", "ops=100"),
        ("matrix", "bus:2"),
        ("list",),
        ("--help",),
    ],
    ids=lambda arguments: arguments[0],
)
def test_command_of_uncore_works_without_the_laboratory(arguments):
    completed = uncore(*arguments)
    assert (completed.returncode, completed.stderr) == (0, "")


def test_column_of_measured_figures_exists_only_with_the_laboratory():
    arguments = ("matrix", "fx8300")
    assert "measured ns" not in uncore(*arguments).stdout
    assert (
        "measured ns" in uncore(*arguments, start="from uncore.cli.app import main; main()").stdout
    )


def test_command_of_the_laboratory_is_unknown_without_it():
    completed = uncore("validate")
    assert completed.returncode == 2
    assert "there is no command 'validate'" in completed.stderr

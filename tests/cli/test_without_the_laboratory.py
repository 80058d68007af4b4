"""Does the product work if the laboratory is not installed?"""

from __future__ import annotations

import subprocess
import sys

import pytest

# Hides the package: an import fails, and a search does not find it.
WITHOUT = "import sys; sys.modules['uncore_lab'] = None; from uncore.cli.app import main; main()"


def uncore(*words: str, start: str = WITHOUT) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", start, *words], capture_output=True, text=True)


@pytest.mark.parametrize(
    "words",
    [
        ("run", "bus:2", "counter/contended", "--threads", "2", "--set", "ops=100"),
        ("matrix", "bus:2"),
        ("list",),
        ("--help",),
    ],
    ids=lambda words: words[0],
)
def test_a_command_of_the_product_works(words):
    done = uncore(*words)
    assert (done.returncode, done.stderr) == (0, "")


def test_measured_figures_stand_beside_simulated_ones_only_with_the_laboratory():
    words = ("matrix", "fx8300")
    assert "measured ns" not in uncore(*words).stdout
    assert "measured ns" in uncore(*words, start="from uncore.cli.app import main; main()").stdout


def test_a_command_of_the_laboratory_is_unknown():
    done = uncore("validate")
    assert done.returncode == 2
    assert "there is no command 'validate'" in done.stderr

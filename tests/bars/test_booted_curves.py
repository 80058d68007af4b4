"""Are will-it-scale's rates in a booted kernel compared with the measured ones?"""

from __future__ import annotations

from pathlib import Path

import pytest

from uncore.cli.app import main
from uncore.errors import UserError
from uncore_lab.validate import booted
from uncore_lab.validate.series import curves_of

CONSOLE = """
[    1.027692] random: crng init done
~ # cd /files; ./open1 1 4; ./open1 -t 1 4\r
open1 process 1 200000\r
open1 process 4 600000\r
open1 thread 1 200000\r
open1 thread 4 150000\r
dup1 thread 2 7\r
getppid1 process 1 5000000\r
getppid1 process 4 20000000\r
getppid1 process 5 25000000\r
"""


@pytest.fixture
def console(tmp_path: Path) -> Path:
    path = tmp_path / "console"
    path.write_text(CONSOLE)
    return path


def test_rates_are_found_in_the_console_output_of_a_kernel(console: Path) -> None:
    rates = booted.read([console])
    assert rates["open1", "process"] == {1: 200_000, 4: 600_000}
    assert rates["dup1", "thread"] == {2: 7}


def test_booted_curves_are_compared_at_measured_task_counts_and_one_clock(console: Path) -> None:
    """The call shares no data, so four tasks are four times as fast, less the lower turbo clock."""
    found = {
        (one.program, one.mode): one for one in booted.compare("x6130x2", booted.read([console]))
    }
    alone = found["getppid1", "process"]
    assert alone.tasks == [1, 4]
    assert alone.curve == [1, 4]
    assert alone.measured_curve[1] == pytest.approx(4, rel=0.02)
    assert curves_of("x6130x2").millions["getuid1"]["linux"][1] < 3.9 * 18.5
    assert not found["dup1", "thread"].measured


def test_summary_of_steps_counts_contended_programs_only(console: Path) -> None:
    found = booted.compare("x6130x2", booted.read([console]))
    assert booted.steps(found) == "1 to 4 tasks 0.75 (1.53)"  # open1 as threads


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("open1 process many\n", "no rates; expected"),
        ("open1 process 3 7\n", r"tasks \[3\]; expected"),
    ],
)
def test_console_without_rates_is_refused(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "console"
    path.write_text(text)
    with pytest.raises(UserError, match=message):
        booted.compare("x6130x2", booted.read([path]))


def test_booted_curves_command_writes_a_picture(
    console: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as exit_:
        main(["willitscale", "x6130x2", str(console), "--plot", str(tmp_path / "curves.svg")])
    assert exit_.value.code == 0
    assert "getppid1" in capsys.readouterr().out
    assert "open1, 2x Intel Xeon Gold 6130" in (tmp_path / "curves.svg").read_text()

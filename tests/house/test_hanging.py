"""Does pytest end a hanging test and print its name, even in a background job?"""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.house.tracked import TOP

IGNORED = (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP)
HANGS = "import time\ndef test_hangs(): time.sleep(300)\n"
IGNORES_ALARM = """
import signal, time
def test_hangs_and_blocks_the_alarm():
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM})
    while True:
        time.sleep(300)
"""
WAITS_FOR_CHILD = """
import signal, subprocess, time, pytest
def test_ctrl_c_reaches_pytest():
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
        time.sleep(300)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGQUIT, signal.SIGHUP])
def test_signal_reaches_a_process(number):
    process = subprocess.Popen(["sleep", "300"])
    process.send_signal(number)
    assert process.wait() == -number
"""


def in_background(folder: Path, text: str, *limits: str) -> subprocess.CompletedProcess[str]:
    """Runs pytest with those signals ignored that a shell ignores for a background job."""
    (folder / "test_it.py").write_text(text)
    arguments = ["-p", "tests.conftest", "-c", TOP / "pyproject.toml", "--rootdir", folder, *limits]
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments, folder],
        cwd=TOP,
        capture_output=True,
        text=True,
        preexec_fn=lambda: [signal.signal(number, signal.SIG_IGN) for number in IGNORED],
    )


def test_hanging_test_fails_with_its_name(tmp_path: Path) -> None:
    done = in_background(tmp_path, HANGS, "--timeout=1")
    assert done.returncode == 1
    assert "Failed: Timeout" in done.stdout and "test_it.py::test_hangs" in done.stdout


def test_hanging_test_that_blocks_the_alarm_ends_pytest_with_its_name(tmp_path: Path) -> None:
    done = in_background(tmp_path, IGNORES_ALARM, "--timeout=1", "-o", "faulthandler_timeout=2")
    assert done.returncode == 1 and "test_hangs_and_blocks_the_alarm" in done.stderr


def test_ignored_signals_reach_tests_and_their_processes(tmp_path: Path) -> None:
    done = in_background(tmp_path, WAITS_FOR_CHILD, "--timeout=20")
    assert done.returncode == 0, done.stdout


def test_every_test_has_a_limit(request: pytest.FixtureRequest) -> None:
    assert float(request.config.getini("timeout")) > 0
    assert float(request.config.getini("faulthandler_timeout")) > 3600
    assert request.config.getini("faulthandler_exit_on_timeout")

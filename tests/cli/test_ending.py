"""Have all workers ended, and are all finished points saved, however `uncore run` is ended?"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from uncore.cli import app as cli
from uncore.result import load

# The point with one thread takes half a second; the point with 64 threads takes minutes.
SWEEP_OF_MINUTES = (
    "run bus:64 counter/atomic --threads 1,64 --set ops=2500000 --max-time none --seed none"
    " --cores 2 --output r.json"
).split()
END_TIMEOUT_S = 200


def fields(process: int) -> list[str]:
    """Returns the fields of /proc/PID/stat from the state on; none if the process has ended."""
    try:
        stat = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return []
    return stat.rpartition(")")[2].split()


def alive(process: int) -> bool:
    return fields(process)[:1] not in ([], ["Z"])


def children(process: int) -> list[int]:
    numbers = [int(name) for name in os.listdir("/proc") if name.isdecimal()]
    return [number for number in numbers if fields(number)[1:2] == [str(process)]]


def has_finished_a_point(worker: int) -> bool:
    """True if the worker has used CPU time and is asleep in each of ten successive samples, which
    means that its point is finished.
    """
    for _ in range(10):
        state, ticks = fields(worker)[0], int(fields(worker)[11])
        if state != "S" or ticks < 5:
            return False
        time.sleep(0.03)
    return True


def wait_until(is_true: Callable[[], bool]) -> bool:
    end = time.monotonic() + END_TIMEOUT_S
    while not is_true():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


@pytest.fixture
def running(tmp_path) -> Iterator[tuple[subprocess.Popen[str], list[int]]]:
    """Starts a command with two workers, and waits until one has finished its points."""
    process = subprocess.Popen(
        [sys.executable, "-m", "uncore", *SWEEP_OF_MINUTES],
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    workers: list[int] = []

    def ready() -> bool:
        workers[:] = children(process.pid)
        return len(workers) == 2 and any(map(has_finished_a_point, workers))

    assert wait_until(ready)
    yield process, workers
    for number in (process.pid, *workers):
        if alive(number):
            os.kill(number, signal.SIGKILL)
    process.communicate()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("to_group", [False, True])
def test_signal_saves_finished_points_and_ends_all_workers(running, tmp_path, number, to_group):
    process, workers = running
    if to_group:
        os.killpg(process.pid, number)
    else:
        process.send_signal(number)
    process.communicate(timeout=END_TIMEOUT_S)
    assert process.returncode == 130
    assert not any(map(alive, workers))
    result = load(tmp_path / "r.json")
    assert (result.outcome.partial, [point.threads for point in result.points]) == (True, [1])


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGQUIT])
def test_workers_end_if_their_parent_is_killed(running, number):
    process, workers = running
    process.send_signal(number)
    process.communicate(timeout=END_TIMEOUT_S)
    assert process.returncode == -number
    assert wait_until(lambda: not any(map(alive, workers)))


def test_signal_while_the_table_is_printed_loses_no_finished_point(tmp_path, monkeypatch):
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("uncore.report.curve.show", interrupted)
    with pytest.raises(SystemExit) as ended:
        cli.main("run bus:2 counter/atomic --threads 1,2 --set ops=9 --output r.json".split())
    assert ended.value.code == 130
    assert len(load(Path("r.json")).points) == 6


def test_signal_that_the_user_ignores_stays_ignored(tmp_path):
    code = "import signal, os; from uncore.support.signals import interruptible\n"
    code += "signal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
    code += "with interruptible(): os.kill(os.getpid(), signal.SIGHUP)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_ctrl_c_while_modules_load_ends_the_command_silently() -> None:
    code = """
import os, signal, sys
class Interrupter:
    def find_spec(self, name, *_):
        if name == "uncore.cli":
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupter())
from uncore.__main__ import main
main()
"""
    completed = subprocess.run([sys.executable, "-c", code], capture_output=True)
    assert (completed.returncode, completed.stderr) == (-signal.SIGINT, b"")


def test_output_file_is_written_even_if_the_pipe_of_stdout_is_closed(tmp_path: Path) -> None:
    command = f"{sys.executable} -m uncore predict r2700x --output p.toml | true"
    subprocess.run(["sh", "-c", command], cwd=tmp_path, capture_output=True)
    assert "interval" in (tmp_path / "p.toml").read_text()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_litmus_command_leaves_no_worker_after_a_signal(tmp_path: Path, number: int) -> None:
    arguments = "litmus SB --rounds 100000 --cores 2".split()
    command = [sys.executable, "-m", "uncore", *arguments]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen(command, cwd=tmp_path, start_new_session=True, **quiet)
    assert wait_until(lambda: len(children(process.pid)) == 2)
    workers = children(process.pid)
    process.send_signal(number)
    assert wait_until(lambda: process.poll() is not None)
    assert wait_until(lambda: not any(map(alive, workers)))

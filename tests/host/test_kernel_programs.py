"""Do the programs for a booted kernel print what their readers expect, and refuse wrong arguments?

The tests compile them for this computer and run them on its kernel; the figures do not matter.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from uncore.host import pinned
from uncore.program import build
from uncore.support import paths
from uncore_lab.validate import booted

pytestmark = pytest.mark.skipif(bool(pinned.missing()), reason=pinned.missing())

KERNEL = paths.WORKLOADS / "programs" / "kernel"
COUNT = Path(__file__).with_name("own_count.c")


def compiled(to: Path, *files: Path) -> Path:
    arguments = [*build.HOST.compiler, "-Wall", "-Wextra", "-Werror", "-O2", "-pthread"]
    subprocess.run(
        [*arguments, *map(str, files), "-o", str(to)], check=True, env=build._environment()
    )
    return to


@pytest.fixture(scope="module")
def tasks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(tmp_path_factory.mktemp("tasks") / "count1", COUNT, KERNEL / "tasks.c")


@pytest.fixture(scope="module")
def calls(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(tmp_path_factory.mktemp("calls") / "paths", KERNEL / "paths.c")


def ran(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    longer = {**os.environ, "MS": "50"}  # longer than a task waits for a CPU on a busy host
    return subprocess.run([str(w) for w in arguments], capture_output=True, text=True, env=longer)


def test_rates_of_tasks_are_those_that_willitscale_reads(tasks: Path, tmp_path: Path) -> None:
    console = tmp_path / "console"
    console.write_text(ran(tasks, "1", "2").stdout + ran(tasks, "-t", "2").stdout)
    rates = booted.read([console])
    assert set(rates["count1", "process"]) == {1, 2} and set(rates["count1", "thread"]) == {2}
    assert min(rate for curve in rates.values() for rate in curve.values()) > 0


def test_task_that_ends_before_it_has_counted_is_reported(tasks: Path) -> None:
    broken = tasks.with_name("broken")
    broken.symlink_to(tasks)
    ended = ran(broken, "2")
    assert ended.returncode == 1 and "process" not in ended.stdout
    assert ended.stderr == "broken: a task ended before it had counted once\n"


@pytest.mark.parametrize("count", ["0", "129", "many"])
def test_invalid_number_of_tasks_is_refused(tasks: Path, count: str) -> None:
    ended = ran(tasks, count)
    assert ended.returncode == 2 and ended.stdout == ""
    assert ended.stderr == f"count1: found '{count}', expected a number of tasks from 1 to 128\n"


@pytest.mark.parametrize("what", ["munmap", "protect", "membarrier", "far", "futex", "sleepers"])
def test_kernel_path_is_timed_for_each_requested_number(calls: Path, what: str) -> None:
    ended = ran(calls, what, "1", "1")
    assert ended.returncode == 0, ended.stderr
    assert re.fullmatch(rf"({what} 1 \d+\.\d\d us\n){{2}}", ended.stdout)


@pytest.mark.parametrize(
    "arguments", [["munmp", "1"], ["munmap", "-1"], ["mutex", "1"], ["futex"], []]
)
def test_unknown_experiment_is_refused(calls: Path, arguments: list[str]) -> None:
    ended = ran(calls, *arguments)
    assert ended.returncode == 2 and ended.stdout == ""
    assert ended.stderr.startswith(f"paths: found '{' '.join(arguments)}".rstrip())
    assert "or mutex and numbers from 2" in ended.stderr

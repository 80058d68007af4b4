"""A scheduler and two workers, each a process that `dask scheduler` and `dask worker` start."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

CLUSTER_TIMEOUT_S = 300
WORKER_OPTIONS = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--memory-limit", "0")


@pytest.fixture(autouse=True)
def long_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    """Raises the time limit, because a busy computer takes long to start a worker."""
    monkeypatch.setattr("uncore.execution.cluster.SCHEDULER_TIMEOUT_S", CLUSTER_TIMEOUT_S)


Start = Callable[..., subprocess.Popen[bytes]]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Returns a function that starts a program of Dask, which is killed at the end of the test."""
    running: list[subprocess.Popen[bytes]] = []

    def start_program(program: str, *arguments: str, **environment: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", f"distributed.cli.dask_{program}", *arguments]
        process = subprocess.Popen(
            command,
            cwd=tmp_path,
            env={**os.environ, **environment},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        running.append(process)
        return process

    yield start_program
    for process in running:
        process.kill()
        process.wait()


class Head(NamedTuple):
    """The scheduler of a cluster."""

    address: str
    process: subprocess.Popen[bytes]


@pytest.fixture
def head(start: Start, tmp_path: Path) -> Head:
    """Starts a scheduler without encryption keys."""
    return scheduler(start, tmp_path)


def scheduler(start: Start, tmp_path: Path, *arguments: str, **environment: str) -> Head:
    file = tmp_path / "scheduler.json"
    options = ("--port", "0", "--no-dashboard", "--scheduler-file", str(file))
    process = start("scheduler", *options, *arguments, **environment)
    end = time.monotonic() + CLUSTER_TIMEOUT_S
    while not file.exists() or not file.read_text().endswith("}"):
        assert time.monotonic() < end
        time.sleep(0.05)
    return Head(json.loads(file.read_text())["address"], process)


@pytest.fixture
def worker(start: Start, head: Head) -> Callable[..., subprocess.Popen[bytes]]:
    """Returns a function that starts a worker of the scheduler `head`."""
    return lambda *arguments: start("worker", head.address, *WORKER_OPTIONS, *arguments)

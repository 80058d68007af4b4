"""A pytest plugin: several processes run the same tests, each test one of them.

    python -m pytest -p tests.tools.shared ...

There are as many as processors: one more would find no processor waiting, and what it collects and
sets up once more costs a tenth.  Whoever comes to a test first claims it, by a file that nobody
else could make.  The first process begins at the first test, the second at the last and goes
backwards, further ones between them and go on to the end, then back to the beginning; so they
seldom meet, and each stays within a file and its fixtures.  A process claims one test ahead,
because a test's end needs to know the next one: whose fixtures stay.  The others write their
reports down; the first takes them into its own summary, so that there is one, with one exit status.
On a host with one processor the first runs all.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

FOLDER = "UNCORE_TESTS_CLAIMED"  # environment of the others: where claims are
NUMBER = "UNCORE_TESTS_PROCESS"  # and which of them this one is, and of how many: 1/3
PROCESSES = "UNCORE_TESTS_PROCESSES"  # how many, where they are not as many as processors
REPORTS, SAID, DONE = "reports", "said", "done"  # files of each, with its number


def pytest_configure(config: pytest.Config) -> None:
    processes = int(os.environ.get(PROCESSES, len(os.sched_getaffinity(0))))
    if folder := os.environ.get(FOLDER):
        number, _, of = os.environ[NUMBER].partition("/")
        config.pluginmanager.register(Other(config, Path(folder), int(number), int(of)))
    elif processes > 1:
        config.pluginmanager.register(First(config, processes))


class _Any:
    """Runs what it is the first to come to."""

    def __init__(self, config: pytest.Config, folder: Path) -> None:
        self.config, self.folder = config, folder

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        if session.config.option.collectonly or session.testsfailed:
            return None  # pytest's own says why
        mine = filter(self._claims, session.items)
        item = next(mine, None)
        while item:
            following = next(mine, None)
            self.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if session.shouldfail:
                raise session.Failed(session.shouldfail)
            if session.shouldstop:
                raise session.Interrupted(session.shouldstop)
            item = following
        return True

    def _claims(self, item: pytest.Item) -> bool:
        name = hashlib.sha256(item.nodeid.encode()).hexdigest()
        try:
            (self.folder / name).touch(exist_ok=False)
        except FileExistsError:
            return False  # another one has it
        return True


class First(_Any):
    def __init__(self, config: pytest.Config, processes: int) -> None:
        self.place = tempfile.TemporaryDirectory()
        super().__init__(config, Path(self.place.name))
        self.others = [self._start(number, processes) for number in range(1, processes)]

    def _start(self, number: int, processes: int) -> subprocess.Popen[bytes]:
        which = {FOLDER: str(self.folder), NUMBER: f"{number}/{processes}"}
        with open(self.folder / f"{SAID}{number}", "w") as output:
            return subprocess.Popen(
                [sys.executable, "-m", "pytest", *map(str, self.config.invocation_params.args)],
                cwd=self.config.invocation_params.dir,
                env={**os.environ, **which},
                stdout=output,
                stderr=output,
            )

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        ran = super().pytest_runtestloop(session)
        for number, other in enumerate(self.others, 1):
            other.wait()
            self._take_over(number)
            if not (self.folder / f"{DONE}{number}").exists():
                output = (self.folder / f"{SAID}{number}").read_text()
                pytest.exit(f"process {number} ended with {other.returncode}:\n{output}", 1)
        return ran

    def _take_over(self, number: int) -> None:
        reports = self.folder / f"{REPORTS}{number}"
        for line in reports.read_text().splitlines() if reports.exists() else []:
            report = self.config.hook.pytest_report_from_serializable(
                config=self.config, data=json.loads(line)
            )
            self.config.hook.pytest_runtest_logreport(report=report)

    def pytest_unconfigure(self) -> None:
        for other in self.others:
            other.terminate()
            other.wait()
        self.place.cleanup()


class Other(_Any):
    def __init__(self, config: pytest.Config, folder: Path, number: int, processes: int) -> None:
        super().__init__(config, folder)
        self.number, self.processes = number, processes
        self.first = os.getppid()

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        if self.number == 1:
            items.reverse()
        else:
            start = len(items) * (self.number - 1) // (self.processes - 1)
            items[:] = items[start:] + items[:start][::-1]

    def pytest_runtest_setup(self) -> None:
        if os.getppid() != self.first:
            pytest.exit("the first process is gone")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        data = self.config.hook.pytest_report_to_serializable(config=self.config, report=report)
        with open(self.folder / f"{REPORTS}{self.number}", "a") as file:
            file.write(json.dumps(data) + "\n")

    def pytest_sessionfinish(self) -> None:
        if self.folder.exists():
            (self.folder / f"{DONE}{self.number}").touch()

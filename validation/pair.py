"""A pytest plugin: a second process runs the same tests from the other end, until the two meet.

    python -m pytest -p validation.pair ...

Whoever comes to a test first claims it, by a file that nobody else could make; so neither waits for
the other, and each stays within a file and its fixtures.  The second process writes its reports
down; the first one takes them into its own summary, so that there is one, with one exit status.
On a host with one processor the first runs all.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Generator
from pathlib import Path

import pytest

FOLDER = "UNCORE_TESTS_CLAIMED"  # environment of the second process: where claims are
REPORTS, SAID, DONE = "reports", "said", "done"


def pytest_configure(config: pytest.Config) -> None:
    if folder := os.environ.get(FOLDER):
        config.pluginmanager.register(Second(config, Path(folder)))
    elif len(os.sched_getaffinity(0)) > 1:
        config.pluginmanager.register(First(config))


class _Either:
    """Runs what it is the first to come to."""

    def __init__(self, config: pytest.Config, folder: Path) -> None:
        self.config, self.folder = config, folder

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> bool | None:
        name = hashlib.sha256(item.nodeid.encode()).hexdigest()
        try:
            (self.folder / name).touch(exist_ok=False)
        except FileExistsError:
            return True  # the other one has it
        return None


class First(_Either):
    def __init__(self, config: pytest.Config) -> None:
        self.place = tempfile.TemporaryDirectory()
        super().__init__(config, Path(self.place.name))
        with open(self.folder / SAID, "w") as said:
            self.second = subprocess.Popen(
                [sys.executable, "-m", "pytest", *map(str, config.invocation_params.args)],
                cwd=config.invocation_params.dir,
                env={**os.environ, FOLDER: str(self.folder)},
                stdout=said,
                stderr=said,
            )

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self) -> Generator[None, object, object]:
        ran = yield
        self.second.wait()
        reports = self.folder / REPORTS
        for line in reports.read_text().splitlines() if reports.exists() else []:
            report = self.config.hook.pytest_report_from_serializable(
                config=self.config, data=json.loads(line)
            )
            self.config.hook.pytest_runtest_logreport(report=report)
        if not (self.folder / DONE).exists():
            said = (self.folder / SAID).read_text()
            pytest.exit(f"the second process ended with {self.second.returncode}:\n{said}", 1)
        return ran

    def pytest_unconfigure(self) -> None:
        self.second.terminate()
        self.second.wait()
        self.place.cleanup()


class Second(_Either):
    def __init__(self, config: pytest.Config, folder: Path) -> None:
        super().__init__(config, folder)
        self.first = os.getppid()

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items.reverse()

    def pytest_runtest_setup(self) -> None:
        if os.getppid() != self.first:
            pytest.exit("the first process is gone")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        data = self.config.hook.pytest_report_to_serializable(config=self.config, report=report)
        with open(self.folder / REPORTS, "a") as file:
            file.write(json.dumps(data) + "\n")

    def pytest_sessionfinish(self) -> None:
        if self.folder.exists():
            (self.folder / DONE).touch()

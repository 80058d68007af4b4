"""Surroundings of every test: no width of a terminal, signals as a terminal has them, a time limit.

A shell that starts a job in the background has it ignore SIGINT and SIGQUIT, `nohup` SIGHUP, and
what is ignored stays so in every process below.  A test that waits for one of them would wait for
ever, so all are taken here, before any test starts a process.
"""

import os
import signal

import pytest

LONG = pytest.mark.timeout(3600)  # time limit in seconds; pyproject.toml has the usual one
BUILDS = "site"  # the suite in which the first test compiles the engine for pages

os.environ.pop("COLUMNS", None)


def pytest_configure() -> None:
    """Ends `nohup` for the processes of tests alone: a handler of pytest's is none of theirs."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)
    if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:
        signal.signal(signal.SIGHUP, lambda *_: None)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.get_closest_marker("long") or item.path.parent.name == BUILDS:
            item.add_marker(LONG)

"""Sets the environment of every test: no terminal width, default signal handlers, a time limit.

A shell makes a job in the background ignore SIGINT and SIGQUIT, and `nohup` makes it ignore SIGHUP.
Processes inherit ignored signals, so a test that waits for such a signal would wait for ever.
Therefore the handlers are reset here, before any test starts a process.
"""

import os
import signal

import pytest

LONG_TIMEOUT = pytest.mark.timeout(3600)  # in seconds; pyproject.toml has the usual limit
SUITE_THAT_BUILDS = "site"  # its first test compiles the engine for web pages

os.environ.pop("COLUMNS", None)


def pytest_configure() -> None:
    """Resets signals that the shell ignores. SIGHUP gets a handler here, which child processes do
    not inherit: they get the default action.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)
    if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:
        signal.signal(signal.SIGHUP, lambda *_: None)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.get_closest_marker("long") or item.path.parent.name == SUITE_THAT_BUILDS:
            item.add_marker(LONG_TIMEOUT)

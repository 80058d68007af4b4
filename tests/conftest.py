"""The environment of every test: no terminal width, default signal handlers, and a time limit.

A shell that starts a job in the background makes it ignore SIGINT and SIGQUIT, and `nohup` SIGHUP.
Processes inherit ignored signals, so a test that waits for one of them would wait for ever.  So the
handlers are reset here, before any test starts a process.
"""

import os
import signal

import pytest

LONG = pytest.mark.timeout(3600)  # time limit in seconds; pyproject.toml has that of other tests
BUILDS = "site"  # the suite whose first test compiles the engine for web pages

os.environ.pop("COLUMNS", None)


def pytest_configure() -> None:
    """Resets signals that the shell ignores. SIGHUP gets a handler, which only this process has:
    processes that tests start get the default action.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)
    if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:
        signal.signal(signal.SIGHUP, lambda *_: None)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.get_closest_marker("long") or item.path.parent.name == BUILDS:
            item.add_marker(LONG)

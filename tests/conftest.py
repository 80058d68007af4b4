"""Sets the environment of every test: no terminal width, default signal handlers, a time limit.

A test marked `sampled(every=N)` has many cases of one kind: about one in N of them, drawn by the
name of the case, runs by default, the others are `long`. An added case moves no other case.

A shell makes a job in the background ignore SIGINT and SIGQUIT, and `nohup` makes it ignore SIGHUP.
Processes inherit ignored signals, so a test that waits for such a signal would wait for ever.
Therefore the handlers are reset here, before any test starts a process.
"""

import os
import signal
import zlib

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


def is_left_out(case: str, every: int) -> bool:
    """Returns True unless the draw by the name of the case, one in `every`, chooses the case."""
    return zlib.crc32(case.encode()) % every > 0


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        sampled = item.get_closest_marker("sampled")
        if sampled and is_left_out(item.name, sampled.kwargs["every"]):
            item.add_marker("long")
        if item.get_closest_marker("long") or item.path.parent.name == SUITE_THAT_BUILDS:
            item.add_marker(LONG_TIMEOUT)

"""Runs the jobs of this suite only on the native engine, for sanitizers, which cannot check an
engine written in Python.

Only tests/tools/sanitized.py runs this file; the usual run compares the engines on each job. The
reference engine executes instructions through a Python binding of the native hart library, so it
runs here on the jobs with accesses of every kind.
"""

from __future__ import annotations

import pytest
from tests.differential.jobs import JOBS, MORE_JOBS, make
from tests.differential.test_engines_agree import agree

from uncore.engine import native

JOBS_FOR_BOTH_ENGINES = [
    name for name in MORE_JOBS if name.startswith(("operations-", "unaligned-", "weak-lockstep-"))
]


@pytest.mark.parametrize("name", JOBS | MORE_JOBS)
def test_every_job_ends_with_a_log(name: str) -> None:
    point = native.run(make((JOBS | MORE_JOBS)[name]), frozenset({"log"}))
    assert point["observed"]["log"]


@pytest.mark.parametrize("name", JOBS_FOR_BOTH_ENGINES)
def test_both_engines_give_equal_logs(name: str) -> None:
    agree(MORE_JOBS[name])

"""Runs the jobs of this suite on the native engine alone, for sanitizers, because the other engine
is written in Python.

Only tests/tools/sanitized.py runs this file; the usual run compares the engines on each job.  The
reference engine executes instructions by the native hart library, through a port in Python.  So it
runs here too, on the jobs with accesses of every kind.
"""

from __future__ import annotations

import pytest
from tests.differential.jobs import JOBS, MORE, make
from tests.differential.test_engines_agree import agree

from uncore.engine import native

PORT = [name for name in MORE if name.startswith(("operations-", "unaligned-", "weak-lockstep-"))]


@pytest.mark.parametrize("name", JOBS | MORE)
def test_every_job_ends_with_a_log(name: str) -> None:
    point = native.run(make((JOBS | MORE)[name]), frozenset({"log"}))
    assert point["observed"]["log"]


@pytest.mark.parametrize("name", PORT)
def test_both_engines_give_equal_logs(name: str) -> None:
    agree(MORE[name])

"""Do the native engine and the reference engine agree, transaction by transaction?

Each job runs on both. The logs (section L of docs/model.md) must be equal in every column of every
record, and so must every field of the outcome that both engines have: times, instructions,
latencies, transfers, and busy times of links and resolvers. `--all` runs longer jobs.
"""

from __future__ import annotations

import pytest
from tests.differential.jobs import JOBS, LONG_JOBS, MORE_JOBS, Case, make

from uncore.study.compare import agreement

ENGINES = ("native", "reference")


@pytest.mark.parametrize("name", JOBS | MORE_JOBS)
def test_both_engines_give_equal_logs(name: str) -> None:
    agree((JOBS | MORE_JOBS)[name])


@pytest.mark.long
@pytest.mark.parametrize("name", LONG_JOBS)
def test_both_engines_give_equal_logs_of_long_jobs(name: str) -> None:
    agree(LONG_JOBS[name])


def agree(case: Case) -> None:
    comparison = agreement.compare(make(case), ENGINES)
    assert comparison.records > 0
    assert comparison.difference is None, comparison.difference.rule
    assert comparison.outcome == {}

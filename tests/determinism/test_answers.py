"""Does an answer to a typical question take at most as many events as recorded in
benchmarks/answers.toml?
"""

from __future__ import annotations

from typing import Any

import pytest
from benchmarks import answers

QUICK_QUESTIONS = ("refcount on 4 machines", "README's locks", "program of 64 threads")
QUESTIONS = [
    pytest.param(name, marks=() if name in QUICK_QUESTIONS else pytest.mark.long)
    for name in answers.QUESTIONS
]


@pytest.mark.bulk
@pytest.mark.parametrize("question", QUESTIONS)
def test_answering_a_question_takes_no_more_events_than_recorded(question: str) -> None:
    assert question in answers.kept_counts()
    assert not list(answers.worse_counts(answers.row(question, executed=False)))


@pytest.mark.parametrize("count", ["usual", "within"])
def test_count_above_the_recorded_baseline_is_reported(
    count: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts: dict[str, Any] = {"question": "q", "usual": 100, "within": 50}
    monkeypatch.setattr(answers, "kept_counts", lambda: {"q": {"usual": 100, "within": 50}})
    assert not list(answers.worse_counts(counts))
    (message,) = answers.worse_counts(counts | {count: counts[count] * 1.03})
    assert message.startswith("q: ") and count in message

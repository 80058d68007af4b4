"""Do messages, clocks and limits give the answers of Linux 6.18, which are in mail.txt?"""

from __future__ import annotations

import pytest
from tests.linux.drawn_calls import CAN_RECORD
from tests.linux.mail import ANSWERS, WORDS, answers_here
from tests.linux.programs import run_guest


@pytest.mark.parametrize("word", WORDS)
def test_messages_clocks_and_limits_answer_as_linux_does(word: str) -> None:
    point = run_guest(word, guest="mail", harts=1)
    assert (point.output or "").lstrip("\n") == ANSWERS[word]
    assert point.failures == []


def test_a_limit_of_priorities_forbids_higher_priorities() -> None:
    """The answers are those that sched(7) and sched_setscheduler(2) promise a user."""
    point = run_guest("limited", guest="mail", harts=1)
    assert (point.output or "").split() == "priorities: 0 -1 0 0 0 -1 0 -1".split()


@pytest.mark.skipif(not CAN_RECORD, reason="answers are those of root on Linux 6.18 of x86-64")
@pytest.mark.parametrize("word", WORDS)
def test_recorded_answers_about_messages_are_those_of_this_computers_linux(word: str) -> None:
    assert answers_here(word) == ANSWERS[word]

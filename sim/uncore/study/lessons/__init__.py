"""Lessons: a question, a prediction, a run, the moment that matters, an exercise that is checked.

    names(); read("ticket") -> Lesson       docs/lessons/ticket.md
    check(lesson, program, parameters)      the exercise: each bound, and what was got
    write(path, lesson)                     the page: runs what the lesson runs; needs nothing else
    write_teachers(path, lesson)            what to ask, what is answered, what the runs give

A lesson is Markdown with fenced blocks that are done when its page is made (text.py): `run`, a
command whose output is shown; `predict`, a question whose answer a run gives; `watch`, a run at a
moment; `exercise`, what a reader's program must do; `teach`, what its teacher asks.  So no number
stands in a lesson that the engine has not just given.
"""

from uncore.study.lessons.exercise import check
from uncore.study.lessons.page import write, write_teachers
from uncore.study.lessons.text import Lesson, names, read

__all__ = ["Lesson", "check", "names", "read", "write", "write_teachers"]

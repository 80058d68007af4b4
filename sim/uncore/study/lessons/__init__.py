"""Lessons: each has questions, predictions, runs, a stepper, and an exercise that is checked.

    names(); read("ticket") -> Lesson       reads docs/lessons/ticket.md
    check(lesson, program, parameters)      checks the exercise: returns each bound with its value
    write(path, name, home)                 writes the page: one file, with results of the runs
    write_teachers(path, name)              writes the teacher's page: questions and answers

A lesson is Markdown with fenced blocks (text.py), which are executed when its page is written:
`run` is a command whose output is shown; `predict` is a question that a run answers; `watch` is a
run in the stepper; `exercise` has the task and the bounds for the reader's program; `teach` is text
for the teacher. So all numbers on a page come from runs of the present engine.
"""

from uncore.study.lessons.exercise import check
from uncore.study.lessons.page import write, write_teachers
from uncore.study.lessons.text import Lesson, names, read

__all__ = ["Lesson", "check", "names", "read", "write", "write_teachers"]

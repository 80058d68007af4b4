"""Are options derived from the fields of Job, and columns of tables from the fields of Point?"""

from __future__ import annotations

import json
import re
from dataclasses import fields

import pytest

from uncore import engine
from uncore.cli.commands import COMMANDS
from uncore.execution.repeat_command import command_words
from uncore.execution.request import make_job
from uncore.job import Job
from uncore.job.schema import options
from uncore.result import Point, columns
from uncore.result.schema import optional, point_of
from uncore.support import plugins
from uncore.support.paths import CHECKOUT

assert CHECKOUT
PAGE = (CHECKOUT / "docs/cli.md").read_text()
UNUSUAL_VALUES = {
    "engine": "reference",
    "placement": "0-2,5",
    "home": "node0",
    "slices": "0",
    "smt": False,
    "watchdog": 15 * 10**8,
    "overrides": {"core.order": "weak"},
    "parameters": {"hold": "7ns"},
    "seeds": (4, 5),
    "within": 30_000,
}
LINUX_ONLY = {"arguments", "system", "files", "strict_calls", "stdin", "expect_exit"}
# Fields of a point that every engine sets.
MEASURED = {"threads": 1, "ops": 1, "elapsed_ps": 1, "thread_ops": [1]}
LINUX_ONLY |= {"from_function", "to_function", "op"}


def unusual() -> Job:
    return make_job("ccx:2x4", "lock/ticket", (1, 2), **UNUSUAL_VALUES)


def test_unusual_job_differs_from_the_default_in_every_option() -> None:
    job = unusual()
    unchanged = [
        name for name, option in options(Job).items() if getattr(job, name) == option.default
    ]
    assert {*unchanged} == LINUX_ONLY


def test_repeat_command_of_a_job_requests_that_job(uncore, monkeypatch: pytest.MonkeyPatch) -> None:
    from uncore.cli.commands import run

    requested: list[Job] = []
    monkeypatch.setattr(run, "finish", lambda jobs, *_, **how: requested.extend(jobs) or 0)
    ran = uncore(*command_words("ccx:2x4", "lock/ticket", unusual())[1:])
    assert (ran.status, ran.err) == (0, "")
    assert requested == [unusual()]


@pytest.mark.parametrize("name", [n for n in options(Job) if n not in LINUX_ONLY])
def test_repeat_command_omits_options_with_their_default_value(name: str) -> None:
    usual = make_job("ccx:2x4", "lock/ticket", (1, 2), seeds=(1, 2, 3))
    command = command_words("ccx:2x4", "lock/ticket", usual)
    assert options(Job)[name].flag not in command


def test_help_of_run_groups_every_option(uncore) -> None:
    output = uncore("run", "--help").out
    groups = re.findall(r"╭─ (.*?) ─", output)
    assert groups[1:] == [
        "Common",
        "Machine and placement",
        "Chance and repeats",
        "Pictures",
        "What if",
        "Output",
        "Saved runs",
        "This computer",
        "Program of Linux, with main()",
        "Limits",
        "Outside engines",
    ]
    for option in options(Job).values():
        assert f"{option.flag} " in output


def test_every_field_of_a_job_without_an_option_is_listed() -> None:
    without_option = {"machine", "program", "threads", "free", "apart", "since", "lengths"}
    assert {field.name for field in fields(Job)} == without_option | {*options(Job)}


@pytest.mark.parametrize("name", engine.names())
def test_every_field_that_an_engine_leaves_out_has_a_reason(name: str) -> None:
    absent = point_of(name, MEASURED | {"absent": engine.load(name).ABSENT_FIELDS}).absent
    assert {*absent} == {*optional()} and all(absent.values())
    assert {*engine.load(name).ABSENT_FIELDS} <= {*optional()}


def test_table_of_run_explains_each_column() -> None:
    from uncore.report.curve import COLUMNS

    heads = [column.head for column in columns.columns(Point) if column.head]
    assert [column.head for column in COLUMNS if column.head != "4 of 5 machines"] == heads
    assert all(column.about for column in COLUMNS)


def test_page_of_the_command_line_names_every_command() -> None:
    (listed,) = re.findall(r"^    uncore (list \|.*?)\n\n", PAGE, re.MULTILINE | re.DOTALL)
    assert {*listed.replace("|", " ").split()} == {*COMMANDS, *plugins.commands()}


def test_page_of_the_command_line_names_every_key_and_figure_of_a_point() -> None:
    (row,) = re.findall(r"^`run`, `sweep`: one row .*?\n\n", PAGE, re.MULTILINE | re.DOTALL)
    named = re.findall(r"[\w.]+", row)
    keys = [column.key for column in columns.columns(Point)]
    unnamed = [k for k in keys if not any(f"{word}.".startswith(f"{k}.") for word in named)]
    assert unnamed == []
    (figures,) = re.findall(r"draws several figures, of `(.*?)`", PAGE)
    assert figures.split() == [column.figure for column in columns.columns(Point) if column.figure]


def test_last_value_of_a_repeated_option_is_used(uncore) -> None:
    """A shell's alias relies on this. Options that take a list of values are still accumulated."""
    flags = ("--json", "--repeat", "1", "--threads=2", "--threads", "1", "--json")
    ran = uncore("run", *flags, "ccx:1x4", "lock/tas", "--set", "ops=3", "--set", "hold=2ns")
    (row,) = json.loads(ran.out)
    assert (ran.status, row["threads"], row["ops"]) == (0, 1, 3)

"""Do all options refuse to overwrite a file that uncore has not written, without --force?"""

from __future__ import annotations

import os
from pathlib import Path

import polars
import pytest

from uncore.support.output_kinds import RESULT

RUN = "run bus:2 lock/tas --threads 1,2 --set ops=2 --seed none"
ONE_RUN = "run bus:2 lock/tas --threads 2 --set ops=2 --seed none"
MATRIX = "matrix bus:2 --seed none"
USERS_TEXT = b"written by hand\n"

# Every option that writes a file, with every file ending that it accepts. `{}` stands for the path.
WRITING_COMMANDS = {
    f"{RUN} --output {{}}": "r.json",
    f"{RUN} --output={{}}": "r.parquet",
    f"{RUN} --csv {{}}": "r.csv",
    f"{ONE_RUN} --log {{}}": "l.parquet",
    f"{ONE_RUN} --state {{}}": "state",
    f"{RUN} --plot {{}}": "p.png",
    f"{RUN} --plot={{}}": "p.svg",
    f"{RUN} --y p50 --plot {{}}": "p.pdf",
    f"{RUN} --y p50 --plot={{}}": "p.html",
    f"{RUN} --report {{}}": "page.html",
    "sweep bus:2 lock/tas --set ops=2 --output {}": "r.json",
    "run --host counter/atomic --output {}": "r.json",
    "run --from state --output {}": "r.json",
    "trace bus:2 lock/tas --set ops=2 --output {}": "t.parquet",
    "trace bus:2 lock/tas --set ops=2 --output={}": "t.pftrace",
    "watch bus:2 lock/tas --set ops=2 --output {}": "w.html",
    "show ring:4 --plot {}": "m.svg",
    "show ring:4 --hwloc {}": "m.xml",
    "show mesi --plot {}": "mesi.svg",
    f"{MATRIX} --csv {{}}": "m.csv",
    f"{MATRIX} --plot {{}}": "m.png",
    "lesson page ticket --output {}": "ticket.html",
    "lesson teach ticket --output {}": "ticket-teacher.html",
    "explore plan.toml --output {}": "front.json",
    "explore plan.toml --plot {}": "front.png",
    "explore plan.toml --report {}": "front.html",
    "whatif bus:2 lock/tas --threads 2 --csv {}": "gains.csv",
    "whatif bus:2 lock/tas --threads 2 --plot {}": "gains.png",
    "whatif bus:2 lock/tas --threads 2 --report {}": "gains.html",
    "compare bus:2 lock/tas lock/mcs --csv {}": "c.csv",
    "compare bus:2 lock/tas lock/mcs --plot {}": "c.png",
    "compare bus:2 lock/tas lock/mcs --report {}": "c.html",
    "scaling r.json --plot {}": "s.png",
    "crosscheck --all --plot {}": "x.png",
    "demo --plot {}": "demo.png",
    "boot bus:2 --kernel Image --state {}": "state",
    "new lock {}": "mine.c",
    "new machine {}": "mine.toml",
    "predict r7900x --output {}": "p.toml",
    "calibrate i54590 --matrix m.csv -o {}": "p.toml",
    "measure -o {}": "here.json",
    "measure --csv {}": "here.csv",
    "measure --topology {}": "here.toml",
    "validate r7900x --report {}": "v.html",
    "willitscale epyc7601x2 console --plot {}": "w.png",
}
# Commands that take at most a second, and whose files uncore recognises as its own.
QUICK_COMMANDS = [
    words
    for words in WRITING_COMMANDS
    if "--csv" not in words
    and words.startswith(
        (RUN, ONE_RUN, "trace", "watch", "show", f"{MATRIX} --plot", "lesson teach")
    )
]
EDITABLE_COMMANDS = [
    f"{MATRIX} --csv {{}}",
    f"{RUN} --csv {{}}",
    "new lock {}",
    "new machine {}",
    "predict r7900x --output {}",
]


@pytest.mark.parametrize("arguments", WRITING_COMMANDS)
def test_existing_file_of_the_user_is_refused_before_anything_runs(uncore, arguments):
    file = Path(WRITING_COMMANDS[arguments])
    file.write_bytes(USERS_TEXT)
    run = uncore(*arguments.format(file).split())
    assert run.status == 2 and run.out == ""
    assert f"{file}: is there already" in run.err and "--force" in run.err
    assert file.read_bytes() == USERS_TEXT


@pytest.mark.parametrize("arguments", QUICK_COMMANDS)
def test_file_that_uncore_has_written_is_overwritten(uncore, arguments):
    file = Path(WRITING_COMMANDS[arguments])
    command = arguments.format(file).split()
    assert uncore(*command).status == 0
    written = file.stat().st_ino
    assert uncore(*command).status == 0 and file.stat().st_ino != written


@pytest.mark.parametrize("arguments", EDITABLE_COMMANDS)
def test_file_that_a_person_may_have_edited_is_overwritten_only_with_force(uncore, arguments):
    command = arguments.format(WRITING_COMMANDS[arguments]).split()
    assert [uncore(*command, *more).status for more in ([], [], ["--force"])] == [0, 2, 0]


@pytest.mark.parametrize("arguments", QUICK_COMMANDS[:6])
def test_force_overwrites_an_existing_file_of_the_user(uncore, arguments):
    file = Path(WRITING_COMMANDS[arguments])
    file.write_bytes(USERS_TEXT)
    assert uncore("--force", *arguments.format(file).split()).status == 0
    assert file.read_bytes() != USERS_TEXT


def test_force_after_two_dashes_is_passed_to_the_program(uncore):
    Path("r.json").write_bytes(USERS_TEXT)
    run = uncore(*RUN.split(), "--output", "r.json", "--", "--force")
    assert run.status == 2 and "r.json: is there already" in run.err


def test_output_onto_a_file_of_another_kind_with_the_same_ending_is_refused(uncore):
    """Examples are a result in place of a log, and a log or a trace in place of a result or log."""
    assert uncore(*ONE_RUN.split(), "--output", "r.parquet", "--log", "l.parquet").status == 0
    assert uncore(*"trace bus:2 lock/tas --set ops=2 --output t.parquet".split()).status == 0
    for option, file in (("--log", "r.parquet"), ("--output", "l.parquet"), ("--log", "t.parquet")):
        before = Path(file).read_bytes()
        run = uncore(*ONE_RUN.split(), option, file)
        assert run.status == 2 and f"{option} {file}: is there already, and is not a" in run.err
        assert Path(file).read_bytes() == before


def test_users_file_that_contains_a_result_is_not_recognised_as_written_by_uncore(uncore):
    uncore(*ONE_RUN.split(), "--output", "r.json")
    result = Path("r.json").read_text()
    Path("mine.json").write_text(f'{{"runs": [{result}]}}')
    polars.DataFrame({"schema": ["uncore.result/1"] * 3}).write_parquet("mine.parquet")
    assert not RESULT.has_written(Path("mine.json"))
    assert not RESULT.has_written(Path("mine.parquet"))


def test_result_files_of_several_runs_or_of_one_line_may_be_overwritten(uncore):
    uncore(*ONE_RUN.split(), "lock/mcs", "--output", "two.json")
    Path("line.json").write_text("".join(Path("two.json").read_text().split("\n")))
    assert RESULT.has_written(Path("two.json")) and RESULT.has_written(Path("line.json"))


def test_empty_file_may_be_overwritten(uncore):
    Path("r.json").touch()
    assert uncore(*ONE_RUN.split(), "--output", "r.json").status == 0


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo])
def test_folder_or_device_is_refused_even_with_force(uncore, make):
    make(Path("r.json"))
    run = uncore(*ONE_RUN.split(), "--output", "r.json", "--force")
    assert run.status == 2 and "r.json: is a directory or a device" in run.err


def test_two_options_that_name_one_file_are_refused(uncore):
    run = uncore(*RUN.split(), "--plot", "a.html", "--report", "./a.html")
    assert run.status == 2 and "--plot writes that file, too" in run.err
    assert not Path("a.html").exists()

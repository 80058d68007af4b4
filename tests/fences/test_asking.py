"""Does `uncore fences` find the memory orders that a program needs, and print commands that repeat
the failures?
"""

from __future__ import annotations

import json
import shlex
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

from uncore.cli import app as cli
from uncore.study.fences.report import advice

FLAGS = str(Path(__file__).parent / "programs/flags.c")
QUICK_SEARCH = ("bus:4", "ring:4", "--threads", "2", "--seeds", "10", "--cores", "2")


Outcome = tuple[int, str, str]


@pytest.fixture(scope="module")
def few(tmp_path_factory) -> Outcome:
    """Runs `uncore fences` on the program."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("uncore.support.paths.CACHE", tmp_path_factory.mktemp("cache"))
        yield called("fences", FLAGS, *QUICK_SEARCH, "--json")


@pytest.fixture
def answers(few):
    status, out, err = few
    assert status == 0, err
    return {(row["place"], row["weakened"]): row for row in json.loads(out)}


@pytest.fixture
def uncore(monkeypatch, tmp_path):
    monkeypatch.setattr("uncore.support.paths.CACHE", tmp_path)
    return called


def called(*arguments: str) -> Outcome:
    out, err = StringIO(), StringIO()
    with pytest.raises(SystemExit) as exit_, redirect_stdout(out), redirect_stderr(err):
        cli.main(arguments)
    return int(exit_.value.code or 0), out.getvalue(), err.getvalue()


def test_fence_that_even_tso_needs_has_the_verdict_needed_and_a_command_that_repeats_its_failure(
    answers,
):
    assert answers["as written", ""]["verdict"] == "passes"
    assert answers["all at once", "relaxed"]["verdict"] == "needed"
    fence = answers["flags.c:28", "signal fence"]
    assert fence["verdict"] == "needed" and fence["says"] == "thread fence seq_cst"
    assert answers["flags.c:28", "acquire"]["verdict"] == "needed"
    assert answers["flags.c:28", "acq_rel"]["verdict"] == "needed"  # fence.tso
    uncore_, *arguments = shlex.split(fence["failure"]["repeat"])
    status, out, _ = called(*arguments)
    assert (uncore_, status) == ("uncore", 1)
    assert fence["failure"]["why"] in out


def test_order_in_a_macro_is_listed_once_and_uncompiled_code_is_ignored(answers):
    assert [to for position, to in answers if position == "handed.h:4"] == ["relaxed"]
    unused = answers["handed.h:6", "relaxed"]
    assert (unused["verdict"], unused["runs"]) == ("same code", 0)


def test_order_is_needed_even_if_weakening_it_makes_only_weak_machines_fail(answers):
    release, acquire = answers["flags.c:36", "relaxed"], answers["handed.h:4", "relaxed"]
    assert release["verdict"] == acquire["verdict"] == "needed"
    assert "the value is old" in release["failure"]["why"]


def test_run_hints_once_at_fences_if_a_program_has_relaxed_orders(uncore):
    run = ("run", "bus:4", FLAGS, "--threads", "2", "--repeat", "1", "--set", "ops=5")
    asks = f"uncore fences {FLAGS}"
    assert asks in uncore(*run)[2]
    assert asks not in "".join(uncore(*run, "--json")[1:])
    assert asks not in uncore(*run, "--order", "weak")[2]
    assert asks not in uncore("run", "bus:4", "lock/ticket", "--repeat", "1")[2]
    uncore("fences", FLAGS, *QUICK_SEARCH, "--at-once")
    assert asks not in uncore(*run)[2]


def test_output_of_fences_is_reproducible_and_the_source_is_not_changed(uncore):
    before = Path(FLAGS).read_text()
    first, second = (uncore("fences", FLAGS, *QUICK_SEARCH, "--at-once")[1] for _ in range(2))
    assert (
        first == second
        and "all at once" in first
        and "flags.c:28" not in first.partition("\n\n")[0]
    )
    assert Path(FLAGS).read_text() == before


def test_program_that_fails_as_written_is_reported(uncore, tmp_path):
    wrong = tmp_path / "wrong.c"
    text = Path(FLAGS).read_text().replace("atomic_thread_fence", "atomic_signal_fence")
    wrong.write_text(text)
    (tmp_path / "handed.h").write_text(Path(FLAGS).with_name("handed.h").read_text())
    status, out, err = uncore("fences", str(wrong), *QUICK_SEARCH, "--at-once")
    assert status == 1 and "fails as it is written" in err and "as written" in out


def test_mistake_in_the_c_file_is_reported_with_the_compilers_message(uncore, tmp_path):
    broken = tmp_path / "broken.c"
    broken.write_text('#include "uncore.h"\nint f(')
    status, _, err = uncore("fences", str(broken))
    assert status == 2 and "broken.c:2" in err


def test_output_of_fences_ends_with_a_command_that_repeats_a_failure(few):
    rows = json.loads(few[1])
    needed = [row for row in rows if row["verdict"] == "needed"]
    failure = next(row["failure"]["repeat"] for row in needed if row["says"])
    assert advice("flags.c", needed).splitlines()[-1].strip() == failure
    unseen = {**needed[-1], "place": "flags.c:99", "verdict": "not seen needed", "runs": 10}
    said = advice("flags.c", [*needed, unseen]).splitlines()
    assert "flags.c:99" in said[0] and needed[-1]["place"] not in said[0]
    assert said[-1] == "  uncore fences flags.c --seeds 100"
    assert advice("flags.c", [{**rows[0], "verdict": "fails"}]) == ""


def test_path_in_the_users_home_folder_is_printed_with_a_tilde(monkeypatch):
    monkeypatch.setenv("HOME", "/home/me")
    failure = {"repeat": "uncore run bus:2 /home/me/.cache/x.elf --threads 2"}
    row = {"place": "x.c:1", "says": "release", "verdict": "needed", "failure": failure}
    assert advice("x.c", [row]).splitlines()[-1] == "  uncore run bus:2 ~/.cache/x.elf --threads 2"

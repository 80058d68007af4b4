"""Does the command for foreign test suites report correct verdicts?  The tests use small suites."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.foreign import __main__ as command
from tests.foreign import bare, known, linux, litmus_files, litmus_suite, threads_of_litmus
from tests.isa import guest
from tests.linux.programs import BARE

from uncore.program import compile_for_linux

TOHOST_PROGRAM = """
    la t0, tohost
    li t1, {code}
    sd t1, (t0)
1:  j 1b
.balign 64
tohost: .dword 0
begin_signature: .word 0x12345678, 5
end_signature:
"""
ENDS = 'void _start(void) {{ __asm__ volatile("li a0, {status}\\n li a7, 94\\n ecall"); }}\n'
BUFFERED = """RISCV SB
"an example"
{ 0:x5=1; 0:x6=x; 0:x8=y; 1:x5=1; 1:x6=y; 1:x8=x; }
 P0          | P1          ;
 sw x5,0(x6) | sw x5,0(x6) ;
 lw x7,0(x8) | lw x7,0(x8) ;
exists (0:x7=0 /\\ 1:x7=0)
"""
STATES = [(a, b) for a in "01" for b in "01"]


def bare_program(folder: Path, code: int) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    entry = ["-Wl,--entry=start"]
    return guest.assemble(TOHOST_PROGRAM.format(code=code), folder, more=entry).path


@pytest.mark.parametrize(("code", "end"), [(1, "passed"), (7, "test 3")])
def test_bare_program_passes_or_fails_by_the_value_written_to_tohost(
    tmp_path: Path, code: int, end: str
) -> None:
    assert bare.ended(bare_program(tmp_path, code)) == end


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("12345678\n00000005\n", "passed"),
        ("12345678\n00000006\n", "word 1 of the signature"),
        ("12345678\n00000005\n00000000\n", "a signature of 2 words, not 3"),
    ],
)
def test_a_signature_is_compared_word_by_word(tmp_path: Path, text: str, end: str) -> None:
    path = bare_program(tmp_path, 1)
    (tmp_path / "guest.reference_output").write_text(text)
    assert bare.ended(path) == end


def linux_program(path: Path, status: int) -> Path:
    source = path.with_suffix(".c")
    source.write_text(ENDS.format(status=status))
    path.write_bytes(compile_for_linux(source, (), BARE).data)
    return path


@pytest.mark.parametrize(("status", "end"), [(0, "passed"), (2, "status 2")])
def test_linux_program_passes_or_fails_by_its_exit_status(
    tmp_path: Path, status: int, end: str
) -> None:
    assert linux.ended(linux_program(tmp_path / "a.exe", status)) == end


def printed(states: list[tuple[str, str]]) -> str:
    lines = [f"0:x7={a}; 1:x7={b};" for a, b in states]
    return "\n".join(["Test SB Allowed", f"States {len(states)}", *lines, "Ok", ""])


@pytest.mark.parametrize("weaker", [True, False])
def test_final_state_that_herd_forbids_is_reported(tmp_path: Path, weaker: bool) -> None:
    """Runs may show all four states. The list of herd's states is edited, so a state that it lacks
    is forbidden.
    """
    (tmp_path / "SB.litmus").write_text(BUFFERED)
    states = tmp_path / "herd.logs"
    states.write_text(printed(STATES if weaker else STATES[1:]))
    ended = litmus_suite.ends(tmp_path, states, (), litmus_suite.Effort(20), {})
    assert ended == {"SB": "passed" if weaker else "forbidden: 0:x7=0 1:x7=0"}


@pytest.mark.parametrize(
    ("plain", "other", "why"),
    [("lw x7", "lw.aq x7", r"has lw\.aq"), ("0:x7=0", "0:x7", "a proposition has '/")],
)
def test_unsupported_litmus_syntax_is_refused_with_the_reason(
    plain: str, other: str, why: str
) -> None:
    with pytest.raises(litmus_files.Unread, match=why):
        litmus_files.read(BUFFERED.replace(plain, other))


def case_with_states(
    folder: Path, condition: str, states: list[tuple[str, str]]
) -> litmus_suite.Case:
    """Runs the litmus test SB (store buffering) with another condition."""
    (folder / "SB.litmus").write_text(BUFFERED.replace("exists (0:x7=0 /\\ 1:x7=0)", condition))
    (folder / "herd.logs").write_text(printed(states))
    ((case,), _) = litmus_suite.cases(folder, folder / "herd.logs")
    threads_of_litmus.everywhere([case], 20, 1)
    return case


def test_final_states_that_the_filter_excludes_are_ignored(tmp_path: Path) -> None:
    """Herd does not print states that the filter excludes. The filter also names a register that no
    printed state has.
    """
    kept = [(a, b) for a, b in STATES if a != b]
    case = case_with_states(
        tmp_path, "filter (0:x5=1 /\\ (0:x7=0 \\/ 1:x7=0) /\\ (0:x7=1 \\/ 1:x7=1))", kept
    )
    assert set(case.seen) == set(kept)


@pytest.mark.parametrize(
    ("asked", "shown"),
    [
        ("exists (0:x7=0 /\\ 1:x7=0)", True),
        ("~exists (0:x7=0 /\\ (1:x7=7 \\/ 1:x7=0x0))", True),
        ("exists (not (0:x7=0 \\/ 0:x7=1))", False),
        ("forall (0:x7=0)", False),
    ],
)
def test_condition_of_a_litmus_test_is_evaluated_on_the_final_states_seen(
    tmp_path: Path, asked: str, shown: bool
) -> None:
    case = case_with_states(tmp_path, asked, STATES)
    assert case.shows(case.seen) is shown


SUITE = """kind = "linux"
programs = ["*.exe"]
suffix = ".exe"
passed = 1
[reasons]
processes = "there is one process"
[fails]
two = ["status 2", "processes"]
"""


def suite(folder: Path, monkeypatch: pytest.MonkeyPatch, two: int = 2, text: str = SUITE) -> Path:
    monkeypatch.setattr(known, "SUITES_FOLDER", folder)
    (folder / "small.toml").write_text(text)
    linux_program(folder / "one.exe", 0)
    linux_program(folder / "two.exe", two)
    return folder


def test_foreign_tests_recorded_as_failing_do_not_fail_the_suite(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.main(["small", str(suite(tmp_path, monkeypatch))]) == 0
    assert "1 passed, 1 failed with a known reason, 0 failed" in capsys.readouterr().out


@pytest.mark.parametrize("two", [0, 3])
def test_foreign_test_whose_result_differs_from_the_recorded_one_is_a_failure(
    two: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.main(["small", str(suite(tmp_path, monkeypatch, two))]) == 1
    assert f"two: {'status 3' if two else 'passed'}; on record: status 2" in capsys.readouterr().out


def test_suite_fails_if_a_recorded_foreign_test_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = suite(tmp_path, monkeypatch)
    (folder / "one.exe").unlink()
    assert command.main(["small", str(folder)]) == 1
    assert "0 tests that should pass; on record: 1" in capsys.readouterr().out


def test_program_that_crashes_the_simulator_is_the_only_one_to_fail(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ends = {"one": lambda: os._exit(7), "two": lambda: "status 2"}
    monkeypatch.setitem(command.RUNS, "linux", lambda path: ends[path.stem]())
    assert command.main(["small", str(suite(tmp_path, monkeypatch))]) == 1
    assert "one: died 7; on record: passed" in capsys.readouterr().out


@pytest.mark.parametrize("name", known.names())
def test_recorded_reasons_are_exactly_those_of_failing_tests(name: str) -> None:
    recorded = known.load(name)
    assert {reason for _, reason in recorded.fails.values()} == set(recorded.reasons)

"""Does a Linux program read the input of `--stdin`, and may it end with an expected status?"""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import pytest
from tests.linux.programs import job, run_guest

from uncore.errors import UserError
from uncore.job import Job

TEXT = b"12 34\n" * 100


def test_program_reads_its_standard_input(tmp_path: Path) -> None:
    path = tmp_path / "numbers"
    path.write_bytes(TEXT)
    assert run_guest(guest="input", stdin=path).output == TEXT.decode()
    assert run_guest(guest="input", stdin=TEXT).output == TEXT.decode()


def test_standard_input_is_empty_if_none_is_given() -> None:
    assert run_guest(guest="input").output == "no file\n"


def test_input_file_named_dash_is_the_standard_input_of_the_command(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TEXT)))
    assert job(guest="input", stdin="-").stdin == TEXT


@pytest.mark.parametrize("words", [("--stdin", "-"), ("--stdin=-",)])
def test_command_passes_its_standard_input_to_the_program(
    words: tuple[str, ...], tmp_path: Path
) -> None:
    source = tmp_path / "copy.c"
    source.write_text(
        "#include <stdio.h>\nint main(void) { return puts((char[9]){getchar()}) < 0; }"
    )
    command = [sys.executable, "-m", "uncore", "run", "ccx:1x1", str(source), "--repeat", "1"]
    run = subprocess.run([*command, *words, "--seed", "1"], input=b"7", capture_output=True)
    assert (run.returncode, run.stdout.splitlines()[0]) == (0, b"7"), run.stderr


def test_message_names_an_input_file_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"--stdin .*none: No such file or directory"):
        job(guest="input", stdin=tmp_path / "none")


@pytest.mark.parametrize(
    ("ends", "expected", "failures"),
    [(0, 0, []), (7, 7, []), (7, 0, ["exit status 7"]), (0, 7, ["exit status 0, expected 7"])],
)
def test_exit_status_that_the_job_expects_is_no_failure(
    ends: int, expected: int, failures: list[str]
) -> None:
    assert run_guest(str(ends), guest="input", expect_exit=expected).failures == failures


def test_impossible_exit_status_is_refused() -> None:
    with pytest.raises(UserError, match=r"--expect-exit 256: expected an exit status, 0 to 255"):
        job(guest="input", expect_exit=256)


def test_job_document_contains_the_hash_of_the_input_and_omits_defaults() -> None:
    without, with_input = job(guest="input").document(), job(guest="input", stdin=TEXT).document()
    assert without.keys() & {"stdin", "expect_exit"} == set()
    assert len(with_input["stdin"]) == 64
    with pytest.raises(UserError, match=r"job\.stdin: a result does not hold it"):
        Job.of(with_input, job(guest="input").program)

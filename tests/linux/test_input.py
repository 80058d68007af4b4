"""A program of Linux reads what `--stdin` gives, and may end with another status than 0."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest
from tests.linux.programs import job, ran

from uncore.errors import UserError
from uncore.job import Job

TEXT = b"12 34\n" * 100


def test_program_reads_its_standard_input(tmp_path: Path) -> None:
    path = tmp_path / "numbers"
    path.write_bytes(TEXT)
    assert ran(guest="input", stdin=path).output == TEXT.decode()
    assert ran(guest="input", stdin=TEXT).output == TEXT.decode()


def test_standard_input_is_empty_where_none_is_given() -> None:
    assert ran(guest="input").output == "no file\n"


def test_dash_is_what_comes_by_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TEXT)))
    assert job(guest="input", stdin="-").stdin == TEXT


def test_missing_input_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"--stdin .*none: No such file or directory"):
        job(guest="input", stdin=tmp_path / "none")


@pytest.mark.parametrize(
    ("ends", "expected", "failures"),
    [(0, 0, []), (7, 7, []), (7, 0, ["exit status 7"]), (0, 7, ["exit status 0, expected 7"])],
)
def test_expected_exit_status_is_no_failure(ends: int, expected: int, failures: list[str]) -> None:
    assert ran(str(ends), guest="input", expect_exit=expected).failures == failures


def test_status_that_no_program_has_is_refused() -> None:
    with pytest.raises(UserError, match=r"--expect-exit 256: expected an exit status, 0 to 255"):
        job(guest="input", expect_exit=256)


def test_document_names_the_input_by_its_hash_and_leaves_defaults_out() -> None:
    plain, given = job(guest="input").document(), job(guest="input", stdin=TEXT).document()
    assert plain.keys() & {"stdin", "expect_exit"} == set()
    assert len(given["stdin"]) == 64
    with pytest.raises(UserError, match=r"job\.stdin: a result does not hold it"):
        Job.of(given, job(guest="input").program)

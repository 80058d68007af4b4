"""Runs `uncore` in the process of the tests, with the toy engine in addition to the real ones."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from uncore import engine
from uncore.boot import kept_boots
from uncore.cli import app as cli
from uncore.execution import saved_points as store


class Outcome(NamedTuple):
    """The exit status of a command, and what it printed."""

    status: int
    out: str
    err: str


Command = Callable[..., Outcome]


@pytest.fixture
def uncore(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Command:
    """Returns a function that runs `uncore ARGUMENTS...` in an empty directory."""
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    monkeypatch.setitem(engine.ENGINES, "toy", "toy_engine")
    monkeypatch.setattr(store, "POINTS_FOLDER", tmp_path / ".points")
    monkeypatch.setattr(kept_boots, "BOOTS_FOLDER", tmp_path / ".boots")
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str) -> Outcome:
        with pytest.raises(SystemExit) as exit_:
            cli.main(arguments)
        printed = capsys.readouterr()
        return Outcome(int(exit_.value.code or 0), printed.out, printed.err)

    return call

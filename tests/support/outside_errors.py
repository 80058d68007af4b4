"""Checks that errors of outside simulators are reported well; the tests of `sst` and `gem5` use
them.

    PLAY, run_folder(error)               a small job; the run folder that its error names
    cannot_be_found(engine, name, ...)    the option names a place without the simulator
    crashes(engine, play)                 the error shows the last lines of output, and the run
                                          folder remains
    refuses(engine, machine, threads, options, words)    the engine cannot run the job, and says so

Scripts replace the simulators; `play(commands)` sets the shell commands of the script.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from uncore import api
from uncore.cli.app import main
from uncore.errors import OutsideError, UserError

PLAY = ("bus:2", "lock/ticket", [2])


def run_folder(error: OutsideError) -> Path:
    match = re.search(r"The run folder is kept: (.*)$", str(error))
    assert match and (Path(match[1]) / "system.json").is_file()
    return Path(match[1])


def cannot_be_found(
    engine: str, name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    variable = f"UNCORE_{engine.upper()}"
    monkeypatch.setenv(variable, "/nowhere")
    with pytest.raises(SystemExit) as ended:
        main(["run", "bus:2", "lock/ticket", "--engine", engine, f"--{engine}", "/nowhere/else"])
    assert ended.value.code == UserError.status
    assert f"no {name} in /nowhere/else ({variable}, --{engine})" in capsys.readouterr().err


def crashes(engine: str, play: Callable[[str], None]) -> None:
    play("seq 100; echo segmentation fault; kill -SEGV $$")
    with pytest.raises(OutsideError, match=r"status -11:\n  90\n(.*\n)+  segmentation fault") as e:
        api.run(*PLAY, engine=engine)
    run_folder(e.value)
    assert e.value.status == 3


def refuses(
    engine: str, machine: str, threads: int, options: dict[str, object], words: str
) -> None:
    with pytest.raises(UserError, match=words):
        api.run(machine, "lock/ticket", [threads], engine=engine, **options)

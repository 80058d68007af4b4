"""Is the output that a program has written so far shown, however its run ends?"""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from tests.linux.programs import BARE, HERE, job, program

from uncore.engine.tasks import MAX_FRAMES_LISTED
from uncore.errors import GuestError, Unfinished
from uncore.execution.execute import execute
from uncore.execution.request import make_job
from uncore.program import compile_for_linux

WRITTEN = "as far as it got\nhalf a line"


def stopped(how: str, limits: dict[str, Any] | None = None, **options: Any) -> GuestError:
    with pytest.raises(GuestError) as error:
        execute([job(how, guest="ends", **options)], engine_options=limits or {})
    return error.value


@pytest.mark.parametrize(
    ("how", "why", "options"),
    [
        ("waits", "every hart waits", {}),
        ("traps", "a store to memory that is not mapped", {}),
        ("forks", "it starts another process", {}),
        ("asks", "is not there", {"strict_calls": True}),
        ("spins", "no operation in 1 simulated ms", {"watchdog": 10**9}),
    ],
)
def test_output_is_kept_if_the_program_fails(how: str, why: str, options: dict[str, Any]) -> None:
    error = stopped(how, **options)
    assert why in str(error) and Unfinished.output_of(error) == WRITTEN


@pytest.mark.parametrize(
    ("how", "option", "value"),
    [
        ("spins", "max_time", "200us"),
        ("spins", "max_host", "1s"),
        ("grows", "max_memory", "1MiB"),
    ],
)
def test_output_and_locations_of_threads_are_reported_if_a_limit_is_reached(
    how: str, option: str, value: str
) -> None:
    error = stopped(how, {option: value}, watchdog=0)
    text = str(error)
    assert f"--{option.replace('_', '-')}" in text and "thread 1000 running" in text
    assert "fetches of the line of" in text and Unfinished.output_of(error) == WRITTEN


def test_output_of_a_program_counts_towards_max_memory() -> None:
    error = stopped("prints", {"max_memory": "1MiB"}, watchdog=0)
    assert "--max-memory" in str(error)


def command(folder: Path, *words: str, repeat: str = "1") -> subprocess.Popen[str]:
    elf = folder / "ends"
    elf.write_bytes(program("ends").data)
    run = [sys.executable, "-m", "uncore", "run", "ccx:2x4", str(elf), "--repeat", repeat]
    pipe = subprocess.PIPE
    return subprocess.Popen([*run, *words], stdout=pipe, stderr=pipe, text=True)


@pytest.mark.parametrize("repeat", ["1", "2"])
def test_terminated_run_shows_the_output_written_so_far(tmp_path: Path, repeat: str) -> None:
    """The command itself runs a single repeat; its workers run several repeats."""
    out = ""
    for seconds in (2, 8, 30):  # the run may begin late on a busy computer
        words = ("--watchdog", "100s", "--max-time", "none", "--cores", repeat)
        run = command(tmp_path, *words, "--", "spins", repeat=repeat)
        time.sleep(seconds)
        run.send_signal(signal.SIGTERM)
        out, _ = run.communicate(timeout=60)
        if WRITTEN in out:
            break
    assert run.returncode == 130 and out.count(WRITTEN) == 1


def test_command_shows_the_output_of_a_failed_program_and_then_the_error(tmp_path: Path) -> None:
    run = command(tmp_path, "--", "traps")
    out, err = run.communicate(timeout=120)
    assert run.returncode == 1 and WRITTEN in out and "is not mapped" in err


LIBRARY_SOURCE = """#include "raw.h"
static int word;
#define NEXT(n) __attribute__((noinline)) static int deeper##n(int x)
NEXT(0) { return call(N_futex, &word, 0, 0, 0) + x; }
"""
USER_SOURCE = """#include "vendor/deep.h"
__attribute__((noinline)) static int waits(int x) { return LAST(x) + 1; }
int run(int count, char** words) { return words ? waits(count) : 0; }
"""


@pytest.mark.parametrize("calls", [3, MAX_FRAMES_LISTED + 6])
def test_backtrace_of_a_deadlock_reaches_the_users_function_that_called_the_library(
    tmp_path: Path, calls: int
) -> None:
    """This holds without frame pointers, and if the library has more frames than are listed."""
    deeper = "".join(f"NEXT({n}) {{ return deeper{n - 1}(x) + {n}; }}\n" for n in range(1, calls))
    (tmp_path / "vendor").mkdir()
    (tmp_path / "vendor/deep.h").write_text(
        f"{LIBRARY_SOURCE}{deeper}#define LAST deeper{calls - 1}\n"
    )
    (tmp_path / "own.c").write_text(USER_SOURCE)
    words = (*BARE, f"-I{HERE}", "-fomit-frame-pointer", "-fno-optimize-sibling-calls")
    guest = compile_for_linux(tmp_path / "own.c", (), words)
    with pytest.raises(GuestError, match="every hart waits") as error:
        execute([make_job("ccx:1x2", guest, 1, seeds=(1,))])
    rows = [row.split() for row in str(error.value).splitlines() if row.startswith("    ")]
    named = [row[1] for row in rows]
    inner, users = named.index("deeper0"), named.index("waits")
    assert rows[users][2] == "(own.c:2)"
    if calls < MAX_FRAMES_LISTED:
        assert named[inner : users + 2] == ["deeper0", "deeper1", "deeper2", "waits", "run"]
    else:
        left_out = calls + inner - MAX_FRAMES_LISTED
        assert named[users - 1] == str(left_out) and users == MAX_FRAMES_LISTED + 1

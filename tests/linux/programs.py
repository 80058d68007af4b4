"""Linux programs for tests, each compiled once from a C file of this folder without a C library.

program(name)                 compiles tests/linux/NAME.c
job(*arguments, guest=NAME)   makes the job that runs it with these arguments
run_guest(*arguments, ...)    runs that job and returns its point; raises GuestError
outcome(job)                  returns all that must not depend on how far cores run ahead
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import Any

from uncore.engine import native
from uncore.execution import request
from uncore.execution.execute import execute
from uncore.job import Job
from uncore.program import Program, compile_for_linux
from uncore.result import Point

HERE = Path(__file__).parent
BARE = ("-nostdlib", "-ffreestanding", "-fno-builtin", "-fno-stack-protector", "-Wall", "-Werror")


@cache
def program(name: str = "calls") -> Program:
    return compile_for_linux(HERE / f"{name}.c", (), BARE)


def job(
    *arguments: str, guest: str = "calls", machine: str = "ccx:2x4", harts: int = 2, **options: Any
) -> Job:
    options = {"arguments": arguments, "seeds": (1,), **options}
    return request.make_job(machine, program(guest), harts, **options)


def run_guest(*arguments: str, **options: Any) -> Point:
    return execute([job(*arguments, **options)])[0].points[0]


def outcome(job: Job, **limits: Any) -> tuple[Any, ...]:
    run = native.start(job, frozenset({"log", "calls"}), **limits)
    while run.step(200_000, 10**9):
        pass
    columns = run.log()
    log = b"".join(columns[name].tobytes() for name in sorted(columns))
    return run.end, run.exit_code, run.now, run.console, run.strace, hashlib.sha256(log).digest()

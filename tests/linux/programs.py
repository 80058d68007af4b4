"""Programs of Linux for the tests: built once, each of one file here and no C library.

ran(*words, harts=2, ...)      -> Point; GuestError where the run goes wrong; `of`: which program
outcome(*words, ...)           -> what must not depend on how far cores run ahead
program(name)                  -> Program
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
    *words: str, machine: str = "ccx:2x4", harts: int = 2, of: str = "calls", **chosen: Any
) -> Job:
    chosen = {"seeds": (1,), **chosen}
    return request.make_job(machine, program(of), harts, arguments=words, **chosen)


def ran(*words: str, **chosen: Any) -> Point:
    return execute([job(*words, **chosen)])[0].points[0]


def outcome(job: Job, **limits: Any) -> tuple[Any, ...]:
    run = native.start(job, frozenset({"log", "calls"}), **limits)
    while run.step(200_000, 10**9):
        pass
    columns = run.log()
    log = b"".join(columns[name].tobytes() for name in sorted(columns))
    return run.end, run.exit_code, run.now, run.console, run.strace, hashlib.sha256(log).digest()

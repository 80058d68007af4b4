"""Programs of Linux for the tests: built once, each of one file here and no C library.

ran(*words, harts=2, ...)      -> Point of a guest (tests/linux/*.c); GuestError where it goes wrong
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
    *words: str, guest: str = "calls", machine: str = "ccx:2x4", harts: int = 2, **chosen: Any
) -> Job:
    words_and_more = {"arguments": words, "seeds": (1,), **chosen}
    return request.make_job(machine, program(guest), harts, **words_and_more)


def ran(*words: str, **chosen: Any) -> Point:
    return execute([job(*words, **chosen)])[0].points[0]


def outcome(job: Job, **limits: Any) -> tuple[Any, ...]:
    run = native.start(job, frozenset({"log", "calls"}), **limits)
    while run.step(200_000, 10**9):
        pass
    columns = run.log()
    log = b"".join(columns[name].tobytes() for name in sorted(columns))
    return run.end, run.exit_code, run.now, run.console, run.strace, hashlib.sha256(log).digest()

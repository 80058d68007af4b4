"""Runs Linux programs that report in their exit status if they passed.

ended(path) -> "passed", or the failure
"""

from __future__ import annotations

import re
import time
from pathlib import Path

from uncore import program
from uncore.engine import native, outcome
from uncore.errors import UncoreError
from uncore.execution.request import make_job
from uncore.job import Job

PASSED = "passed"
MACHINE, HARTS = "ccx:1x4", 4
EVENTS, SPAN = 200_000, 10**10  # limits of a step: number of events, and simulated time in ps
MAX_PROGRAM_PS, MAX_BUSY_INSTRUCTIONS = 600 * 10**12, 200 * 10**6
MAX_CPU_SECONDS = 60  # seconds of host CPU time; harts that only spin take hardly any


def ended(path: Path) -> str:
    try:
        return _ran(make_job(MACHINE, program.load(path), HARTS, seeds=(1,)))
    except UncoreError as error:
        # Group 1 is the name of the failed call, without the program's name.
        message = re.match(r"(?:\S+: )?([^(,\n]*\w)", str(error))
        return message[1] if message else str(error)


def _ran(job: Job) -> str:
    run, begun = native.start(job), time.process_time()
    while run.step(EVENTS, SPAN):
        if run.now > MAX_PROGRAM_PS:
            return f"not ended after {MAX_PROGRAM_PS // 10**12} s of simulated time"
        busy = sum(hart["instructions"] for hart in run.harts()) > MAX_BUSY_INSTRUCTIONS
        if busy and time.process_time() - begun > MAX_CPU_SECONDS:
            return f"not ended after {MAX_BUSY_INSTRUCTIONS // 10**6} million instructions"
    outcome.point(job, run)  # raises the error with which the program ended
    return f"status {run.exit_code}" if run.exit_code else PASSED

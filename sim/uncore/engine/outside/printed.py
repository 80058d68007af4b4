"""Reads a program's printed results under another simulator into the fields of a Point.

fields(job, "SST", output) -> dict      raises an OutsideError unless every hart has reported
refuse_failure(job, code, output)       raises a GuestError if the program failed
tail(output)                            the last lines, for an error message
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from uncore.errors import GuestError, OutsideError
from uncore.program import readback

if TYPE_CHECKING:
    from uncore.job import Job

TAIL_LINES = 12  # lines shown of a failed run's output
KILLED_PATTERN = re.compile(r"\b((panic|fatal|FATAL): |has encountered a segmentation fault)")


def fields(job: Job, name: str, output: str) -> dict[str, Any]:
    """Returns the fields that come from the printed records and tables, whose form is the same on
    every simulator.
    """
    records = readback.records_from_text(output)
    if len(records) != job.threads[0]:
        raise OutsideError(f"{name} ended early: {len(records)} harts reported.\n{tail(output)}")
    return readback.fields(records, readback.tables_from_text(output))


def refuse_failure(job: Job, code: int, output: str) -> None:
    """Raises a GuestError if the exit status is not 0, unless a record reports the failed check
    that explains it.
    """
    failed = any(record.failures for record in readback.records_from_text(output))
    if code and not failed:
        reason = readback.trap_from_text(job.program, output) or readback.failure_from_text(output)
        reason = reason or tail(output)
        raise GuestError(f"{job.program.name} ended with status {code}: {reason}")


def tail(output: str) -> str:
    """Returns the last lines that are not empty, indented.

    If the simulator printed the reason of its crash before a stack trace, the lines begin there.
    """
    lines = [line for line in output.splitlines() if line.strip()]
    killed = [n for n, line in enumerate(lines) if KILLED_PATTERN.search(line)]
    first = killed[-1] if killed else max(0, len(lines) - TAIL_LINES)
    return "\n".join("  " + line for line in lines[first : first + TAIL_LINES])

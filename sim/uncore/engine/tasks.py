"""Reads the results of a Linux program: its exit status, its output, and its threads.

`fields(job, run)` returns fields of a Point, `latency(point)` the latency of a program that is one
operation, and `stacks(job, run)` the call stack of each thread, for a message. A program without
marks is one operation, which lasts from the start of its first thread to the end of its last, or
during the whole process if it starts no threads (K15).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Protocol

from uncore.program.frames import WITHIN_CALL
from uncore.program.syscalls import NAMES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from uncore.job import Job

MAX_OUTPUT_LETTERS = 1 << 16  # a result keeps only the end of a longer output
MAX_THREADS_LISTED, MAX_FRAMES_LISTED = 16, 12
Task = dict[str, Any]


class EndedRun(Protocol):
    """The interface of a finished run that the results of every program need."""

    @property
    def exit_code(self) -> int: ...

    @property
    def console(self) -> str: ...

    @property
    def now(self) -> int: ...

    def read(self, address: int, size: int) -> bytes:
        """Returns memory as the machine would read it."""


class LinuxRun(EndedRun, Protocol):
    """A finished run of a Linux program."""

    @property
    def missing_calls(self) -> list[int]: ...

    def tasks(self) -> list[Task]:
        """Returns each thread's tid, state, hart, pc, callers, call, since, waits_on, operations,
        began, ended, born, died.
        """


def fields(job: Job, run: LinuxRun) -> dict[str, Any]:
    """Returns the fields of a Point that do not come from the engine's counters."""
    tasks = run.tasks()
    marked = [task for task in tasks if task["operations"]]
    begins = [0 if task["began"] is None else task["began"] for task in marked]
    spans = list(zip(begins, (task["ended"] for task in marked), strict=True))
    begin, end = (
        (min(begins), max(end for _, end in spans)) if spans else _span_of_lives(tasks, run.now)
    )
    return {
        "threads": job.threads[0],
        "ops": sum(task["operations"] for task in marked) or 1,
        "elapsed_ps": end - begin,
        "thread_ops": [task["operations"] for task in marked] or [1],
        "thread_ps": [(a - begin, b - begin) for a, b in spans] or [(0, end - begin)],
        "tables": {},
        "failures": failures(job, run.exit_code),
        "output": run.console[-MAX_OUTPUT_LETTERS:],
        **_missing_calls(run),
    }


def failures(job: Job, status: int) -> list[str]:
    """Returns a failure if the program's exit status is not the expected one."""
    if status == job.expect_exit:
        return []
    expectation = f", expected {job.expect_exit}" if job.expect_exit else ""
    return [f"exit status {status}{expectation}"]


def _span_of_lives(tasks: list[Task], now: int) -> tuple[int, int]:
    """Returns the start of the first thread and the end of the last. The initial thread counts only
    if there is no other.
    """
    later_tasks = tasks[1:]
    ends = (now if task["died"] is None else task["died"] for task in later_tasks)
    return min((task["born"] for task in later_tasks), default=0), max(ends, default=now)


def _missing_calls(run: LinuxRun) -> dict[str, list[str]]:
    """Returns the names of system calls that the program used and the simulator lacks."""
    names = [f"{NAMES.get(number, 'unknown')} ({number})" for number in run.missing_calls]
    return {"missing_calls": names} if names else {}


def latency(point: dict[str, Any]) -> dict[str, int] | None:
    """Returns the latency if the program is a single operation, else None."""
    if point["ops"] > 1:
        return None
    return dict.fromkeys(("p50", "p90", "p99", "max"), point["elapsed_ps"])


def with_call_names(reason: str) -> str:
    """Returns the reason with the names of system calls after their numbers."""

    def named(match: re.Match[str]) -> str:
        return f"system call {match[1]} ({NAMES.get(int(match[1]), 'unknown')})"

    return re.sub(r"system call (\d+)", named, reason)


def stacks(job: Job, run: LinuxRun) -> list[str]:
    """Returns message lines for each thread that has not ended, with its call stack."""
    alive = [task for task in run.tasks() if task["state"] != "dead"]
    order = ("running", "sleeping", "ready")
    lines = []
    for task in sorted(alive, key=lambda task: order.index(task["state"]))[:MAX_THREADS_LISTED]:
        call_text = f" in {task['call']} since {task['since'] / 1e6:g} us" if task["call"] else ""
        lock_text = f", on {_object(job, task['waits_on'])}" if task["waits_on"] else ""
        lines.append(
            f"  thread {task['tid']} {task['state']} on hart {task['hart']}{call_text}{lock_text}"
        )
        lines += [f"    {call}" for call in _calls(job, task)]
    if len(alive) > MAX_THREADS_LISTED:
        lines.append(f"  and {len(alive) - MAX_THREADS_LISTED} more threads")
    return lines


def _object(job: Job, address: int) -> str:
    return job.program.symbol_at(address) or f"{address:#x}"


def _calls(job: Job, task: Task) -> list[str]:
    """Returns a thread's functions, innermost first, with inlined ones. The list ends with the
    innermost function of the user if that is further out than MAX_FRAMES_LISTED.
    """
    pcs = [task["pc"], *(back - WITHIN_CALL for back in task["callers"])]
    rows = [row for pc in pcs for row in _functions(job, pc)]
    users = next((n for n, (_, is_users) in enumerate(rows) if is_users), 0)
    omission = [f"... {users - MAX_FRAMES_LISTED} more"] if users > MAX_FRAMES_LISTED else []
    last = [rows[users][0]] if users >= MAX_FRAMES_LISTED else []
    return [text for text, _ in rows[:MAX_FRAMES_LISTED]] + omission + last


def _functions(job: Job, pc: int) -> Iterator[tuple[str, bool]]:
    """Yields each function that contains the instruction, and True if its file is the user's."""
    frames = job.program.frames
    for frame in (frames_found := frames.at(pc)):
        yield f"{pc:#x} {frame.function} ({frame.place})", frames.users(frame)
    if not frames_found:
        yield f"{pc:#x} {job.program.symbol_at(pc) or 'no symbol'} (no line known)", False

"""Results of a Linux program: its exit status, its output, and its threads.

Interface: `fields(job, run)`, of a Point; `latency(point)` where it marks no operations;
`stacks(job, run)`: where each thread is, for a message.  A program without hints is one operation:
from its first thread's start to the last one's end, or the whole process (K15).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Protocol

from uncore.program.frames import WITHIN_CALL
from uncore.program.syscalls import NAMES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from uncore.job import Job

MOST_OUTPUT = 1 << 16  # letters kept in a result
MOST_THREADS, MOST_FRAMES = 16, 12
Task = dict[str, Any]


class EndedRun(Protocol):
    """The interface of a run that every program's results need."""

    @property
    def exit_code(self) -> int: ...

    @property
    def console(self) -> str: ...

    @property
    def now(self) -> int: ...

    def read(self, address: int, size: int) -> bytes:
        """Memory as the machine would read it."""


class OfLinux(EndedRun, Protocol):
    """The same of a program of Linux."""

    @property
    def missing_calls(self) -> list[int]: ...

    def tasks(self) -> list[Task]:
        """tid, state, hart, pc, callers, call, since, waits_on, operations, began, ended, born,
        died."""


def fields(job: Job, run: OfLinux) -> dict[str, Any]:
    """Beside what the engine counts."""
    tasks = run.tasks()
    marked = [task for task in tasks if task["operations"]]
    begins = [0 if task["began"] is None else task["began"] for task in marked]
    spans = list(zip(begins, (task["ended"] for task in marked), strict=True))
    begin, end = (min(begins), max(end for _, end in spans)) if spans else _lives(tasks, run.now)
    return {
        "threads": job.threads[0],
        "ops": sum(task["operations"] for task in marked) or 1,
        "elapsed_ps": end - begin,
        "thread_ops": [task["operations"] for task in marked] or [1],
        "thread_ps": [(a - begin, b - begin) for a, b in spans] or [(0, end - begin)],
        "tables": {},
        "failures": failures(job, run.exit_code),
        "output": run.console[-MOST_OUTPUT:],
        **_missing(run),
    }


def failures(job: Job, status: int) -> list[str]:
    """Nothing, or that the program has ended with another status than it should."""
    if status == job.expect_exit:
        return []
    wanted = f", expected {job.expect_exit}" if job.expect_exit else ""
    return [f"exit status {status}{wanted}"]


def _lives(tasks: list[Task], now: int) -> tuple[int, int]:
    """From the first start of a thread to the last end; where there is one only, all of it."""
    others = tasks[1:]
    ends = (now if task["died"] is None else task["died"] for task in others)
    return min((task["born"] for task in others), default=0), max(ends, default=now)


def _missing(run: OfLinux) -> dict[str, list[str]]:
    """The calls that the program was told are not there."""
    named = [f"{NAMES.get(number, 'unknown')} ({number})" for number in run.missing_calls]
    return {"missing_calls": named} if named else {}


def latency(point: dict[str, Any]) -> dict[str, int] | None:
    """That of its one operation."""
    if point["ops"] > 1:
        return None
    return dict.fromkeys(("p50", "p90", "p99", "max"), point["elapsed_ps"])


def worded(reason: str) -> str:
    """The reason, with the name of the system call that is not there."""

    def named(match: re.Match[str]) -> str:
        return f"system call {match[1]} ({NAMES.get(int(match[1]), 'unknown')})"

    return re.sub(r"system call (\d+)", named, reason)


def stacks(job: Job, run: OfLinux) -> list[str]:
    """Each thread that has not ended, with the functions that it is in."""
    alive = [task for task in run.tasks() if task["state"] != "dead"]
    order = ("running", "sleeping", "ready")
    lines = []
    for task in sorted(alive, key=lambda task: order.index(task["state"]))[:MOST_THREADS]:
        at = f" in {task['call']} since {task['since'] / 1e6:g} us" if task["call"] else ""
        on = f", on {_object(job, task['waits_on'])}" if task["waits_on"] else ""
        lines.append(f"  thread {task['tid']} {task['state']} on hart {task['hart']}{at}{on}")
        lines += [f"    {call}" for call in _calls(job, task)]
    if len(alive) > MOST_THREADS:
        lines.append(f"  and {len(alive) - MOST_THREADS} more threads")
    return lines


def _object(job: Job, address: int) -> str:
    return job.program.symbol_at(address) or f"{address:#x}"


def _calls(job: Job, task: Task) -> list[str]:
    """The functions that the thread is in, inlined ones too, the innermost first; at least down to
    the first that is the user's.
    """
    pcs = [task["pc"], *(back - WITHIN_CALL for back in task["callers"])]
    rows = [row for pc in pcs for row in _functions(job, pc)]
    users = next((n for n, (_, is_users) in enumerate(rows) if is_users), 0)
    left_out = [f"... {users - MOST_FRAMES} more"] if users > MOST_FRAMES else []
    last = [rows[users][0]] if users >= MOST_FRAMES else []
    return [text for text, _ in rows[:MOST_FRAMES]] + left_out + last


def _functions(job: Job, pc: int) -> Iterator[tuple[str, bool]]:
    """Each function that the instruction is in, and whether it is in a file of the user's."""
    frames = job.program.frames
    for frame in (found := frames.at(pc)):
        yield f"{pc:#x} {frame.function} ({frame.place})", frames.users(frame)
    if not found:
        yield f"{pc:#x} {job.program.symbol_at(pc) or 'no symbol'} (no line known)", False

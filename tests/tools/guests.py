"""Can any guest crash the simulator, hang it or show a traceback? `python -m tests.tools.guests`.

    python -m tests.tools.guests [KIND...] [--runs N] [--seconds S] [--seed N] [--long]

    calls     a program: random system calls with hostile arguments from four threads
    kernel    a kernel on four harts: random calls of the firmware, CSRs, devices, translations
    elf       an edited ELF of a program, read and run
    file      an edited file: ELF, result, job, machine, hwloc's XML, state (hostile_files.py)

Each guest depends only on its seed. Guests run in batches, each batch in a process of its own. A
run must end or raise an UncoreError; anything else is a finding, including a crash of the process.
A finding is printed with its kind and seed, and `--seed` runs it again.

Interface for tests: KINDS, each a function of a seed. The exit status is 0 if nothing was found,
otherwise 1.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.linux.programs import job, program
from tests.tools import crashing, drawn, hostile_files
from tests.tools.random_kernel import kernel

from uncore.engine import native
from uncore.errors import UncoreError
from uncore.program import Program

BATCH = 10  # guests that run in one process
EVENTS, STEPS = 5_000, 80  # a guest is stopped after 80 steps of at most 5,000 events
# length of a step, for a program that sleeps and for a kernel that may spin
SLEEPY_STEP_PS, BUSY_STEP_PS = 10**9, 2 * 10**6
GUEST_TIMEOUT_S = 60  # a guest that takes longer counts as a hang
# memory limit; not set with sanitizers, because they need more address space
MAX_PROCESS_BYTES = 6 << 30
MAX_GUEST_BYTES = 256 << 20
# time limit in seconds, without and with --long
TIME_LIMIT_S = {False: 20, True: 900}


def program_of_calls(seed: int) -> Any:
    return native.start(job(str(seed), harts=4, machine="ccx:2x2", guest="random_calls"))


def elf(seed: int) -> str:
    rng = random.Random(seed)
    original = program("wakes")
    data = drawn.corrupted(rng, original.data)
    job_ = job("waiters_wake_in_order", harts=2)
    return _run_steps(native.start(replace(job_, program=Program("x", Path("x.elf"), data))))


def instructions(run: Any) -> int:
    """Runs a guest until it ends or its steps are used up. Returns the number of instructions."""
    _run_steps(run, BUSY_STEP_PS)
    return sum(hart["instructions"] for hart in run.harts())


def _run_steps(run: Any, span: int = SLEEPY_STEP_PS) -> str:
    """Runs a guest for STEPS steps of `span` ps. Returns how it ended."""
    for _ in range(STEPS):
        if not run.step(EVENTS, span):
            break
        if run.touched > MAX_GUEST_BYTES:
            return "memory"
    return str(run.end)


KINDS: dict[str, Callable[[int], str]] = {
    "calls": lambda seed: _run_steps(program_of_calls(seed)),
    "kernel": lambda seed: _run_steps(kernel(seed), BUSY_STEP_PS),
    "elf": elf,
    "file": hostile_files.file,
}


def survive(kind: str, seed: int) -> str:
    """Returns how the guest ended, or the name of the UncoreError. Any other exception is a
    finding.
    """
    try:
        return KINDS[kind](seed)
    except UncoreError as error:
        return type(error).__name__


def run_batch(kind: str, seeds: Sequence[int]) -> list[tuple[int, str]]:
    """Returns each seed with the end of its guest. The list stops at the first crash."""
    return crashing.run_in_child(
        lambda seed: survive(kind, seed), seeds, GUEST_TIMEOUT_S, _limit_memory
    )


def _limit_memory() -> None:
    if "LD_PRELOAD" not in os.environ:
        resource.setrlimit(resource.RLIMIT_AS, (MAX_PROCESS_BYTES, MAX_PROCESS_BYTES))


def run(kind: str, seed: int, runs: int, seconds: float) -> bool:
    """Runs guests of one kind. Returns False if there was a finding."""
    start, counts = time.monotonic(), dict[str, int]()
    last = seed + runs if runs else sys.maxsize
    while seed < last and time.monotonic() - start < seconds:
        ends = run_batch(kind, range(seed, min(seed + BATCH, last)))
        for number, end in ends:
            counts[end] = counts.get(end, 0) + 1
            if end in ("traceback", "MemoryError") or end.startswith("died"):
                print(f"{kind}: seed {number}: {end}", flush=True)
                return False
        seed += BATCH
    summary = ", ".join(f"{count} {end}" for end, count in sorted(counts.items()))
    print(f"{kind:<8} {sum(counts.values()):7} guests: {summary}", flush=True)
    return True


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="tests.tools.guests")
    parser.add_argument("kinds", nargs="*", choices=[*KINDS, []], metavar="KIND")
    parser.add_argument("--runs", type=int, default=0, help="of each kind; 0: by --seconds")
    parser.add_argument("--seconds", type=float, help="of each kind")
    parser.add_argument("--seed", type=int, default=1, help="of the first")
    parser.add_argument("--long", action="store_true", help="a quarter of an hour of each kind")
    arguments = parser.parse_args(argv)
    seconds = arguments.seconds or (
        float("inf") if arguments.runs else TIME_LIMIT_S[arguments.long]
    )
    kinds = arguments.kinds or [*KINDS]
    return 0 if all([run(kind, arguments.seed, arguments.runs, seconds) for kind in kinds]) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

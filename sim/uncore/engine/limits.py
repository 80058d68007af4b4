"""Stops a run that exceeds a limit of simulated time, memory, or time of this computer.

    Limits                     the user's limits, declared like an engine's options
    watch(limits, name, tick)  forwards progress to `tick`, until a limit is exceeded

Limits are not part of a job and do not change a run that stays within them.  A run that exceeds one
is stopped with a message that says what it reached and which option allows more.  For each byte of
a touched line this computer needs up to about 30 bytes while caches hold the line, and 4 later; a
run may use this much, including everything else that its program makes the simulator store.

Invariant: only the job decides whether its run touches too much memory or simulated time.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Protocol

from msgspec import Meta, Struct

from uncore.errors import GuestError, UserError
from uncore.job.option_values import duration
from uncore.topology.units import TIME_UNITS, UnitError, size

NO_LIMIT_TEXT = "none"
HOST_BYTES_PER_BYTE = 32  # bytes of this computer for each byte that a program may touch
# bytes of this computer for the parts of a machine with a thousand harts, before a program runs
MACHINE_HOST_BYTES = 1 << 29
# Asking the system for this process's memory takes as long as simulating hundreds of transfers.
MEMORY_CHECK_PERIOD_S = 0.05


class Limits(Struct, frozen=True):
    max_time: Annotated[
        str, Meta(description="simulated time after which a run is stopped, such as 1s, or none")
    ] = "1s"
    max_memory: Annotated[
        str,
        Meta(
            description="memory of the machine that a program may touch, such as 1GiB, or none;"
            " it may take 32 times as much of this computer's"
        ),
    ] = "1GiB"
    max_host: Annotated[
        str, Meta(description="host time after which a run is stopped, such as 60s, or none")
    ] = NO_LIMIT_TEXT


class OnProgress(Protocol):
    """A callback for an engine's progress, called now and then and at the end: with the number of
    operations done, the simulated time reached in ps, and the bytes of memory touched. A number
    that is not known yet is 0.
    """

    def __call__(self, operations: int, reached: int, touched: int = 0) -> None: ...


def watch(limits: Limits, name: str, tick: Callable[[int, int], None]) -> OnProgress:
    """Returns a callback that raises a GuestError at a limit; `name` is the program's name."""
    time_ps = _read("--max-time", limits.max_time, duration)
    memory = _read("--max-memory", limits.max_memory, _parse_size)
    host = _read("--max-host", limits.max_host, duration) / TIME_UNITS["s"]
    start, held_before = time.monotonic(), resident_bytes()
    memory_checked = start  # time of the last look at this process's memory

    def limit_error(option: str, limit: str, what: str, operations: int) -> GuestError:
        done = f", with {operations} operations done" if operations else ""
        return GuestError(
            f"{name}: {option} {limit}: not ended after {what}{done}; if it will end, write"
            f" {option} with more, or none"
        )

    def check_limits(operations: int, reached: int, touched: int = 0) -> None:
        nonlocal memory_checked
        simulated = f"{reached / TIME_UNITS['s']:.4g} s of simulated time"
        if reached > time_ps:
            raise limit_error("--max-time", limits.max_time, simulated, operations)
        now = time.monotonic()
        if touched > memory or now - memory_checked > MEMORY_CHECK_PERIOD_S:
            memory_checked = now
            held_bytes = resident_bytes() - held_before
            if touched > memory or held_bytes > MACHINE_HOST_BYTES + HOST_BYTES_PER_BYTE * memory:
                used = f"{touched >> 20} MiB touched, and"
                used += f" {max(held_bytes, 0) >> 20} MiB of this computer's,"
                raise limit_error(
                    "--max-memory", limits.max_memory, f"{used} in {simulated}", operations
                )
        if (elapsed := now - start) > host:
            host_time = f"{elapsed:.4g} s of this computer's time"
            raise limit_error(
                "--max-host", limits.max_host, f"{host_time}, {simulated}", operations
            )
        tick(operations, reached)

    return check_limits


def resident_bytes() -> int:
    """Returns this process's resident memory; 0 if the system does not report it."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
    except OSError:
        return 0


def _read(option: str, text: str, read: Callable[[str, str], int]) -> float:
    return float("inf") if text == NO_LIMIT_TEXT else read(option, text)


def _parse_size(option: str, text: str) -> int:
    try:
        return size(text)
    except UnitError as error:
        raise UserError(f"{option} {text}: {error}, or none") from None

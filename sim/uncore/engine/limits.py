"""Limits of a run: simulated time, memory, and time of this computer.

    Limits                     what a user says of them, declared as an engine's options are
    watch(limits, name, tick)  passes on how far the run of a program is, until it is too far

They are no part of a job.  A run that stays within them is as it were without; one that does not is
given up with a message that says what it reached and what to write.
Invariant: whether a run passes the first two depends on its job alone, never on the host.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Annotated, Protocol

from msgspec import Meta, Struct

from uncore.errors import GuestError, UserError
from uncore.job.option_values import duration
from uncore.topology.units import TIME, UnitError, size

NONE = "none"


class Limits(Struct, frozen=True):
    max_time: Annotated[
        str, Meta(description="simulated time after which a run is given up: 1s, or none")
    ] = "1s"
    max_memory: Annotated[
        str, Meta(description="memory of the machine that a program may touch: 1GiB, or none")
    ] = "1GiB"
    max_host: Annotated[
        str, Meta(description="time of this computer after which a run is given up: 60s, or none")
    ] = NONE


class OnProgress(Protocol):
    """A callback for an engine's progress, called now and then and at the end. 0 means unknown."""

    def __call__(self, operations: int, reached: int, touched: int = 0) -> None: ...


def watch(limits: Limits, name: str, tick: Callable[[int, int], None]) -> OnProgress:
    """`name`: of the program."""
    time_ps = _read("--max-time", limits.max_time, duration)
    memory = _read("--max-memory", limits.max_memory, _size)
    host = _read("--max-host", limits.max_host, duration) / TIME["s"]
    begun = time.monotonic()

    def give_up(option: str, limit: str, what: str, operations: int) -> GuestError:
        done = f", with {operations} operations done" if operations else ""
        return GuestError(
            f"{name}: {option} {limit}: not ended after {what}{done}; if it will end, write"
            f" {option} with more, or none"
        )

    def listen(operations: int, reached: int, touched: int = 0) -> None:
        simulated = f"{reached / TIME['s']:.4g} s of simulated time"
        if reached > time_ps:
            raise give_up("--max-time", limits.max_time, simulated, operations)
        if touched > memory:
            used = f"{touched >> 20} MiB touched"
            raise give_up("--max-memory", limits.max_memory, f"{used} in {simulated}", operations)
        if (passed := time.monotonic() - begun) > host:
            here = f"{passed:.4g} s of this computer's time"
            raise give_up("--max-host", limits.max_host, f"{here}, {simulated}", operations)
        tick(operations, reached)

    return listen


def _read(option: str, text: str, read: Callable[[str, str], int]) -> float:
    return float("inf") if text == NONE else read(option, text)


def _size(option: str, text: str) -> int:
    try:
        return size(text)
    except UnitError as error:
        raise UserError(f"{option} {text}: {error}, or none") from None

"""Runs the measuring programs on processors of this computer.

    Bench.play(program, cpus, parameters, tick) -> Point

The programs are workloads, and the programs of workloads/host/linux/, which measure system calls.
A bench runs a program on the given processors and returns the results that it printed.  Users of a
bench know processors only by number, so tests can use a simulated machine as the bench.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

import msgspec

from uncore import program
from uncore.errors import UserError
from uncore.host import pinned
from uncore.result.schema import Point
from uncore.support import paths

LINUX_PROGRAMS = "host/"  # folder of programs that run on Linux, not as guests
Parameters = Mapping[str, int | str]
Tick = Callable[[], None] | None


class Bench(Protocol):
    def play(
        self, name: str, cpus: Sequence[int], parameters: Parameters, tick: Tick = None
    ) -> Point:
        """Runs the program on these processors; raises GuestError if it cannot do its work."""


class ThisComputer:
    """Runs the programs on the computer on which uncore runs."""

    def play(
        self, name: str, cpus: Sequence[int], parameters: Parameters, tick: Tick = None
    ) -> Point:
        if not name.startswith(LINUX_PROGRAMS):
            workload = program.find(name)
            texts = workload.canonical(parameters)
            numbers = {key: workload.parameter(key).parse(text) for key, text in texts.items()}
        else:  # a program that runs on Linux only has no guest that lists its parameters
            numbers = {key: int(value) for key, value in parameters.items()}
        binary = pinned.compile(paths.WORKLOADS / f"{name}.c")
        return msgspec.convert(pinned.play(binary, name, cpus, numbers, tick), Point)


def usable() -> list[int]:
    """Returns the processors that this process may use. Raises UserError if nothing can be
    measured on them.
    """
    if missing_feature := pinned.missing():
        raise UserError(f"uncore measure: {missing_feature}")
    allowed = sorted(os.sched_getaffinity(0))
    if len(allowed) < 2:
        raise UserError(
            f"uncore measure: this process may use processor {allowed[0]} alone, and between"
            " processors is what is measured; widen its cpuset (taskset, the container's cpus), or"
            " use another computer"
        )
    for cpu in allowed:
        _pin(cpu, allowed)
    return allowed


def _pin(cpu: int, allowed: Sequence[int]) -> None:
    """Pins this process to a processor for a moment, to check that measuring threads can
    be pinned.
    """
    try:
        os.sched_setaffinity(0, {cpu})
        if os.sched_getaffinity(0) != {cpu}:
            raise OSError(0, "the system has kept it elsewhere")
    except OSError as error:
        raise UserError(
            f"uncore measure: a thread cannot be pinned to processor {cpu}: {error.strerror};"
            " run it where sched_setaffinity(2) is permitted"
        ) from None
    finally:
        os.sched_setaffinity(0, set(allowed))

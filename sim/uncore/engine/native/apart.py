"""Bytes that are kept elsewhere (docs/whatif.md): `job.apart` as moves, memory as it begins then.

    moves(job)            where each range of bytes goes: those of a group and a line to one line
    image(memory, moves)  the program's initial bytes, with those of the moved ranges there, too

A new line is taken from the top of the node's memory, where no program comes; the bytes keep their
offsets in it, so that two ranges of one line never meet.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count
from typing import TYPE_CHECKING

from uncore.engine.native.spec import Move
from uncore.program import abi

if TYPE_CHECKING:
    from uncore.job import Job
    from uncore.program.program import Image

BASE = abi.CONSTANTS["UC_RAM_BASE"]


def moves(job: Job) -> tuple[Move, ...]:
    """The moves of `job.apart`, by address."""
    size, bytes_ = job.machine.node_span, job.machine.line
    lines: dict[tuple[int, int], int] = {}
    taken = count(1)
    moves_ = []
    for number, group in enumerate(job.apart):
        for address, length in group:
            line = (number, address // bytes_)
            if line not in lines:
                node = (address - BASE) // size
                lines[line] = BASE + (node + 1) * size - next(taken) * bytes_
            moves_.append(Move(address, length, lines[line] + address % bytes_))
    return tuple(sorted(moves_, key=lambda move: move.address))


def image(memory: Image, moved: Iterable[Move]) -> Image:
    """Later parts overwrite earlier ones."""
    return [*memory, *((move.to, _bytes(memory, move)) for move in moved)]


def _bytes(memory: Image, move: Move) -> bytes:
    data = bytearray(move.size)
    for address, part in memory:
        begin = max(address, move.address)
        end = min(address + len(part), move.address + move.size)
        if begin < end:
            data[begin - move.address : end - move.address] = part[begin - address : end - address]
    return bytes(data)

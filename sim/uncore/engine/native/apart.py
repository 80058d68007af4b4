"""Bytes that the engine moves to other lines (docs/whatif.md): moves for `job.apart`, and the
initial memory.

    moves(job)            where each range goes: those of one group and line to one line
    image(memory, moves)  the initial memory, with a copy of moved ranges at their new place

New lines are taken from the top of the node's memory, which programs do not reach; bytes keep their
offset within the line, so that two ranges of one line never collide.
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

RAM_START = abi.CONSTANTS["UC_RAM_BASE"]


def moves(job: Job) -> tuple[Move, ...]:
    """Returns the moves that `job.apart` requests, sorted by address."""
    size, bytes_ = job.machine.node_span, job.machine.line
    lines: dict[tuple[int, int], int] = {}
    taken = count(1)
    moves_ = []
    for number, group in enumerate(job.apart):
        for address, length in group:
            line = (number, address // bytes_)
            if line not in lines:
                node = (address - RAM_START) // size
                lines[line] = RAM_START + (node + 1) * size - next(taken) * bytes_
            moves_.append(Move(address, length, lines[line] + address % bytes_))
    return tuple(sorted(moves_, key=lambda move: move.address))


def image(memory: Image, moved: Iterable[Move]) -> Image:
    """Returns the memory with moved bytes appended; later parts overwrite earlier ones."""
    return [*memory, *((move.to, _bytes(memory, move)) for move in moved)]


def _bytes(memory: Image, move: Move) -> bytes:
    data = bytearray(move.size)
    for address, part in memory:
        begin = max(address, move.address)
        end = min(address + len(part), move.address + move.size)
        if begin < end:
            data[begin - move.address : end - move.address] = part[begin - address : end - address]
    return bytes(data)

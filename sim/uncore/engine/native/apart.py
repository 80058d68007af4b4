"""Moves ranges of bytes to other lines, as `job.apart` requests (docs/whatif.md).

    moves(job)            returns the new address of each range; ranges of one group that share a
                          line still share one
    image(memory, moves)  returns the initial memory, with copies of the ranges at their new
                          addresses

New lines are taken from the top of the node's memory, which programs do not reach. Bytes keep their
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
    size, line_bytes = job.machine.node_span, job.machine.line
    new_lines: dict[tuple[int, int], int] = {}
    lines_taken = count(1)
    result = []
    for number, group in enumerate(job.apart):
        for address, length in group:
            line = (number, address // line_bytes)
            if line not in new_lines:
                node = (address - RAM_START) // size
                new_lines[line] = RAM_START + (node + 1) * size - next(lines_taken) * line_bytes
            result.append(Move(address, length, new_lines[line] + address % line_bytes))
    return tuple(sorted(result, key=lambda move: move.address))


def image(memory: Image, moves: Iterable[Move]) -> Image:
    """Returns the memory with moved bytes appended; later parts overwrite earlier ones."""
    return [*memory, *((move.to, _bytes_of_range(memory, move)) for move in moves)]


def _bytes_of_range(memory: Image, move: Move) -> bytes:
    data = bytearray(move.size)
    for address, part in memory:
        begin = max(address, move.address)
        end = min(address + len(part), move.address + move.size)
        if begin < end:
            data[begin - move.address : end - move.address] = part[begin - address : end - address]
    return bytes(data)

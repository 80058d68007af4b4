"""Stores the state of a run, of a workload or of a kernel, in a file.

    write(path, "boot", about, state)     writes the whole file or nothing
    read(path, "boot", About)             returns the command's data `about` the run, and its State

The first line of the file has its schema, digest and size; the second line is JSON, the Head; the
rest is the run's memory as its arena packs it, compressed.  The digest covers everything after the
first line, and nothing is decoded before it has been checked. Invariant: no more bytes are unpacked
than the Head states, and that number is at most the size of an arena. Anyone who can write a file
can write its digest, so loading a state needs as much trust as running a program
(docs/security.md).
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
from itertools import count
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import msgspec

from uncore import _native, engine
from uncore.engine.native.state import State
from uncore.errors import UserError
from uncore.support.output_files import write_whole

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

SCHEMA = "uncore.state/5"
PIECE_BYTES, WORD_BYTES = 1 << 18, 8
MAX_HEAD_BYTES = 1 << 30  # the head contains a program
FIRST_LINE_PATTERN = re.compile(rb"uncore\.state/5 ([0-9a-f]{64}) ([0-9]{1,12})\n")
MAX_FIRST_LINE_BYTES = 128
T = TypeVar("T", bound=msgspec.Struct)


class Head(msgspec.Struct, frozen=True):
    made_by: list[str]  # engine.identity
    command: str  # command that continues the run: run or boot
    at: int  # simulated time of the state, ps
    place: tuple[int, int]  # addresses of the arena in the process
    size: int  # bytes of the packed memory
    about: msgspec.Raw


class DamagedFile(Exception):
    """Raised if the file differs from what `write` wrote."""


def write(path: Path, command: str, about: msgspec.Struct, state: State) -> None:
    packer, packed, size = zstd.ZstdCompressor(level=1), list[bytes](), 0
    for number in count():
        if not (part := state.arena.content(number)):
            break
        packed.append(packer.compress(part))
        size += len(part)
    about_json = msgspec.Raw(msgspec.json.encode(about))
    made_by = engine.identity("native")
    head = Head(made_by, command, state.at, state.arena.place, size, about_json)
    content = b"".join([msgspec.json.encode(head), b"\n", *packed, packer.flush()])
    digest = hashlib.sha256(content).hexdigest()
    write_whole(path, f"{SCHEMA} {digest} {len(content)}\n".encode() + content)


def read(path: Path, command: str, about: type[T]) -> tuple[T, State]:
    try:
        with open(path, "rb") as file:
            _check_digest(file)
            head = msgspec.json.decode(file.readline(MAX_HEAD_BYTES), type=Head)
            _check(path, command, head)
            header = msgspec.json.decode(head.about, type=about)
            arena = _native.Arena.for_restore(*head.place)
            if arena is None:
                raise UserError(f"--from {path}: another saved run has its place in this process")
            _fill(arena, file, head.size)
    except OSError as error:
        raise UserError(f"--from {path}: {error.strerror}; name a file that can be read") from None
    except (DamagedFile, zstd.ZstdError, msgspec.MsgspecError, UnicodeDecodeError):
        raise UserError(
            f"--from {path}: not a saved run, or a damaged one, or another version's; write what"
            f" `uncore {command} --state` of this one wrote"
        ) from None
    return header, State(head.at, arena)


def _check_digest(file: BinaryIO) -> None:
    """Checks the digest, and moves the file's position to the end of its first line."""
    first = FIRST_LINE_PATTERN.fullmatch(file.readline(MAX_FIRST_LINE_BYTES))
    remaining_bytes = os.fstat(file.fileno()).st_size - (file.tell() if first else 0)
    if not first or remaining_bytes != int(first[2]):
        raise DamagedFile
    begin, digest = file.tell(), hashlib.sha256()
    while part := file.read(1 << 20):
        digest.update(part)
    if digest.hexdigest().encode() != first[1]:
        raise DamagedFile
    file.seek(begin)


def _check(path: Path, command: str, head: Head) -> None:
    if head.made_by != engine.identity("native"):
        raise UserError(
            f"--from {path}: saved by another copy of uncore, whose runs this one cannot go on"
            " with; save it again with this one"
        )
    if head.command != command:
        raise UserError(
            f"--from {path}: saved by `uncore {head.command}`; write uncore {head.command} --from"
            f" {path}"
        )


def _fill(arena: Any, file: BinaryIO, size: int) -> None:
    """Fills the arena with exactly `size` bytes."""
    if not _native.Arena.LEAST <= size <= _native.Arena.MOST:
        raise DamagedFile
    unpacker, remainder = zstd.ZstdDecompressor(), b""
    while piece := file.read(PIECE_BYTES):
        if unpacker.eof:
            raise DamagedFile
        content = unpacker.decompress(piece, size + 1)
        size -= len(content)
        content = remainder + content
        word_bytes = len(content) // WORD_BYTES * WORD_BYTES
        if size < 0 or not arena.put(content[:word_bytes]):
            raise DamagedFile
        remainder = content[word_bytes:]
    if size or remainder or not unpacker.eof or unpacker.unused_data:
        raise DamagedFile

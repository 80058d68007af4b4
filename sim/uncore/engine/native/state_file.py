"""The state of a run in a file: what is saved of a workload's run, and of a kernel's.

    write(path, "boot", about, state)     whole or not at all
    read(path, "boot", About)             what was told about it, and its State

The file: a line of its schema, its digest and its size; a line of JSON, the Head; then the run's
memory, compressed part by part, because it may be larger than 4 GiB.  The digest is of all that
follows the first line, and nothing is decoded before it is right.
Invariant: no more memory is taken than the Head says, and that is no more than a State can have.
Whoever can write a file can write its digest: a state is trusted as a program is
(docs/security.md).
"""

from __future__ import annotations

import hashlib
import os
import re
import zlib
from pathlib import Path
from typing import BinaryIO, TypeVar

import msgspec

from uncore import _native, engine
from uncore.engine.native.state import State
from uncore.errors import UserError
from uncore.support.output_files import write_whole

SCHEMA = "uncore.state/3"
PART = 1 << 28  # bytes
LONGEST_HEAD = 1 << 30  # bytes: a program is in it
FIRST = re.compile(rb"uncore\.state/3 ([0-9a-f]{64}) ([0-9]{1,12})\n")
LONGEST_FIRST = 128  # bytes
T = TypeVar("T", bound=msgspec.Struct)


class Head(msgspec.Struct, frozen=True):
    made_by: list[str]  # engine.identity
    command: str  # that goes on with it: run, boot
    at: int  # ps
    place: tuple[int, int]  # as the arena says
    size: int  # of the memory, bytes
    about: msgspec.Raw


class Damaged(Exception):
    """Not what `write` has written."""


def write(path: Path, command: str, about: msgspec.Struct, state: State) -> None:
    memory, packer = memoryview(state.memory), zlib.compressobj(level=1)
    header = msgspec.Raw(msgspec.json.encode(about))
    maker = engine.identity("native")
    head = Head(maker, command, state.at, state.place, len(memory), header)
    parts = [packer.compress(memory[at : at + PART]) for at in range(0, len(memory), PART)]
    content = b"".join([msgspec.json.encode(head), b"\n", *parts, packer.flush()])
    digest = hashlib.sha256(content).hexdigest()
    write_whole(path, f"{SCHEMA} {digest} {len(content)}\n".encode() + content)


def read(path: Path, command: str, about: type[T]) -> tuple[T, State]:
    try:
        with open(path, "rb") as file:
            _check_digest(file)
            head = msgspec.json.decode(file.readline(LONGEST_HEAD), type=Head)
            _check(path, command, head)
            header = msgspec.json.decode(head.about, type=about)
            memory = _memory(file, head.size)
    except OSError as error:
        raise UserError(f"--from {path}: {error.strerror}; name a file that can be read") from None
    except (Damaged, zlib.error, msgspec.MsgspecError, UnicodeDecodeError):
        raise UserError(
            f"--from {path}: not a saved run, or a damaged one, or another version's; write what"
            f" `uncore {command} --state` of this one wrote"
        ) from None
    return header, State(head.at, head.place, memory)


def _check_digest(file: BinaryIO) -> None:
    """Leaves the file after its first line."""
    first = FIRST.fullmatch(file.readline(LONGEST_FIRST))
    rest = os.fstat(file.fileno()).st_size - (file.tell() if first else 0)
    if not first or rest != int(first[2]):
        raise Damaged
    begin, digest = file.tell(), hashlib.sha256()
    while part := file.read(1 << 20):
        digest.update(part)
    if digest.hexdigest().encode() != first[1]:
        raise Damaged
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


def _memory(file: BinaryIO, size: int) -> bytes:
    """Exactly so much."""
    packed = file.read()
    if not _native.Arena.LEAST <= size <= _native.Arena.MOST:
        raise Damaged
    unpacker = zlib.decompressobj()
    memory = unpacker.decompress(packed, size)
    if len(memory) != size or unpacker.decompress(unpacker.unconsumed_tail, 1) or not unpacker.eof:
        raise Damaged
    if unpacker.unused_data:
        raise Damaged
    return memory

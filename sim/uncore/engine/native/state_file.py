"""The state of a run in a file: what is saved of a workload's run, and of a kernel's.

    write(path, "boot", about, state)     whole or not at all
    read(path, "boot", About)             what was told about it, and its State

The file: a line that says what it is, then the run's memory, compressed part by part: it may be
larger than 4 GiB.  It serves the copy of uncore that wrote it.
"""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import TypeVar

import msgspec

from uncore import engine
from uncore.engine.native.state import State
from uncore.errors import UserError
from uncore.support.output_files import write_whole

SCHEMA = "uncore.state/2"
PART = 1 << 28  # bytes
T = TypeVar("T", bound=msgspec.Struct)


class Head(msgspec.Struct, frozen=True):
    schema: str
    made_by: list[str]  # engine.identity
    command: str  # that goes on with it: run, boot
    at: int  # ps
    place: tuple[int, int]  # as the arena says
    about: msgspec.Raw


def write(path: Path, command: str, about: msgspec.Struct, state: State) -> None:
    header = msgspec.Raw(msgspec.json.encode(about))
    head = Head(SCHEMA, engine.identity("native"), command, state.at, state.place, header)
    memory, packer = memoryview(state.memory), zlib.compressobj(level=1)
    parts = [packer.compress(memory[at : at + PART]) for at in range(0, len(memory), PART)]
    write_whole(path, msgspec.json.encode(head) + b"\n" + b"".join([*parts, packer.flush()]))


def read(path: Path, command: str, about: type[T]) -> tuple[T, State]:
    try:
        first, _, rest = path.read_bytes().partition(b"\n")
        head = msgspec.json.decode(first, type=Head)
        _check(path, command, head)
        header, memory = msgspec.json.decode(head.about, type=about), zlib.decompress(rest)
    except OSError as error:
        raise UserError(f"--from {path}: {error.strerror}; name a file that can be read") from None
    except (zlib.error, msgspec.MsgspecError, UnicodeDecodeError):
        raise UserError(
            f"--from {path}: not a saved run, or a damaged one; write what"
            f" `uncore {command} --state` wrote"
        ) from None
    return header, State(head.at, head.place, memory)


def _check(path: Path, command: str, head: Head) -> None:
    if head.schema != SCHEMA or head.made_by != engine.identity("native"):
        raise UserError(
            f"--from {path}: saved by another copy of uncore, whose runs this one cannot go on"
            " with; save it again with this one"
        )
    if head.command != command:
        raise UserError(
            f"--from {path}: saved by `uncore {head.command}`; write uncore {head.command} --from"
            f" {path}"
        )

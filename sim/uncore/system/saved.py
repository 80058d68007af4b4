"""A kernel's run in a file: saved when its shell waits, taken up for one command after the other.

Interface: `begin(boot, saved)`, a run; `save(begun, path)`; `take_up(path)`.
The file: a line that says what it is, then the run's memory, compressed part by part: it may be
larger than 4 GiB.

Invariant: what is typed after a run was taken up has the outcome that it has without saving.
"""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from uncore import _native, engine
from uncore._native import Run
from uncore.errors import UserError
from uncore.files import write_whole
from uncore.system.boot import Boot, parts, start

SCHEMA = "uncore.booted/1"
PART = 1 << 28  # bytes


class Saved(msgspec.Struct, frozen=True):
    schema: str
    made_by: list[str]  # engine.identity
    place: tuple[int, int]  # as the arena says


class Begun(NamedTuple):
    arena: Any  # the run's memory, where it can be saved
    run: Run


def begin(boot: Boot, saved: bool) -> Begun:
    """`saved`: it is to be."""
    if not saved:
        return Begun(None, start(boot))
    arena = _native.Arena.make()
    if arena is None:
        raise UserError("--state: this build, or this host, has no room for a run to be saved")
    return Begun(arena, arena.start(*parts(boot)))


def save(begun: Begun, path: Path) -> None:
    head = Saved(SCHEMA, engine.identity("native"), begun.arena.place)
    memory, packer = memoryview(begun.arena.content()), zlib.compressobj(level=1)
    parts = [packer.compress(memory[at : at + PART]) for at in range(0, len(memory), PART)]
    write_whole(path, msgspec.json.encode(head) + b"\n" + b"".join([*parts, packer.flush()]))


def take_up(path: Path) -> Begun:
    saved, memory = _read(path)
    arena = _native.Arena.again(*saved.place, memory)
    if arena is None:
        raise UserError("--from: another saved run has its place in this process")
    return Begun(arena, arena.run())


def _read(path: Path) -> tuple[Saved, bytes]:
    try:
        head, _, rest = path.read_bytes().partition(b"\n")
        saved, memory = msgspec.json.decode(head, type=Saved), zlib.decompress(rest)
    except OSError as error:
        raise UserError(f"--from {path}: {error.strerror}; name a file that can be read") from None
    except (zlib.error, msgspec.MsgspecError):
        raise UserError(
            f"--from {path}: not a saved boot, or a damaged one; write what --state wrote"
        ) from None
    if saved.schema != SCHEMA or saved.made_by != engine.identity("native"):
        raise UserError(
            f"--from {path}: saved by another copy of uncore, whose runs this one cannot go on"
            " with; save it again with this one"
        )
    return saved, memory

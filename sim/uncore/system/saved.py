"""A kernel's run in a file: saved when its shell waits, taken up for one command after the other.

Interface: `begin(boot, saved)`, a run; `save(begun, path)`; `take_up(path)`.
Invariant: what is typed after a run was taken up has the outcome that it has without saving.
"""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from uncore import _native, engine
from uncore._native import Run
from uncore.engine.native.state import State
from uncore.errors import UserError
from uncore.files import write_whole
from uncore.system.boot import Boot, parts, start

SCHEMA = "uncore.booted/1"


class Saved(msgspec.Struct, frozen=True):
    schema: str
    made_by: list[str]  # engine.identity
    state: State


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
    state = State(begun.run.now, begun.arena.place, begun.arena.content())
    saved = Saved(SCHEMA, engine.identity("native"), state)
    write_whole(path, zlib.compress(msgspec.msgpack.encode(saved), level=1))


def take_up(path: Path) -> Begun:
    state = _read(path).state
    arena = _native.Arena.again(*state.place, state.memory)
    if arena is None:
        raise UserError("--from: another saved run has its place in this process")
    return Begun(arena, arena.run())


def _read(path: Path) -> Saved:
    try:
        saved = msgspec.msgpack.decode(zlib.decompress(path.read_bytes()), type=Saved)
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
    return saved

"""A run in a file: saved at a simulated time, taken up from there as often as one likes.

    save(job, when, path) -> Result         runs a job of one point, and saves it on its way
    take_up(path, parameters) -> Result     goes on, with other values of some parameters

A long start is simulated once, and many variants follow from it.  With the same parameters the
result is that of a run that was never saved, hash and all; with others its job says until when it
had which (`since`).  A file serves the copy of uncore that wrote it.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from uncore import engine
from uncore.engine import NOTHING, Told
from uncore.engine.native import state
from uncore.engine.native.state import State
from uncore.errors import UserError
from uncore.execute import alone
from uncore.files import write_whole
from uncore.job import Job
from uncore.program import Program
from uncore.result import Result

SCHEMA = "uncore.state/1"


class Saved(msgspec.Struct, frozen=True):
    schema: str
    made_by: list[str]  # engine.identity
    job: dict[str, Any]
    program: tuple[str, str, bytes]  # name, path, ELF
    state: State


def save(job: Job, when: int | str, path: Path, told: Told = NOTHING) -> Result:
    if len(list(job.points())) > 1 or job.engine != "native":
        raise UserError(
            "--save-at: one run is saved, of engine native; write one thread count and --repeat 1,"
            " or --seed none"
        )
    point = next(job.points())
    guest = (job.program.name, str(job.program.path), job.program.data)

    def keep(reached: State) -> None:
        saved = Saved(SCHEMA, engine.identity("native"), point.document(), guest, reached)
        write_whole(path, zlib.compress(msgspec.msgpack.encode(saved), level=1))

    return alone(point, lambda job: state.saving(job, when, keep, engine.watched(job, told)))


def take_up(path: Path, parameters: Mapping[str, str], told: Told = NOTHING) -> Result:
    saved = _read(path)
    name, place, data = saved.program
    before = Job.of(saved.job, Program(name, Path(place), data))
    job = before.given({**dict(before.parameters), **parameters})
    if job != before:
        job = replace(job, since=(saved.state.at, before.parameters))
    return alone(job, lambda job: state.taken_up(saved.state, job, engine.watched(job, told)))


def _read(path: Path) -> Saved:
    try:
        saved = msgspec.msgpack.decode(zlib.decompress(path.read_bytes()), type=Saved)
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from None
    except (zlib.error, msgspec.MsgspecError):
        raise UserError(
            f"{path}: not a saved run, or a damaged one; write what `uncore run --save` wrote"
        ) from None
    if saved.schema != SCHEMA or saved.made_by != engine.identity("native"):
        raise UserError(
            f"{path}: saved by another copy of uncore, whose runs this one cannot go on with; save"
            " it again with this one"
        )
    return saved

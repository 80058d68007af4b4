"""Saves finished points on disk, so that a point is loaded instead of being simulated again.

    key(job, engine_options)         hash of a job of one point; equal keys imply equal outcomes
    Store(folder).save(key, point)   saves the point, so that it survives even a power failure
    Store(folder).load(key)          the point, or None

A key is a hash of the machine's numbers, the program's bytes, the parameters, the seed and
everything else in the job, and of this copy of uncore and its engine. So a point that another copy
made is not found. A damaged file, or one of another layout, is ignored. Invariant: after `save` a
folder holds at most `most` bytes, or only the point just saved; the oldest points are deleted.
"""

from __future__ import annotations

import hashlib
import zlib
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from uncore import engine
from uncore.engine import NO_OPTIONS, EngineOptions
from uncore.errors import UserError
from uncore.job import Job
from uncore.result.observed import Observed
from uncore.result.schema import Point, canonical
from uncore.support import paths
from uncore.support.bounded_folder import trim
from uncore.support.output_files import write_whole
from uncore.support.steady import Pace

POINTS_FOLDER = paths.CACHE / "points"
# maximum size of each of 256 folders; a point of a lock on 128 harts takes 5 KB
MAX_FOLDER_BYTES = 1 << 20
LABEL_FIELDS = ("overrides",)  # fields of a job's document whose effect is in the machine's numbers


class SavedPoint(msgspec.Struct, frozen=True):
    """One finished point."""

    point: Point
    seconds: float  # host time
    lines: Observed | None = None  # records of the observer `lines`, if it was on
    traffic: dict[str, list[int]] | None = None  # records of the observer `traffic`
    pace: Pace | None = None  # records of the observer `pace`


def key(job: Job, engine_options: EngineOptions = NO_OPTIONS) -> str:
    """Returns a hash of everything that decides the outcome of a job of a single point."""
    document = {name: value for name, value in job.document().items() if name not in LABEL_FIELDS}
    engine_identity = engine.identity(job.engine, engine_options)
    return hashlib.sha256(canonical([document, engine_identity])).hexdigest()


@dataclass(frozen=True)
class Store:
    folder: Path = field(default_factory=lambda: POINTS_FOLDER)
    most: int = MAX_FOLDER_BYTES

    def save(self, key: str, saved: SavedPoint) -> None:
        """Saves a point; the run continues even if the folder cannot be written."""
        file = self._path(key)
        with suppress(OSError, UserError):
            file.parent.mkdir(parents=True, exist_ok=True)
            write_whole(file, zlib.compress(msgspec.json.encode(saved), level=1))
            trim(file, self.most)

    def load(self, key: str) -> SavedPoint | None:
        try:
            return msgspec.json.decode(
                zlib.decompress(self._path(key).read_bytes()), type=SavedPoint
            )
        except (OSError, zlib.error, msgspec.MsgspecError):
            return None

    def _path(self, key: str) -> Path:
        return self.folder / key[:2] / key

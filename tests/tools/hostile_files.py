"""Edits files of every kind that uncore reads at random, for tests.tools.guests.

file(seed) returns the result for one file: `KIND read` or `KIND refused`. Hashes are computed again
from the edited content, as a forger would do. The memory image of a saved state is read, but the
run is not continued, because a forged state may do anything that a program may do
(docs/security.md).
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
from tests.tools import drawn, fuzz

from uncore import topology
from uncore.engine.native import state_file
from uncore.engine.native.state import State
from uncore.topology import hwloc as written
from uncore_lab.measure import hwloc
from uncore_lab.measure.cpu_tree import lay_out


class Metadata(msgspec.Struct):
    job: str


def _with_file(data: bytes, work: Callable[[Path], object]) -> None:
    with TemporaryDirectory(prefix="uncore-hostile-") as folder:
        path = Path(folder) / "file"
        path.write_bytes(data)
        work(path)


def state(data: bytes) -> None:
    content = data.partition(b"\n")[2]
    digest = hashlib.sha256(content).hexdigest()
    header = f"{state_file.SCHEMA} {digest} {len(content)}\n".encode()
    _with_file(header + content, lambda path: state_file.read(path, "run", Metadata))


def xml(data: bytes) -> None:
    _with_file(data, lambda path: lay_out(hwloc.read(path)))


class _Arena:
    """An arena with a page of zeros."""

    place = (0, 0)

    def content(self, number: int) -> bytes:
        return b"" if number else bytes(1 << 12)


def _state() -> bytes:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        state_file.write(path, "run", Metadata("none"), State(1, _Arena()))
        return path.read_bytes()


@cache
def _valid_files(kind: str) -> list[bytes]:
    if kind == "state":
        return [_state()]
    if kind == "xml":
        return [written.xml(topology.load(name)).encode() for name in ("bus:2", "x5650x2")]
    return fuzz.seeds(kind)


TARGETS: dict[str, fuzz.Target] = {**fuzz.TARGETS, "state": state, "xml": xml}


def file(seed: int) -> str:
    rng = random.Random(seed)
    kind = rng.choice(list(TARGETS))
    data = drawn.corrupted(rng, rng.choice(_valid_files(kind)))
    error = fuzz.survive(TARGETS[kind], data)
    return f"{kind} {'refused' if error else 'read'}"

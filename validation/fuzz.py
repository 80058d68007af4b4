"""Can any file make a reader crash, hang or show a traceback?  `python -m validation.fuzz TARGET`.

Coverage-guided fuzzing with atheris, an optional package (`pip install atheris`):

    elf         a guest program: read, started as an engine would, its names and lines asked for
    result      a saved result: read, and its job made again
    topology    a machine file: read and resolved

Every outcome is a value or an UncoreError; anything else ends the command, and the input that did
it is written to the current folder.  Seeds are the shipped files.  A finding becomes a plain test
of validation/guest, validation/cli or validation/topology.

Interface for tests: TARGETS, each a function of bytes; `seeds(target)`.
Exit status: 0 when `--runs` inputs found nothing, else 1.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from types import ModuleType

import msgspec

from uncore import api, paths, program, topology
from uncore.engine import native
from uncore.errors import UncoreError, UserError
from uncore.job import Job
from uncore.result import Result, save

SECONDS = 20  # of one input: longer is a hang
LARGEST = 1 << 18  # bytes of an input; the seeds are smaller
STEPS = 2_000  # events that a job read from a file is run for

GUESTS = ("counter/atomic", "lock/ticket", "lock/tas")

Target = Callable[[bytes], None]


@contextlib.contextmanager
def _file(data: bytes, name: str) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="uncore-fuzz-") as folder:
        path = Path(folder) / name
        path.write_bytes(data)
        yield path


@cache
def _machine() -> topology.Machine:
    return topology.load("bus:2")


def elf(data: bytes) -> None:
    with _file(data, "x.elf") as path:
        found = program.load(path)
    values = {parameter.name: parameter.show(parameter.default) for parameter in found.params}
    found.canonical(values)
    found.patched_elf(harts=2, values=values)
    for pc in range(found.entry, found.entry + 64, 4):
        found.symbol_at(pc)
        found.source_line(pc)
    _ = found.summary, found.kinds, found.sha256, found.variables
    _begin(api.make_job(_machine(), found, (2,), parameters=values))


def result(data: bytes) -> None:
    """With the hash that belongs to it: whoever edits a file by hand can make that fit too."""
    with contextlib.suppress(msgspec.MsgspecError, ValueError):
        read = msgspec.json.decode(data, type=Result)
        data = msgspec.json.encode(msgspec.structs.replace(read, result_hash=read.computed_hash()))
    with _file(data, "x.json") as path:
        found = api.load_result(path)
    _begin(api.job_again(found))


def topology_(data: bytes) -> None:
    with _file(data, "x.toml") as path:
        topology.load(str(path))


def _begin(job: Job) -> None:
    native.start(job.at(job.threads[0])).step(STEPS)


TARGETS: dict[str, Target] = {"elf": elf, "result": result, "topology": topology_}


def survive(target: Target, data: bytes) -> str:
    """The message of a refusal, or nothing; any other exception is a finding."""
    try:
        target(data)
    except UncoreError as error:
        return str(error)
    return ""


def seeds(name: str) -> list[bytes]:
    """Files as they should be, smallest first."""
    if name == "elf":
        found = [program.find(guest).data for guest in GUESTS]
    elif name == "result":
        found = [_saved(guest) for guest in GUESTS]
    else:
        found = [path.read_bytes() for path in paths.TOPOLOGIES.rglob("*.toml")]
    return sorted(found, key=len)


def _saved(workload: str) -> bytes:
    with _file(b"", "x.json") as path:
        save(api.run(_machine(), workload, (2,), parameters={"ops": 2}), path)
        return path.read_bytes()


def _atheris() -> ModuleType:
    try:
        return importlib.import_module("atheris")
    except ImportError:
        raise UserError(
            "needs atheris, which is not installed; write pip install atheris"
        ) from None


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="validation.fuzz")
    parser.add_argument("target", choices=list(TARGETS))
    parser.add_argument("--runs", type=int, default=10_000, help="inputs; -1: until interrupted")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args(words)
    atheris = _atheris()
    atheris.instrument_all()
    target = TARGETS[asked.target]

    def one(data: bytes) -> None:
        survive(target, data)

    with tempfile.TemporaryDirectory(prefix="uncore-seeds-") as corpus:
        for number, data in enumerate(seeds(asked.target)):
            (Path(corpus) / f"{number}").write_bytes(data)
        limits = [f"-runs={asked.runs}", f"-seed={asked.seed}", f"-timeout={SECONDS}"]
        atheris.Setup([parser.prog, *limits, f"-max_len={LARGEST}", corpus], one)
        atheris.Fuzz()
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except UserError as error:
        sys.exit(f"validation.fuzz: {error}")

"""Can any file make a reader crash, hang or show a traceback? `python -m tests.tools.fuzz TARGET`.

Coverage-guided fuzzing with atheris, an optional package (`pip install atheris`):

    elf         a guest program: read as an engine would, then its names and lines looked up
    result      a saved result: read, and its job made again
    topology    a machine file: read and resolved
    job         a valid job with changed numbers, as the native reader sees it

Every outcome must be a value or an UncoreError. Any other outcome ends the command, and the input
that caused it is written to the current folder. Seeds are the shipped files and the inputs in
tests/corpus, which earlier runs found and the tests replay (`--keep` adds to it). A finding is then
made a plain test of tests/guest, tests/cli or tests/topology.

Interface for tests: TARGETS, each a function of bytes; `seeds(target)`; `corpus(target)`. The exit
status is 0 if `--runs` inputs, or those of `--seconds`, found nothing, otherwise 1.
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
from typing import Any

import msgspec
from tests.tools import edits

from uncore import api, program, topology
from uncore.engine import native
from uncore.errors import UncoreError, UserError
from uncore.execution import request
from uncore.execution.rerun import job_again
from uncore.job import Job
from uncore.program import build
from uncore.result import Result, save
from uncore.support import paths

INPUT_TIMEOUT_S = 20  # an input that takes longer counts as a hang
MAX_INPUT_BYTES = 1 << 18  # maximum size of an input in bytes; all seeds are smaller
MAX_EVENTS = 2_000  # events after which a job from a file is stopped

GUESTS = ("counter/atomic", "lock/ticket", "lock/tas")
CORPUS = Path(__file__).with_name("corpus")  # has a folder for each target
# The jobs that the target `job` edits: with one resolver and with several, with siblings, and with
# every kind of data cache, directory and register.
JOBS = (
    ("bus:2", "counter/atomic", (), False),
    ("ring:3", "lock/ticket", ("system.data=inclusive 4KiB 2-way 10cy",), False),
    (
        "ccx:2x2",
        "counter/atomic",
        (
            "core.atomics=far",
            "ccx.data=inclusive 1KiB 1-way 10cy",
            "system.resolver.entries=32",
            "system.resolver.ways=2",
        ),
        False,
    ),
    ("mesh:2x2", "ipi/broadcast", ("interrupt.multicast=yes",), False),
    ("atomd510", "lock/tas", ("core.lr=shared",), True),
)

Target = Callable[[bytes], None]


@contextlib.contextmanager
def _temporary_file(data: bytes, name: str) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="uncore-fuzz-") as folder:
        path = Path(folder) / name
        path.write_bytes(data)
        yield path


@cache
def _machine() -> topology.Machine:
    return topology.load("bus:2")


def elf(data: bytes) -> None:
    with _temporary_file(data, "x.elf") as path:
        program_ = program.load(path)
    values = {parameter.name: parameter.show(parameter.default) for parameter in program_.params}
    program_.canonical(values)
    program_.patched_elf(harts=2, values=values)
    for pc in range(program_.entry, program_.entry + 64, 4):
        program_.symbol_at(pc)
        program_.source_line(pc)
    _ = program_.summary, program_.kinds, program_.sha256, program_.variables
    _run_briefly(request.make_job(_machine(), program_, (2,), parameters=values))


def result(data: bytes) -> None:
    """Reads a saved result whose hash was computed again after the edit, as a forger would do."""
    with contextlib.suppress(msgspec.MsgspecError, ValueError):
        read = msgspec.json.decode(data, type=Result)
        data = msgspec.json.encode(msgspec.structs.replace(read, result_hash=read.computed_hash()))
    with _temporary_file(data, "x.json") as path:
        loaded = api.load_result(path)
    _run_briefly(job_again(loaded))


def topology_(data: bytes) -> None:
    with _temporary_file(data, "x.toml") as path:
        topology.load(str(path))


def job(data: bytes) -> None:
    """Runs an edited job. The first byte selects the job, the others select its changes."""
    documents = _documents()
    document = documents[data[0] % len(documents)] if data else documents[0]
    changed = edits.edited(document, edits.changes_from(document, data[1:]))
    _run_briefly(Job.of(changed, program.find(document["program"]["name"])))


@cache
def _documents() -> list[dict[str, Any]]:
    return [
        request.make_job(topology.load(machine, words), guest, (2,), smt=smt).document()
        for machine, guest, words, smt in JOBS
    ]


def _run_briefly(job: Job) -> None:
    native.start(job.at(job.threads[0]), native.OBSERVERS).step(MAX_EVENTS)


TARGETS: dict[str, Target] = {"elf": elf, "result": result, "topology": topology_, "job": job}


def survive(target: Target, data: bytes) -> str:
    """Returns the message of an UncoreError, or "". Any other exception is a finding."""
    try:
        target(data)
    except UncoreError as error:
        return str(error)
    return ""


def seeds(name: str) -> list[bytes]:
    """Returns valid inputs, smallest first. For `elf` they include a program without debug
    information.
    """
    inputs: list[bytes] = []
    if name == "elf":
        inputs = [program.find(guest).data for guest in GUESTS] + [
            _without_debug_information(GUESTS[0])
        ]
    elif name == "result":
        inputs = [_saved(guest) for guest in GUESTS]
    elif name == "topology":
        inputs = [path.read_bytes() for path in paths.TOPOLOGIES.rglob("*.toml")]
    else:
        inputs = [bytes([number]) for number in range(len(JOBS))]
    return sorted(inputs, key=len)


def corpus(name: str) -> list[bytes]:
    """Returns the inputs in tests/corpus for this target."""
    return [path.read_bytes() for path in sorted((CORPUS / name).glob("*"))]


def _without_debug_information(workload: str) -> bytes:
    small = build.Target(build.ZIG_CC, "guest", (*build.TARGET, *build.BARE_METAL_OPTIONS, "-g0"))
    with _temporary_file(b"", "x.elf") as path:
        build.build(paths.WORKLOADS / f"{workload}.c", path, for_=small)
        return path.read_bytes()


def _saved(workload: str) -> bytes:
    with _temporary_file(b"", "x.json") as path:
        save(api.run(_machine(), workload, (2,), parameters={"ops": 2}), path)
        return path.read_bytes()


def _atheris() -> ModuleType:
    try:
        return importlib.import_module("atheris")
    except ImportError:
        raise UserError(
            "needs atheris, which is not installed; write pip install atheris"
        ) from None


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="tests.tools.fuzz")
    parser.add_argument("target", choices=list(TARGETS))
    parser.add_argument("--runs", type=int, default=10_000, help="inputs; -1: until interrupted")
    parser.add_argument("--seconds", type=int, default=0, help="at most; 0: no limit")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="folder for inputs that reach something new")
    arguments = parser.parse_args(argv)
    atheris = _atheris()
    atheris.instrument_all()
    target = TARGETS[arguments.target]

    def run_input(data: bytes) -> None:
        survive(target, data)

    with tempfile.TemporaryDirectory(prefix="uncore-seeds-") as folder:
        for number, data in enumerate(seeds(arguments.target) + corpus(arguments.target)):
            (Path(folder) / f"{number}").write_bytes(data)
        limits = [
            f"-runs={arguments.runs}",
            f"-seed={arguments.seed}",
            f"-timeout={INPUT_TIMEOUT_S}",
        ]
        limits += [f"-max_total_time={arguments.seconds}", f"-max_len={MAX_INPUT_BYTES}"]
        # atheris writes new inputs to the first folder
        folders = [str(arguments.keep)] if arguments.keep else []
        atheris.Setup([parser.prog, *limits, *folders, folder], run_input)
        atheris.Fuzz()
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except UserError as error:
        sys.exit(f"tests.tools.fuzz: {error}")

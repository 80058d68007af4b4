"""Random invocations for tests.tools.invocations: arguments, files, and signals or full disks.

    files()                         the files to edit: ELFs, machine files, a saved result
    DRAWS[kind].make(rng, files)    a Plan
    DRAWS[kind].weight              its relative frequency

Every run is short: it has few operations, a small machine, and limits.
"""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from uncore import api, program
from uncore.result import save
from uncore.support import paths

LIMITS = ["--max-time", "200us", "--max-host", "10s"]
HOSTILE = (
    "", "-1", "0", "1", "2", "1,2", "1..4", "max", "none", "1e9", "99999999999999999999", "nan",
    "\0x", "-", "--", "=", "a=b", "a=", "hold=50ns", "ops=3", "ops=-1", "ops=1e3",
    "core.atomic=1ns", "core.atomic=-1ns", "18446745s", "0s", "1ps", "4611687s", "x.c", "x.elf",
    "r.json", "r.parquet", "/dev/null", "/dev/zero", "/", ".", "m.toml", "p.png", "p.svg",
    "m.csv", "l.parquet", "é\x1b[2J", "\u202e", "bus:2", "bus:0", "bus:99999999", "ring:3",
    "mesh:2x2", "ccx:2x2", "mesh:0x0", "nowhere", "counter/atomic", "lock/ticket",
    "lock/nothing", "native", "reference", "sst", "host", "node0", "node99", "interleave",
    "first-touch", "pair", "hash", "compact", "scatter", "0-1", "5-2",
)  # fmt: skip
OPTIONS = (
    "--threads", "--set", "--with", "--place", "--home", "--slices", "--watchdog", "--seed",
    "--repeat", "--engine", "--slow", "--cores", "--output", "--log", "--plot", "--csv",
    "--json", "--lines", "--again", "--smt", "--max-time", "--max-memory", "--max-host",
    "--ipi", "--sample", "--keys", "--help", "--wide", "--nonsense", "-o", "--machine",
    "--against", "--engines", "--resume",
)  # fmt: skip
COMMANDS = (
    "list", "engines", "show", "run", "sweep", "matrix", "lines", "conflicts", "scaling", "compare",
    "diff-engines", "export", "crosscheck", "nothing", "",
)  # fmt: skip
MACHINES = ("bus:2", "ring:3", "mesh:2x2", "ccx:2x2")
WORKLOADS = ("counter/atomic", "lock/ticket", "lock/mcs", "refcount/atomic")
READERS = (
    ["lines", "FILE"], ["scaling", "FILE"], ["run", "--again", "FILE"], ["compare", "FILE", "FILE"],
)  # fmt: skip
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGKILL)


@dataclass
class Plan:
    words: list[str]
    files: dict[str, bytes] = field(default_factory=dict)
    # existing files that the command may overwrite
    outputs: list[str] = field(default_factory=list)
    # a signal, and the seconds after which it is sent
    kill: tuple[signal.Signals, float] | None = None
    free_bytes: int | None = None  # bytes that can be written until the disk is full


class Files(NamedTuple):
    elves: list[bytes]
    machines: list[bytes]
    results: dict[str, bytes]


class Draw(NamedTuple):
    weight: int
    make: Callable[[random.Random, Files], Plan]


def files() -> Files:
    programs = [program.find(name).data for name in WORKLOADS]
    machines = [path.read_bytes() for path in sorted(paths.TOPOLOGIES.glob("*.toml"))]
    results = {name: in_child_process(partial(_saved, name)) for name in ("x.json", "x.parquet")}
    return Files(programs, [machine for machine in machines if len(machine) < 4000], results)


def _saved(name: str) -> bytes:
    result = api.run("bus:2", "lock/ticket", (1, 2), parameters={"ops": 2}, seeds=())
    with TemporaryDirectory() as folder:
        save(result, Path(folder) / name)
        return (Path(folder) / name).read_bytes()


def in_child_process(work: Callable[[], bytes]) -> bytes:
    """Runs the work in a child process, because polars' threads do not survive a later fork."""
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        with open(write_end, "wb") as out:
            out.write(work())
        os._exit(0)
    os.close(write_end)
    with open(read_end, "rb") as pipe:
        reply = pipe.read()
    os.waitpid(child, 0)
    return reply


def corrupted(rng: random.Random, data: bytes, alphabet: bytes = bytes(range(256))) -> bytes:
    """Returns the data with some bytes changed, removed or doubled, or with the end cut off."""
    new = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 4, 16))):
        offset, size = rng.randrange(len(new) or 1), rng.choice((1, 1, 2, 8, 64))
        match rng.randrange(4):
            case 0:
                new[offset : offset + size] = rng.choices(alphabet, k=size)
            case 1:
                del new[offset : offset + size]
            case 2:
                new[offset:offset] = new[offset : offset + size]
            case 3 if rng.random() < 0.2:
                del new[offset:]
    return bytes(new)


def arguments(rng: random.Random, files: Files) -> Plan:
    arguments = [rng.choice(COMMANDS)]
    if rng.random() < 0.7:
        arguments += [rng.choice(MACHINES), rng.choice(WORKLOADS), *rng.choice(([], LIMITS))]
    for _ in range(rng.choice((0, 0, 0, 1, 2, 4))):
        arguments.insert(rng.randrange(1, len(arguments) + 1), rng.choice(HOSTILE))
    for _ in range(rng.randrange(4)):
        arguments += [rng.choice(OPTIONS), rng.choice(HOSTILE)]
    if rng.random() < 0.1:
        rng.shuffle(arguments)
    arguments = [word.replace("\0", "") for word in arguments]
    return Plan(arguments, {"x.elf": files.elves[0], "r.json": files.results["x.json"]})


def topologies(rng: random.Random, files: Files) -> Plan:
    text = corrupted(rng, rng.choice(files.machines), b'0123456789abcxyz=[]{}".,:# \n-')
    arguments = rng.choice((["show", "m.toml"], ["show", "m.toml", "--keys"], ["run", "m.toml"]))
    run = ["counter/atomic", "--set", "ops=2", "--repeat", "1", *LIMITS]
    return Plan([*arguments, *(run if arguments[0] == "run" else ())], {"m.toml": text})


def elves(rng: random.Random, files: Files) -> Plan:
    arguments = ["run", rng.choice(MACHINES), "x.elf", "--threads", "2", "--repeat", "1", *LIMITS]
    arguments += ["--watchdog", "50us", *rng.choice(([], ["--lines", "--output", "r.json"]))]
    arguments += rng.choice(([], ["--engine", "reference"]))
    outputs = ["r.json"] if "--output" in arguments else []
    return Plan(arguments, {"x.elf": corrupted(rng, rng.choice(files.elves))}, outputs)


def results(rng: random.Random, files: Files) -> Plan:
    name, content = rng.choice(list(files.results.items()))
    arguments = [word.replace("FILE", name) for word in rng.choice(READERS)]
    return Plan(arguments, {name: corrupted(rng, content)})


def _output_arguments(rng: random.Random) -> tuple[list[str], list[str]]:
    """Returns the arguments of a run or a matrix that writes files, and the names of these
    files.
    """
    if rng.random() < 0.3:
        names = {"--csv": "m.csv", "--plot": rng.choice(("p.png", "p.svg", "p.pdf"))}
        arguments = ["matrix", rng.choice(MACHINES)]
    else:
        output = rng.choice(("r.json", "r.parquet"))
        names = {"--output": output, "--log": "l.parquet", "--plot": "p.svg"}
        arguments = ["run", rng.choice(MACHINES), rng.choice(WORKLOADS), "--threads", "1,2"]
        arguments += ["--set", "ops=5", "--repeat", "1", "--cores", rng.choice("12")]
    names = {option: name for option, name in names.items() if rng.random() < 0.6}
    return [*arguments, *(word for pair in names.items() for word in pair)], list(names.values())


def disks(rng: random.Random, files: Files) -> Plan:
    arguments, outputs = _output_arguments(rng)
    return Plan(arguments, {}, outputs, free_bytes=int(2 ** rng.uniform(0, 18)))


def signals(rng: random.Random, files: Files) -> Plan:
    arguments = ["run", "bus:4", rng.choice(WORKLOADS), "--threads", "1,2,4", "--set", "ops=3000"]
    arguments += ["--cores", rng.choice("12"), "--output", "r.json"]
    outputs = ["r.json"]
    if rng.random() < 0.25:
        arguments, outputs = ["matrix", "ring:24", "--csv", "m.csv"], ["m.csv"]
    return Plan(arguments, {}, outputs, kill=(rng.choice(ENDING), rng.uniform(0, 0.6)))


DRAWS = {
    "arguments": Draw(40, arguments),
    "topologies": Draw(18, topologies),
    "elves": Draw(14, elves),
    "results": Draw(14, results),
    "disks": Draw(7, disks),
    "signals": Draw(7, signals),
}

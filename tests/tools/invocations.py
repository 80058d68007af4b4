"""Does any invocation of `uncore` show a traceback, leave an orphan or half a file, or lose a
point?

    python -m tests.tools.invocations --runs 10000 --seed 1

Each invocation depends on the seed and its number (`--only 4711` repeats one).  Arguments, machine
files, ELFs and results are edited at random; signals come at a random moment; a disk is full after
a random number of bytes.  Most run in a process forked from one that has imported everything, which
costs tens of ms; every `--separate`-th is started as a new process.

A finding is: a traceback; a status that docs/cli.md does not list; no end within
INVOCATION_TIMEOUT_S; a process that outlives the command; a file that is neither the old one nor
whole; a finished point that is not in the saved result.  Exit status: 0 if there is none, else 1.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import os
import random
import resource
import select
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import NoReturn

import matplotlib
from cyclopts import App
from tests.tools.drawn import DRAWS, Plan, apart, files

from uncore import result
from uncore.cli import app as cli
from uncore.cli import finish
from uncore.cli.commands import COMMANDS
from uncore.errors import UncoreError
from uncore.execution import execute
from uncore.support.signals import ENDING

INVOCATION_TIMEOUT_S = 60  # generous, because the host may be busy
KNOWN = {0, 1, 2, 3, 130}
START = 3.0  # seconds that a new process takes until it handles signals
ENDS = {".png": b"IEND\xaeB`\x82", ".svg": b"</svg>\n", ".pdf": b"%%EOF\n", ".csv": b"\n"}
LATE = {f"matplotlib.backends.backend_{name}" for name in ("agg", "svg", "pdf")}
LATE |= {"matplotlib.pyplot", "polars", "uncore.engine.reference.system", "uncore.result.frame"}
# The process that saves points writes a line to this file for each finished point.
FINISHED = "finished"
BEFORE = b"what stood there before"


@dataclass
class Ended:
    """The end of an invocation: its status, its output, and the findings."""

    status: int
    said: str
    found: list[str] = field(default_factory=list)


def invoke(plan: Plan, separate: bool) -> Ended:
    with tempfile.TemporaryDirectory(prefix="uncore-invoked-") as folder:
        directory = Path(folder)
        for name, content in plan.files.items():
            (directory / name).write_bytes(content)
        for name in plan.outputs:
            (directory / name).write_bytes(BEFORE)
        reads, writes = os.pipe()
        signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)  # unblocked when the command handles them
        child = os.fork()
        if child == 0:
            os.close(reads)
            _child(plan, directory, writes, separate)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
        os.close(writes)
        ended = _watch(child, reads, plan, START if separate else 0)
        ended.found += _left(child, directory, plan, ended)
        return ended


# ---- In the child --------------------------------------------------------------------------------


def _child(plan: Plan, directory: Path, says: int, separate: bool) -> NoReturn:
    os.setsid()
    os.chdir(directory)
    os.dup2(says, 1)
    os.dup2(says, 2)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    if plan.room is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (plan.room, plan.room))
    if separate:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
        os.execv(sys.executable, [sys.executable, "-m", "uncore", *plan.words])
    sys.stdout, sys.stderr = open(1, "w", closefd=False), open(2, "w", closefd=False)  # noqa: SIM115
    sys.argv = ["uncore", *plan.words]
    _listen_late()
    if plan.room is None:
        _note_points()
    status = 99
    try:
        cli.main(plan.words)
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else 99
    except BaseException:  # the interpreter would print a traceback for each of them
        traceback.print_exc()
    for stream in (sys.stdout, sys.stderr):
        if not stream.closed:
            stream.flush()
    os._exit(status)


def _listen_late() -> None:
    """Unblocks signals only when the command has begun to handle them."""
    plain = cli._app

    def app(arguments: list[str]) -> App:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
        return plain(arguments)

    cli._app = app


def _note_points() -> None:
    """Writes a line to FINISHED for each finished point before the command saves it."""
    file = os.open(FINISHED, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    plain = execute.execute

    def noting(jobs: object, cores: int, done: Callable[..., None], *more: object, **named: object):  # type: ignore[no-untyped-def]
        def both(job: object, point: object) -> None:
            os.write(file, b".\n")
            done(job, point)

        return plain(jobs, cores, both, *more, **named)  # type: ignore[arg-type]

    finish.execute = noting  # type: ignore[assignment]


def _import_all() -> None:
    """Imports everything that the children need, without starting a thread."""
    matplotlib.use("agg")
    for module in {command.path.partition(":")[0] for command in COMMANDS.values()} | LATE:
        importlib.import_module(module)
    gc.freeze()


# ---- In the parent -------------------------------------------------------------------------------


def _watch(child: int, reads: int, plan: Plan, start: float) -> Ended:
    """Watches the child until it has ended or taken too long."""
    begun, output, sent = time.monotonic(), b"", plan.kill is None
    status = None
    while status is None:
        passed = time.monotonic() - begun
        if not sent and plan.kill and passed >= start + plan.kill[1]:
            os.kill(child, plan.kill[0])
            sent = True
        if passed > INVOCATION_TIMEOUT_S:
            os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return Ended(-9, output.decode(errors="replace"), ["hangs"])
        if select.select([reads], [], [], 0.005)[0]:
            output += os.read(reads, 1 << 16)
            time.sleep(0 if output else 0.005)
        ended, code = os.waitpid(child, os.WNOHANG)
        status = os.waitstatus_to_exitcode(code) if ended else None
    while select.select([reads], [], [], 0)[0] and (more := os.read(reads, 1 << 16)):
        output += more
    os.close(reads)
    return Ended(status, output.decode(errors="replace"))


def _left(child: int, directory: Path, plan: Plan, ended: Ended) -> Iterator[str]:
    if "Traceback" in ended.said or "Exception ignored" in ended.said:
        yield "traceback"
    killed = plan.kill is not None and ended.status == -plan.kill[0]
    if ended.status not in KNOWN and not killed and "hangs" not in ended.found:
        yield f"status {ended.status}"
    if orphans := _orphans(child):
        yield f"orphans {orphans}"
    for name in plan.outputs:
        if why := _half(directory / name):
            yield f"{name} is half: {why}"
    if plan.kill is None or plan.kill[0] in ENDING:
        yield from (f"{p.name} is left" for p in directory.glob(".*") if plan.outputs)
    if plan.kill and ended.status == 130:
        yield from _lost(directory, plan)


def _orphans(session: int) -> list[int]:
    """Returns the processes of the command that still exist some time after its end."""
    for _ in range(40):
        there = []
        for entry in filter(str.isdecimal, os.listdir("/proc")):
            try:
                fields = Path(f"/proc/{entry}/stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if fields[3] == str(session) and fields[0] != "Z":
                there.append(int(entry))
        if not there:
            return []
        time.sleep(0.05)
    for number in there:
        os.kill(number, signal.SIGKILL)
    return there


def _half(path: Path) -> str:
    try:
        content = path.read_bytes()
        if content == BEFORE:
            return ""
        if path.name.startswith("r."):
            return apart(partial(_unread, path)).decode()
        elif path.suffix == ".parquet":
            return "" if content[:4] == content[-4:] == b"PAR1" else "no Parquet"
        elif not content.endswith(ENDS[path.suffix]):
            return "its end is missing"
    except OSError as error:
        return str(error)
    return ""


def _unread(path: Path) -> bytes:
    try:
        result.load(path)
    except UncoreError as error:
        return str(error).encode()
    return b""


def _lost(directory: Path, plan: Plan) -> Iterator[str]:
    log, saved = directory / FINISHED, directory / "r.json"
    finished = log.read_bytes().count(b"\n") if log.exists() else 0
    if "r.json" in plan.outputs and finished:
        overwritten = saved.read_bytes() != BEFORE
        there = len(result.load(saved).points) if overwritten else 0
        if there < finished:
            yield f"{finished - there} of {finished} finished points lost"


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="tests.tools.invocations")
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0, help="number of the first one")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, help="this one, and what it said")
    parser.add_argument("--separate", type=int, default=100, help="a process of its own, each nth")
    arguments = parser.parse_args(words)
    cache = tempfile.mkdtemp(prefix="uncore-cache-")
    os.environ["XDG_CACHE_HOME"] = cache
    material = files()
    _import_all()
    first, last = arguments.first, arguments.first + arguments.runs
    numbers = range(first, last) if arguments.only is None else [arguments.only]
    counts: Counter[str] = Counter()
    for number in numbers:
        rng = random.Random(f"{arguments.seed} {number}")
        kind = rng.choices(list(DRAWS), [draw.weight for draw in DRAWS.values()])[0]
        plan = DRAWS[kind].make(rng, material)
        ended = invoke(plan, separate=number % arguments.separate == arguments.separate - 1)
        counts[f"{kind} {ended.status}"] += 1
        counts["findings"] += bool(ended.found)
        if ended.found or arguments.only is not None:
            print(f"{number} {kind}: {'; '.join(ended.found)}\n  uncore {' '.join(plan.words)!r}")
            print("  " + "\n  ".join(ended.said.splitlines()[-12:]), flush=True)
    shutil.rmtree(cache, ignore_errors=True)
    findings = counts.pop("findings")
    print(f"{len(numbers)} invocations, {findings} findings")
    print("\n".join(f"  {what:20} {count}" for what, count in sorted(counts.items())))
    return bool(findings)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Does any invocation of `uncore` show a traceback, leave an orphan or half a file, or lose a
point?

    python -m tests.tools.invocations --runs 10000 --seed 1

Each invocation depends on the seed and its number (`--only 4711` repeats one). Arguments, machine
files, ELFs and results are edited at random; signals come at a random time; a disk is full after a
random number of bytes. Most invocations run in a process forked from one that has imported
everything, which costs tens of ms. Every `--separate`-th invocation starts a new process.

A finding is: a traceback; a status that docs/cli.md does not list; no end within
INVOCATION_TIMEOUT_S; a process that outlives the command; a file that is neither the old one nor
complete; a finished point that is not in the saved result. The exit status is 0 if there is no
finding, otherwise 1.
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
from tests.tools.drawn import DRAWS, Plan, files, in_child_process

from uncore import result
from uncore.cli import app as cli
from uncore.cli import finish
from uncore.cli.commands import COMMANDS
from uncore.errors import UncoreError
from uncore.execution import execute
from uncore.support.signals import ENDING

INVOCATION_TIMEOUT_S = 60  # generous, because the host may be busy
KNOWN_STATUSES = {0, 1, 2, 3, 130}
START_S = 3.0  # seconds until a new process handles signals
FILE_ENDS = {".png": b"IEND\xaeB`\x82", ".svg": b"</svg>\n", ".pdf": b"%%EOF\n", ".csv": b"\n"}
LAZY_MODULES = {f"matplotlib.backends.backend_{name}" for name in ("agg", "svg", "pdf")}
LAZY_MODULES |= {
    "matplotlib.pyplot",
    "polars",
    "uncore.engine.reference.system",
    "uncore.result.frame",
}
# name of a file to which the process that saves points writes a line for each finished point
FINISHED_POINTS = "finished"
OLD_CONTENT = b"old content"


@dataclass
class Ended:
    """The end of an invocation: its status, its output and the findings."""

    status: int
    output: str
    findings: list[str] = field(default_factory=list)


def invoke(plan: Plan, separate: bool) -> Ended:
    with tempfile.TemporaryDirectory(prefix="uncore-invoked-") as folder:
        directory = Path(folder)
        for name, content in plan.files.items():
            (directory / name).write_bytes(content)
        for name in plan.outputs:
            (directory / name).write_bytes(OLD_CONTENT)
        read_end, write_end = os.pipe()
        # the child unblocks them when it handles them
        signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
        child = os.fork()
        if child == 0:
            os.close(read_end)
            _child(plan, directory, write_end, separate)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
        os.close(write_end)
        ended = _watch(child, read_end, plan, START_S if separate else 0)
        ended.findings += _findings(child, directory, plan, ended)
        return ended


# ---- In the child --------------------------------------------------------------------------------


def _child(plan: Plan, directory: Path, write_end: int, separate: bool) -> NoReturn:
    os.setsid()
    os.chdir(directory)
    os.dup2(write_end, 1)
    os.dup2(write_end, 2)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    if plan.free_bytes is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (plan.free_bytes, plan.free_bytes))
    if separate:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
        os.execv(sys.executable, [sys.executable, "-m", "uncore", *plan.words])
    sys.stdout, sys.stderr = open(1, "w", closefd=False), open(2, "w", closefd=False)  # noqa: SIM115
    sys.argv = ["uncore", *plan.words]
    _unblock_signals_late()
    if plan.free_bytes is None:
        _note_points()
    status = 99
    try:
        cli.main(plan.words)
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else 99
    except BaseException:  # the interpreter prints a traceback for any exception
        traceback.print_exc()
    for stream in (sys.stdout, sys.stderr):
        if not stream.closed:
            stream.flush()
    os._exit(status)


def _unblock_signals_late() -> None:
    """Makes the command unblock signals only when it has begun to handle them."""
    original = cli._app

    def app(arguments: list[str]) -> App:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
        return original(arguments)

    cli._app = app


def _note_points() -> None:
    """Writes a line to FINISHED_POINTS for each finished point, before the command saves it."""
    file = os.open(FINISHED_POINTS, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    original = execute.execute

    def wrapper(
        jobs: object, cores: int, done: Callable[..., None], *options: object, **named: object
    ):  # type: ignore[no-untyped-def]
        def note_and_pass_on(job: object, point: object) -> None:
            os.write(file, b".\n")
            done(job, point)

        return original(jobs, cores, note_and_pass_on, *options, **named)  # type: ignore[arg-type]

    finish.execute = wrapper  # type: ignore[assignment]


def _import_all() -> None:
    """Imports everything that the children need, without starting a thread."""
    matplotlib.use("agg")
    for module in {command.path.partition(":")[0] for command in COMMANDS.values()} | LAZY_MODULES:
        importlib.import_module(module)
    gc.freeze()


# ---- In the parent -------------------------------------------------------------------------------


def _watch(child: int, read_end: int, plan: Plan, start: float) -> Ended:
    """Waits until the child has ended. Kills it if it takes too long."""
    start_time, output, sent = time.monotonic(), b"", plan.kill is None
    status = None
    while status is None:
        elapsed = time.monotonic() - start_time
        if not sent and plan.kill and elapsed >= start + plan.kill[1]:
            os.kill(child, plan.kill[0])
            sent = True
        if elapsed > INVOCATION_TIMEOUT_S:
            os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return Ended(-9, output.decode(errors="replace"), ["hangs"])
        if select.select([read_end], [], [], 0.005)[0]:
            output += os.read(read_end, 1 << 16)
            time.sleep(0 if output else 0.005)
        ended, code = os.waitpid(child, os.WNOHANG)
        status = os.waitstatus_to_exitcode(code) if ended else None
    while select.select([read_end], [], [], 0)[0] and (options := os.read(read_end, 1 << 16)):
        output += options
    os.close(read_end)
    return Ended(status, output.decode(errors="replace"))


def _findings(child: int, directory: Path, plan: Plan, ended: Ended) -> Iterator[str]:
    """Yields what is wrong with an invocation that has ended."""
    if "Traceback" in ended.output or "Exception ignored" in ended.output:
        yield "traceback"
    killed = plan.kill is not None and ended.status == -plan.kill[0]
    if ended.status not in KNOWN_STATUSES and not killed and "hangs" not in ended.findings:
        yield f"status {ended.status}"
    if orphans := _orphans(child):
        yield f"orphans {orphans}"
    for name in plan.outputs:
        if reason := _damage(directory / name):
            yield f"{name} is half: {reason}"
    if plan.kill is None or plan.kill[0] in ENDING:
        yield from (f"{path.name} is left" for path in directory.glob(".*") if plan.outputs)
    if plan.kill and ended.status == 130:
        yield from _lost_points(directory, plan)


def _orphans(session: int) -> list[int]:
    """Returns the processes of the command that still exist two seconds after its end, and kills
    them.
    """
    for _ in range(40):
        remaining = []
        for entry in filter(str.isdecimal, os.listdir("/proc")):
            try:
                fields = Path(f"/proc/{entry}/stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if fields[3] == str(session) and fields[0] != "Z":
                remaining.append(int(entry))
        if not remaining:
            return []
        time.sleep(0.05)
    for number in remaining:
        os.kill(number, signal.SIGKILL)
    return remaining


def _damage(path: Path) -> str:
    """Returns why a file is neither the old one nor complete, or "" if it is one of them."""
    try:
        content = path.read_bytes()
        if content == OLD_CONTENT:
            return ""
        if path.name.startswith("r."):
            return in_child_process(partial(_read_error, path)).decode()
        elif path.suffix == ".parquet":
            return "" if content[:4] == content[-4:] == b"PAR1" else "no Parquet"
        elif not content.endswith(FILE_ENDS[path.suffix]):
            return "its end is missing"
    except OSError as error:
        return str(error)
    return ""


def _read_error(path: Path) -> bytes:
    try:
        result.load(path)
    except UncoreError as error:
        return str(error).encode()
    return b""


def _lost_points(directory: Path, plan: Plan) -> Iterator[str]:
    log, saved = directory / FINISHED_POINTS, directory / "r.json"
    finished = log.read_bytes().count(b"\n") if log.exists() else 0
    if "r.json" in plan.outputs and finished:
        overwritten = saved.read_bytes() != OLD_CONTENT
        saved_count = len(result.load(saved).points) if overwritten else 0
        if saved_count < finished:
            yield f"{finished - saved_count} of {finished} finished points lost"


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="tests.tools.invocations")
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0, help="number of the first one")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, help="this one, and what it said")
    parser.add_argument("--separate", type=int, default=100, help="a process of its own, each nth")
    arguments = parser.parse_args(argv)
    cache = tempfile.mkdtemp(prefix="uncore-cache-")
    os.environ["XDG_CACHE_HOME"] = cache
    files_ = files()
    _import_all()
    first, last = arguments.first, arguments.first + arguments.runs
    numbers = range(first, last) if arguments.only is None else [arguments.only]
    counts: Counter[str] = Counter()
    for number in numbers:
        rng = random.Random(f"{arguments.seed} {number}")
        kind = rng.choices(list(DRAWS), [draw.weight for draw in DRAWS.values()])[0]
        plan = DRAWS[kind].make(rng, files_)
        ended = invoke(plan, separate=number % arguments.separate == arguments.separate - 1)
        counts[f"{kind} {ended.status}"] += 1
        counts["findings"] += bool(ended.findings)
        if ended.findings or arguments.only is not None:
            print(
                f"{number} {kind}: {'; '.join(ended.findings)}\n  uncore {' '.join(plan.words)!r}"
            )
            print("  " + "\n  ".join(ended.output.splitlines()[-12:]), flush=True)
    shutil.rmtree(cache, ignore_errors=True)
    findings = counts.pop("findings")
    print(f"{len(numbers)} invocations, {findings} findings")
    print(
        "\n".join(
            f"  {kind_and_status:20} {count}" for kind_and_status, count in sorted(counts.items())
        )
    )
    return bool(findings)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""An operating system's kernel on a machine: boot."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from uncore import system
from uncore.commands.options import Json, With, note
from uncore.commands.options.of_boot import BOOTED, KEPT, Booted, Kept
from uncore.commands.status import OK
from uncore.errors import GuestError, UserError
from uncore.report import symbols as report
from uncore.report.table import print_json
from uncore.topology import load

MachineName = Annotated[str, Parameter(help="the machine (a name, a shape or a .toml file)")]
Command = Annotated[
    str,
    Parameter(
        name="--run", help="command that its shell is given, once it waits; then it powers off"
    ),
]
Most = Annotated[
    int, Parameter(help="millions of instructions after which it is given up; 0: none")
]
SymbolFile = Annotated[
    Path | None,
    Parameter(
        help="where the kernel waited for --run, by its symbols (/proc/kallsyms) in this file"
    ),
]
PANIC = "Kernel panic"
PATIENCE = 5  # seconds between two words about progress
GOODBYE = "echo uncore: status $?; poweroff -f\n"
STATUS = re.compile(r"^uncore: status (\d+)\s*$", re.MULTILINE)


def boot(
    machine: MachineName = "",
    /,
    *,
    booted: Booted = BOOTED,
    command: Command = "",
    kept: Kept = KEPT,
    symbols: SymbolFile = None,
    most: Most = 0,
    with_: With = [],  # noqa: B006
    json: Json = False,
) -> int:
    known = system.Symbols.read(symbols) if symbols else None
    begun = _begun(machine, with_, booted, kept)
    session = system.Session(begun.run, waits=kept.from_ is not None)
    state = kept.state
    for waits in _watched(session, most, not json):
        if waits and state:
            system.save(begun, state)
            note(f"saved in {state}")
            state = None
        if waits and known and not session.run.lines():
            session.run.observe()
        if waits and not _type(session, command):
            break
    return _ended(session, command, json, known)


def _begun(machine: str, with_: list[str], booted: Booted, kept: Kept) -> system.Begun:
    if kept.from_ is None:
        if not machine:
            raise UserError("boot: nothing to start; write a machine and --kernel, or --from")
        return system.begin(booted.on(load(machine, with_)), kept.state is not None)
    if machine or with_ or kept.state or booted != BOOTED:
        raise UserError("--from: the machine and its kernel are the saved run's; write --run")
    return system.take_up(kept.from_)


def _type(session: system.Session, command: str) -> bool:
    """What its user says next; False: nothing."""
    said = f"{command}\n{GOODBYE}" if command else sys.stdin.readline()
    if said:
        session.type(said)
    return bool(said)


def _watched(session: system.Session, most: int, shown: bool) -> Iterator[bool]:
    """Runs it to its end; says whether its shell waits, shows its console as it grows, and how far
    it is where nothing comes."""
    said, spoken = len(session.console), time.monotonic()
    yield session.waits
    while session.goes_on():
        if len(session.console) > said:
            said, spoken = _show(session, said, shown), time.monotonic()
        elif time.monotonic() - spoken > PATIENCE:
            spoken = time.monotonic()
            note(f"{session.instructions / 1e6:.0f} M instructions, {session.run.now / 1e9:.1f} ms")
        if most and session.instructions > most * 10**6:
            raise GuestError(
                f"given up after {session.instructions / 1e6:.0f} M instructions; write --most"
                " with more"
            )
        yield session.waits
    _show(session, said, shown)


def _show(session: system.Session, said: int, shown: bool) -> int:
    if shown:
        sys.stdout.write(session.console[said:])
        sys.stdout.flush()
    return len(session.console)


def _ended(session: system.Session, command: str, json: bool, known: system.Symbols | None) -> int:
    outcome = session.outcome()
    found = session.run.lines()
    costs = system.costs(found, known) if known and found else []
    if json:
        print_json(outcome | ({"symbols": costs} if known else {}))
    elif not session.console.endswith("\n"):
        print()
    note(
        f"{outcome['instructions'] / 1e6:.1f} M instructions in {outcome['time'] / 1e9:.3f} ms of"
        f" simulated time, result {outcome['hash'][:16]}"
    )
    if costs and not json:
        report.show(costs)
    if PANIC in session.console:
        raise GuestError("the kernel gave up: " + _line(session.console, PANIC))
    if session.run.end not in ("exited", "running"):
        raise GuestError(f"the kernel stopped ({session.run.end}): {session.run.reason}")
    if session.run.exit_code:
        raise GuestError("the kernel said that it went down for a failure")
    status = STATUS.findall(session.console)
    if command and status and status[-1] != "0":
        raise GuestError(f"--run {command}: ended with status {status[-1]}")
    return OK


def _line(console: str, word: str) -> str:
    found = next(line for line in console.splitlines() if word in line)
    return found[found.index(word) :]

"""The command `boot`: runs an operating system's kernel on a machine."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from uncore import boot as system
from uncore.cli.keyboard import keyboard
from uncore.cli.options import Json, With, note
from uncore.cli.options.groups import SAVED
from uncore.cli.options.of_boot import DEFAULT_BOOT_OPTIONS, BootOptions, Moment
from uncore.cli.options.saved_state import NO_SAVED_STATE, SavedState
from uncore.cli.status import MISTAKE, OK
from uncore.drawing.table import print_json
from uncore.errors import GuestError, UserError
from uncore.job.option_values import check_outputs
from uncore.report import symbols as report
from uncore.topology import load

MachineName = Annotated[str, Parameter(help="the machine (a name, a shape or a .toml file)")]
Command = Annotated[
    str,
    Parameter(
        name="--run", help="command to type when the shell prompts; after it the kernel powers off"
    ),
]
Most = Annotated[int, Parameter(help="limit of the boot, in millions of instructions; 0: no limit")]
SymbolFiles = Annotated[
    list[Path],
    Parameter(
        negative="",
        help="report the kernel functions that waited for memory during --run, by the symbols of"
        " this file: /proc/kallsyms, System.map or an ELF vmlinux; repeatable, for ELF files of"
        " programs",
    ),
]
Fresh = Annotated[
    bool,
    Parameter(
        negative="",
        help="boot from the start, even if a cached boot exists that waits at its prompt",
        group=SAVED,
    ),
]
PANIC_TEXT = "Kernel panic"
NOTE_INTERVAL_S = 5  # interval of the notes on progress
SHUTDOWN_INPUT = "echo uncore: status $?; poweroff -f\n"
CPUS_BROUGHT_UP_PATTERN = re.compile(r"smp: Brought up \d+ nodes?, (\d+) CPUs?")
STATUS_LINE_PATTERN = re.compile(r"^uncore: status (\d+)\s*$", re.MULTILINE)


def boot(
    machine: MachineName = "",
    /,
    *,
    booted: BootOptions = DEFAULT_BOOT_OPTIONS,
    command: Command = "",
    saved_state: SavedState = NO_SAVED_STATE,
    fresh: Fresh = False,
    symbols: SymbolFiles = [],  # noqa: B006
    most: Most = 0,
    with_: With = [],  # noqa: B006
    json: Json = False,
) -> int:
    check_outputs(saved_state.files())
    table = system.Symbols.read(symbols) if symbols else None
    moment = Moment.of(saved_state.save_at)
    boot_run, to_keep = _start(machine, with_, booted, saved_state, fresh)
    session = system.Session(boot_run.run, boot_run.console_state)
    letters_shown = len(session.console) if saved_state.from_ else 0
    state, status = saved_state.state, OK
    try:
        with keyboard(sys.stdin if not command else None) as read_input:
            user = _User(command, read_input, table is not None)
            for waits in _looks(
                session, most, None if json else letters_shown, moment.time if state else None
            ):
                if waits and to_keep:
                    _save_in_cache(to_keep, boot_run, session)
                    to_keep = None
                if state and moment.is_there(session):
                    status = _save_state(boot_run, session, state)
                    state = None
                if waits and not user.types(session):
                    break
    except KeyboardInterrupt:
        note(f"interrupted at {_progress_text(session)}")
        raise
    _report_end(session, command, json, table)
    if state:
        raise UserError(
            f"--save-at {saved_state.save_at}: the run ended before, at {_progress_text(session)}"
        )
    return status


def _save_state(boot_run: system.BootRun, session: system.Session, path: Path) -> int:
    """Saves the boot. Returns an exit status instead of raising an error, because the run continues
    after a failed write.
    """
    try:
        system.save(boot_run, session, path)
    except UserError as error:
        note(f"{error}; the run goes on")
        return MISTAKE
    note(f"saved in {path}, at {_progress_text(session)}")
    return OK


def _save_in_cache(boot: system.Boot, boot_run: system.BootRun, session: system.Session) -> None:
    if system.keep(boot, boot_run, session):
        note(f"kept for the next boot of the same, at {_progress_text(session)}")


def _start(
    machine: str, with_: list[str], booted: BootOptions, saved_state: SavedState, fresh: bool
) -> tuple[system.BootRun, system.Boot | None]:
    """Returns the run, and the boot to save in the cache when its shell prompts; None if nothing
    needs to be saved.
    """
    if not saved_state.state and saved_state.save_at != NO_SAVED_STATE.save_at:
        raise UserError("--save-at: into which file? write --state FILE too")
    if saved_state.from_:
        if machine or with_ or fresh or booted != DEFAULT_BOOT_OPTIONS:
            raise UserError("--from: the machine and its kernel are the saved run's; write --run")
        return system.resume(saved_state.from_), None
    if not machine:
        raise UserError("boot: nothing to start; write a machine and --kernel, or --from")
    boot = booted.on(load(machine, with_))
    at_prompt = saved_state.save_at == NO_SAVED_STATE.save_at
    if at_prompt and not fresh and (kept_boot := system.find(boot)):
        note(f"goes on from its boot of {kept_boot.since:%d %B %Y, %H:%M}; --fresh boots anew")
        return kept_boot.boot_run, None
    return system.begin(boot, saved_state.state is not None), boot


class _User:
    """The source of console input: the command of --run, or standard input."""

    def __init__(self, command: str, read_input: Callable[[], str], observes: bool) -> None:
        self._command, self._read_input, self._observes = command, read_input, observes
        self._typed = False

    def types(self, session: system.Session) -> bool:
        """Types the next input; returns False if there is none."""
        if self._command and self._typed:
            return True  # the command has been typed; output without a newline looks like a prompt
        text = f"{self._command}\n{SHUTDOWN_INPUT}" if self._command else self._read_input()
        if text:
            if self._observes and not self._typed:
                session.run.observe()
            session.type(text)
            self._typed = True
        return bool(text)


def _looks(
    session: system.Session, most: int, printed: int | None, until: int | None
) -> Iterator[bool]:
    """Runs the boot to its end; yields after each look at the console, True if the shell prompts.

    Prints the console's text from letter `printed` on, or nothing if that is None, and notes on
    progress while the kernel prints nothing.
    """
    is_shown, last_note_s = printed is not None, time.monotonic()
    printed = _show(session, printed or 0, is_shown)
    yield session.waits
    while session.run_to_next_look(until if until and until > session.run.now else None):
        if len(session.console) > printed:
            printed, last_note_s = _show(session, printed, is_shown), time.monotonic()
        elif time.monotonic() - last_note_s > NOTE_INTERVAL_S:
            last_note_s = time.monotonic()
            note(_progress_text(session))
        if most and session.instructions > most * 10**6:
            raise GuestError(f"given up after {_progress_text(session)}; write --most with more")
        yield session.waits
    _show(session, printed, is_shown)


def _progress_text(session: system.Session) -> str:
    return f"{session.instructions / 1e6:.0f} M instructions, {session.run.now / 1e9:.1f} ms"


def _show(session: system.Session, begin: int, is_shown: bool) -> int:
    if is_shown:
        sys.stdout.write(session.console[begin:])
        sys.stdout.flush()
    return len(session.console)


def _report_end(
    session: system.Session, command: str, json: bool, table: system.Symbols | None
) -> None:
    outcome = session.outcome()
    uses = session.run.uses()
    costs = system.costs(uses, table) if table and uses else []
    if json:
        print_json(outcome | ({"symbols": costs} if table else {}))
    elif not session.console.endswith("\n"):
        print()
    kinds = (("ipi", "IPIs"), ("device", "interrupts of devices"), ("timer", "of timers"))
    note(
        ", ".join(
            f"{sum(hart[kind] for hart in outcome['interrupts'])} {name}" for kind, name in kinds
        )
    )
    note(
        f"{outcome['instructions'] / 1e6:.1f} M instructions in {outcome['time'] / 1e9:.3f} ms of"
        f" simulated time, result {outcome['hash'][:16]}"
    )
    brought_up, harts = CPUS_BROUGHT_UP_PATTERN.search(session.console), len(outcome["harts"])
    if brought_up and int(brought_up[1]) < harts:
        note(
            f"the kernel uses {brought_up[1]} of {harts} harts: it was built for fewer, or told so"
        )
    if costs and not json:
        report.show(costs)
    if PANIC_TEXT in session.console:
        raise GuestError("the kernel gave up: " + _line(session.console, PANIC_TEXT))
    if session.run.end not in ("exited", "running"):
        raise GuestError(f"the kernel stopped ({session.run.end}): {session.run.reason}")
    if session.run.exit_code:
        raise GuestError("the kernel said that it went down for a failure")
    status = STATUS_LINE_PATTERN.findall(session.console)
    if command and status and status[-1] != "0":
        raise GuestError(f"--run {command}: ended with status {status[-1]}")


def _line(console: str, word: str) -> str:
    line = next(line for line in console.splitlines() if word in line)
    return line[line.index(word) :]

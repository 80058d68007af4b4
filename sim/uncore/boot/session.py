"""Runs a kernel and operates its console: types when the shell prompts.

    session = Session(run)
    while session.run_to_next_look():
        if session.waits:          the shell prompts
            session.type("ls\\n")

The session looks at the console once per millisecond of simulated time.  It concludes that the
shell prompts when an unfinished line has stayed unchanged over two looks with all harts asleep, or
over twenty with some awake, for example because a program runs in the background.  So the time of
typing depends on the simulated run alone.
"""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec

from uncore._native import Run
from uncore.boot.kernel_run import LARGE_PAGE_BYTES
from uncore.errors import GuestError
from uncore.result import canonical

# limits of a step between two looks at the console: its number of events, and its simulated time
MAX_LOOK_EVENTS, LOOK_PS = 200_000, 10**9
STILL_LOOKS = 20  # looks without a change after which the shell counts as prompting
LOOKS_IF_ASLEEP = 10  # one look with all harts asleep counts as this many
# maximum length of the console's text; the firmware's console calls allow half as many letters
MAX_CONSOLE_LETTERS = 1 << 25


class ConsoleState(msgspec.Struct, frozen=True):
    """State of the console at the last look, which decides whether the shell prompts (`waits`)."""

    looks: int = 0  # number of consecutive looks without a change of the console
    said: int = 0  # letters on the console
    memory: int = 0  # bytes given to the kernel; 0: unknown


class Session:
    def __init__(self, run: Run, console_state: ConsoleState | None = None) -> None:
        """Operates `run`; `console_state` is the console's state when the run was saved."""
        self.run = run
        self.memory = console_state.memory if console_state else 0
        self.console = str(run.console)
        self.console_state = console_state or ConsoleState()

    @property
    def waits(self) -> bool:
        return self.console_state.looks >= STILL_LOOKS

    @property
    def instructions(self) -> int:
        return sum(hart["instructions"] for hart in self.run.harts())

    def type(self, text: str) -> None:
        self.run.type(text, self._next_look())
        self.console_state = ConsoleState(0, len(self.console), self.memory)

    def run_to_next_look(self, until: int | None = None) -> bool:
        """Runs to the next look, to the time `until`, or for a fraction of a second of host time.

        Returns False when the run has ended.
        """
        start, look = self.run.now, self._next_look()
        target = look if until is None else min(look, until)
        is_running: bool = self.run.step(MAX_LOOK_EVENTS, target - start)
        self.console = str(self.run.console)
        if self.run.now > look or self.run.now == start:
            self._look()
        self._refuse_growth()
        return is_running

    def _refuse_growth(self) -> None:
        """Raises a GuestError if the kernel uses more of the host's memory than it was given."""
        if len(self.console) > MAX_CONSOLE_LETTERS:
            raise GuestError(
                f"the kernel wrote more than {MAX_CONSOLE_LETTERS >> 20} MiB to its console"
            )
        if self.memory and self.run.touched > self.memory + LARGE_PAGE_BYTES:
            raise GuestError(
                f"the kernel touched {self.run.touched >> 20} MiB, and --memory gives it"
                f" {self.memory >> 20} MiB"
            )

    def _next_look(self) -> int:
        """Returns the time of the next look in ps, which must not depend on how far cores run
        ahead.
        """
        now: int = self.run.now
        return (now // LOOK_PS + 1) * LOOK_PS

    def _look(self) -> None:
        letters, looks = len(self.console), 0
        prompts = self.run.kernel_awaits_input and not self.console.endswith("\n")
        if prompts and letters == self.console_state.said:
            looks = self.console_state.looks + (LOOKS_IF_ASLEEP if self.run.sleeps else 1)
        self.console_state = ConsoleState(looks, letters, self.memory)

    def outcome(self) -> dict[str, Any]:
        harts, counters = self.run.harts(), self.run.counters(0)
        fields = {
            "end": self.run.end,
            "exit_code": self.run.exit_code,
            "time": self.run.now,
            "instructions": self.instructions,
            "harts": [{name: hart[name] for name in ("clock", "instructions")} for hart in harts],
            "counters": {name: counters[name] for name in ("events", "transactions")},
            "interrupts": self.run.interrupts(),
            "console": self.console,
        }
        return fields | {"hash": hashlib.sha256(canonical(fields)).hexdigest()}

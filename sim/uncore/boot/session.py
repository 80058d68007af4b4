"""A kernel's run with somebody at its console, who types when its shell waits.

    session = Session(run)
    while session.goes_on():       as far as there is something to say
        if session.waits:          its shell does
            session.type("ls\n")

It waits when a line that has not ended stands unchanged from one millisecond of simulated time to
another: twice with all harts asleep, or twenty times with some awake, as where something runs
behind the prompt.  So what is typed is typed at a time that follows from the run alone.
"""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec

from uncore._native import Run
from uncore.boot.kernel_run import LARGE
from uncore.errors import GuestError
from uncore.result import canonical

# at most so many events, or so much time, from one look to the next
MAX_LOOK_EVENTS, LOOK_PS = 200_000, 10**9
STILL_LOOKS = 20  # a session is still after so many equal looks
LOOKS_IF_ASLEEP = 10  # a look with all harts asleep counts as so many
MOST_TEXT = 1 << 25  # letters of the console, by whatever way; the firmware takes half as many


class Stillness(msgspec.Struct, frozen=True):
    """State of a session at its last look."""

    looks: int = 0  # that saw the same
    said: int = 0  # letters of the console
    memory: int = 0  # bytes that the kernel was given; 0: it is not known


class Session:
    def __init__(self, run: Run, still: Stillness | None = None) -> None:
        """`still`: as the one found it that began it."""
        self.run = run
        self.memory = still.memory if still else 0
        self.console = str(run.console)
        self.still = still or Stillness()

    @property
    def waits(self) -> bool:
        return self.still.looks >= STILL_LOOKS

    @property
    def instructions(self) -> int:
        return sum(hart["instructions"] for hart in self.run.harts())

    def type(self, text: str) -> None:
        self.run.type(text, self._next_look())
        self.still = Stillness(0, len(self.console), self.memory)

    def goes_on(self, until: int | None = None) -> bool:
        """To the next look, to a time to come, or as far as a fraction of a second goes.
        False: it has ended."""
        since, look = self.run.now, self._next_look()
        then = look if until is None else min(look, until)
        going: bool = self.run.step(MAX_LOOK_EVENTS, then - since)
        self.console = str(self.run.console)
        if self.run.now > look or self.run.now == since:
            self._look()
        self._refuse_growth()
        return going

    def _refuse_growth(self) -> None:
        """A kernel may fill no more of this computer than it was given."""
        if len(self.console) > MOST_TEXT:
            raise GuestError(f"the kernel wrote more than {MOST_TEXT >> 20} MiB to its console")
        if self.memory and self.run.touched > self.memory + LARGE:
            raise GuestError(
                f"the kernel touched {self.run.touched >> 20} MiB, and --memory gives it"
                f" {self.memory >> 20} MiB"
            )

    def _next_look(self) -> int:
        """It does not depend on how far cores run ahead."""
        now: int = self.run.now
        return (now // LOOK_PS + 1) * LOOK_PS

    def _look(self) -> None:
        letters, looks = len(self.console), 0
        prompts = self.run.listens and not self.console.endswith("\n")
        if prompts and letters == self.still.said:
            looks = self.still.looks + (LOOKS_IF_ASLEEP if self.run.sleeps else 1)
        self.still = Stillness(looks, letters, self.memory)

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

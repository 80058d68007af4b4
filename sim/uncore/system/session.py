"""A kernel's run with somebody at its console, who types when its shell waits.

    session = Session(run)
    while session.goes_on():       as far as there is something to say
        if session.waits:          its shell does, asleep
            session.type("ls\n")

It waits when all harts sleep behind a line that has not ended, twice within two milliseconds of
simulated time. So what is typed is typed at a time that follows from the run alone.
"""

from __future__ import annotations

import hashlib
from typing import Any

from uncore._native import Run
from uncore.result import canonical

EVENTS, LOOK = 200_000, 10**9  # at most; ps from one look to the next
PATIENCE = 2  # looks


class Session:
    def __init__(self, run: Run, waits: bool = False) -> None:
        """`waits`: its shell does already."""
        self.run = run
        self.console = str(run.console)
        self._quiet = PATIENCE if waits else 0

    @property
    def waits(self) -> bool:
        return self._quiet >= PATIENCE

    @property
    def instructions(self) -> int:
        return sum(hart["instructions"] for hart in self.run.harts())

    def type(self, text: str) -> None:
        self.run.type(text, self._look())
        self._quiet = 0

    def goes_on(self) -> bool:
        """To the next look, or as far as a fraction of a second goes. False: it has ended."""
        since = self.run.now
        then = self._look()
        going: bool = self.run.step(EVENTS, then - self.run.now)
        before, self.console = self.console, str(self.run.console)
        if self.console != before:
            self._quiet = 0
        elif self.run.now > then or self.run.now == since:
            prompts = self.run.listens and not self.console.endswith("\n")
            self._quiet = self._quiet + 1 if prompts else 0
        return going

    def _look(self) -> int:
        """When the next one is: it does not depend on how far cores run ahead."""
        now: int = self.run.now
        return (now // LOOK + 1) * LOOK

    def outcome(self) -> dict[str, Any]:
        harts, counters = self.run.harts(), self.run.counters()
        found = {
            "end": self.run.end,
            "exit_code": self.run.exit_code,
            "time": self.run.now,
            "instructions": self.instructions,
            "harts": [{name: hart[name] for name in ("clock", "instructions")} for hart in harts],
            "counters": {name: counters[name] for name in ("events", "transactions")},
            "interrupts": self.run.messages,
            "console": self.console,
        }
        return found | {"hash": hashlib.sha256(canonical(found)).hexdigest()}

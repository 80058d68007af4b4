"""One run of one program on one machine: the agents, and the messages between them.

Interface: `System(job, memory)`, `step` until it returns False, then read the outcome. Invariant:
the outcome is a function of the job alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import simpy

from uncore.engine.reference.agents import Agents
from uncore.engine.reference.chance import Chance
from uncore.engine.reference.counts import Counts
from uncore.engine.reference.devices import Console
from uncore.engine.reference.ending import Ending
from uncore.engine.reference.fabric import Fabric
from uncore.engine.reference.log import Log
from uncore.engine.reference.memory import Image
from uncore.engine.reference.message import GRANTS, Message, ProtocolError
from uncore.engine.reference.protocol import Protocol
from uncore.engine.reference.time import Clock
from uncore.engine.reference.versions import Versions

if TYPE_CHECKING:
    from uncore.job import Job


class System:
    """All parts of one run."""

    def __init__(self, job: Job, memory: list[tuple[int, bytes]]) -> None:
        self.job, self.machine = job, job.machine
        self.clock = Clock()
        self.protocol = Protocol(job.machine)
        self.fabric = Fabric(self.clock, job.machine)
        self.image, self.chance = Image(memory, self.machine.line), Chance(job)
        self.counts, self.log, self.console = Counts(job.machine), Log(self.machine.line), Console()
        self.versions = Versions()
        self.ending = Ending(self)
        self.under_way: dict[Message, None] = {}
        self.stacks = job.program.symbol("uc_stacks").address
        self.agents = Agents(self)
        self.cores, self.resolvers = self.agents.cores, self.agents.resolvers
        self.harts = self.agents.place_harts()
        for core in self.cores:
            core.share_issue()
        for hart in self.harts:
            self.clock.process(hart.live())

    # ---- messages --------------------------------------------------------------------------------

    def send(self, message: Message, leaves: int) -> None:
        """Sends a message that leaves at the time `leaves`."""
        message.left_at = leaves
        message.rank = self.clock.rank(message.receiver, message.kind, message.line, message.sender)
        self.under_way[message] = None
        line, agents = message.line, self.agents
        stops = agents.stop(message.sender, line), agents.stop(message.receiver, line)
        self.fabric.send(
            message.size,
            self.fabric.route(*stops, self.fabric.way(*stops, agents.hashed_line(line))),
            leaves,
            message.rank,
            lambda time: self.clock.call(time, message.rank, lambda: self._arrive(message)),
        )

    def send_all(self, messages: list[Message], leaves: int) -> None:
        for message in messages:
            self.send(message, leaves)

    def _arrive(self, message: Message) -> None:
        if message.kind in (*GRANTS, "PutAck"):
            self.log.reached(message, self.clock.now)
        self.agents.all[message.receiver].receive(message)
        self.under_way.pop(message, None)

    # ---- a run -----------------------------------------------------------------------------------

    def step(self, events: int) -> bool:
        """Runs at most `events` events. Returns False when the run has ended."""
        try:
            for _ in range(events):
                if self.ending.how != "running":
                    break
                self.clock.step()
                if self.clock.now > self.counts.progress + self.job.watchdog:
                    self.ending.finish("watchdog", self.report())
        except simpy.core.EmptySchedule:
            self.ending.finish("stuck", self.report())
        except ProtocolError as error:
            self.ending.finish("protocol", str(error))
        return self.ending.how == "running"

    @property
    def touched_bytes(self) -> int:
        """Returns the total size, in bytes, of the memory lines that have been touched."""
        return len(self.image) * self.machine.line

    def report(self) -> str:
        """Returns a text that lists the harts and lines that wait, and the events for which they
        wait.
        """
        lines, size = [], self.machine.line
        for hart in self.harts:
            waits = hart.pending or (hart.buffer[0] if hart.buffer else None)
            if waits:
                state = hart.core.caches.find(waits.line).state
                lines.append(
                    f"hart {hart.id} waits for line {waits.line * size:#x}, which its core holds in"
                    f" state {state}, with {len(hart.buffer)} stores buffered"
                )
        for resolver in self.resolvers:
            for entry in resolver.lines.values():
                if not entry.quiet:
                    waiting = entry.poll.waiting if entry.poll else 0
                    lines.append(
                        f"{resolver.spec.name}: line {entry.line * size:#x} waits for {waiting}"
                        f" answers, {len(entry.queue)} requests queued"
                    )
        return "\n".join(lines)

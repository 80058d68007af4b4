"""One machine, one program, one run: the agents, and the way messages take between them.

Interface: `System(job, memory)`, `step` until it says so, then read the outcome.
Invariant: the outcome is a function of the job alone.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import simpy

from uncore.engine.reference.client import Protocol
from uncore.engine.reference.core import Core
from uncore.engine.reference.counts import Counts
from uncore.engine.reference.devices import Devices
from uncore.engine.reference.fabric import Fabric
from uncore.engine.reference.hart import Hart
from uncore.engine.reference.homes import Homes
from uncore.engine.reference.interrupts import Interrupts
from uncore.engine.reference.log import Log
from uncore.engine.reference.memory import Image, Node
from uncore.engine.reference.message import CLASS, GRANTS, LINE, Message, ProtocolError
from uncore.engine.reference.resolver import Resolver
from uncore.engine.reference.time import LAST, Clock, Rank
from uncore.program.abi import CONSTANTS

if TYPE_CHECKING:
    from uncore.job import Job

OWNING = ("M", "O", "OM", "MI", "E")  # states whose copy answers for the line


class System:
    """Everything of one run."""

    def __init__(self, job: Job, memory: list[tuple[int, bytes]]) -> None:
        from uncore import _native

        self.job, self.machine = job, job.machine
        self.clock = Clock()
        self.protocol = Protocol(job.machine.protocol)
        self.fabric = Fabric(self.clock, job.machine)
        self.homes = Homes(job, self.fabric)
        self.image = Image(memory)
        self.counts, self.log = Counts(job.machine), Log()
        self.sent: Counter[int] = Counter()  # messages of each agent
        self.under_way: dict[Message, None] = {}
        self.ram_size = sum(node.size for node in job.machine.memories)
        self.cores = [Core(self, *one) for one in enumerate(self.machine.each_core)]
        self.resolvers = [
            Resolver(self, agent, spec)
            for agent, spec in enumerate(self.machine.resolvers, len(self.cores))
        ]
        nodes = enumerate(self.machine.memories, len(self.cores) + len(self.resolvers))
        self.memories = [Node(self, agent, spec) for agent, spec in nodes]
        self.agents: list[Core | Resolver | Node] = [
            *self.cores, *self.resolvers, *self.memories
        ]  # fmt: skip
        self.end, self.reason, self.exit_code = "running", "", 0
        self._ending: tuple[int, int, str, str, int] | None = None
        self.stacks = job.program.symbol("uc_stacks").address
        text = next(s for s in job.program.segments if job.program.entry in s)
        code = _native.Code(text.address, len(text.data))
        self.harts: list[Hart] = []
        for id, place in enumerate(job.harts[: job.threads[0]]):
            isa = _native.Hart(code, id, job.program.entry, self.ram_size)
            core = self.cores[self.machine.core_of(place)]
            self.harts.append(Hart(core, id, isa))
            core.harts.append(self.harts[-1])
        self.devices, self.interrupts = Devices(self), Interrupts(self)
        for core in self.cores:
            core.share()
        for hart in self.harts:
            self.clock.process(hart.live())

    # ---- messages --------------------------------------------------------------------------------

    def send(self, message: Message, leaves: int) -> None:
        """Puts a message on its way at a time."""
        message.left = leaves
        message.rank = self.rank(
            message.receiver, CLASS[message.kind], message.line, message.sender
        )
        self.under_way[message] = None
        self.fabric.send(
            message.size,
            self.agents[message.sender].stop(message.line),
            self.agents[message.receiver].stop(message.line),
            leaves,
            message.rank,
            lambda time: self.clock.call(time, message.rank, lambda: self._arrive(message)),
        )

    def send_all(self, messages: list[Message], leaves: int) -> None:
        for message in messages:
            self.send(message, leaves)

    def rank(self, receiver: int, cls: int, line: int, sender: int) -> Rank:
        """T2."""
        self.sent[sender] += 1
        return receiver, cls, line, sender, self.sent[sender]

    def _arrive(self, message: Message) -> None:
        if message.kind in (*GRANTS, "PutAck"):
            self.log.reached(message, self.clock.now)
        self.agents[message.receiver].receive(message)
        self.under_way.pop(message, None)

    def above(self, child: int, line: int) -> int:
        """The resolver that serves an agent's requests for a line."""
        parents = [
            agent
            for agent, resolver in enumerate(self.machine.resolvers, len(self.cores))
            if child in resolver.children
        ]
        return parents[0] if len(parents) == 1 else parents[self.homes.node(line)]

    def memory_agent(self, node: int) -> int:
        return self.memories[node].agent

    # ---- time ------------------------------------------------------------------------------------

    def step(self, events: int) -> bool:
        """Runs at most that many events; False when the run has ended."""
        try:
            for _ in range(events):
                if self.end != "running":
                    break
                self.clock.step()
                if self.clock.now > self.counts.progress + self.job.watchdog:
                    self.finish("watchdog", self.report())
        except simpy.core.EmptySchedule:
            self.finish("stuck", self.report())
        except ProtocolError as error:
            self.finish("protocol", str(error))
        return self.end == "running"

    def end_by(self, hart: Hart, end: str, reason: str, code: int = 0) -> None:
        """T4: the run ends when this could have reached every core; the first in time ends it."""
        hart.mode = "stopped"
        place = hart.core.agent * self.machine.threads_per_core + hart.index
        ending = (int(hart.isa.clock), place, end, reason, code)
        if self._ending is None or ending < self._ending:
            self._ending = ending
            ends = ending[0] + max(self.reach(core) for core in self.cores)
            self.clock.call(ends, LAST, lambda: self.finish(end, reason, code))

    def overflow(self, hart: Hart) -> None:
        """The hart touched the last bytes of its stack."""
        room = CONSTANTS["UC_STACK_STRIDE"] - CONSTANTS["UC_STACK_GUARD"]
        self.end_by(hart, "fatal", f"hart {hart.id}: stack overflow, of {room} bytes")

    def reach(self, core: Core) -> int:
        """The least time in which anything that happens elsewhere can reach a core (S2)."""
        here = core.stop(0)
        stops = [*self.machine.core_stops]
        stops += [stop for resolver in self.machine.resolvers for stop in resolver.slices]
        if not core.harts or stops.count(here) > 1:
            return 1
        return max(1, self.fabric.nearest(stops, here) or 1)

    def finish(self, end: str, reason: str, code: int = 0) -> None:
        if self.end == "running":
            self.end, self.reason, self.exit_code = end, reason, code

    def report(self) -> str:
        """Who waits for what."""
        lines = []
        for hart in self.harts:
            waits = hart.pending or (hart.buffer[0] if hart.buffer else None)
            if waits:
                line = hart.core.caches.find(waits.line)
                lines.append(
                    f"hart {hart.id} waits for line {waits.line * LINE:#x}, which its core holds in"
                    f" state {line.state if line else 'I'}, with {len(hart.buffer)} stores buffered"
                )
        for resolver in self.resolvers:
            for entry in resolver.lines.values():
                if not entry.quiet:
                    waiting = entry.poll.waiting if entry.poll else 0
                    lines.append(
                        f"{resolver.spec.name}: line {entry.line * LINE:#x} waits for {waiting}"
                        f" answers, {len(entry.queue)} requests queued"
                    )
        return "\n".join(lines)

    # ---- functional reads ------------------------------------------------------------------------

    def read(self, address: int, size: int) -> bytes:
        """The bytes as the machine would read them, wherever the newest are (A2)."""
        first = address // LINE
        lines = b"".join(self._newest(n) for n in range(first, (address + size - 1) // LINE + 1))
        found = bytearray(lines[address - first * LINE :][:size])
        for hart in self.harts:
            for store in hart.buffer:  # newer than any line; of an atomic nobody knows yet
                if store.kind == "amo":
                    continue
                value = int(store.value) if isinstance(store.value, int) else 0  # fmt: skip
                for at, byte in enumerate(value.to_bytes(8, "little")[: store.size], store.address):
                    if 0 <= at - address < size:
                        found[at - address] = byte
        return bytes(found)

    def _newest(self, number: int) -> bytes:
        """A cache that answers for the line, a message that carries ownership, a level, memory."""
        for core in self.cores:
            line = core.caches.find(number)
            if line and line.state in OWNING:
                return bytes(line.data)
        for message in self.under_way:
            owning = message.kind == "Put" or message.right == "M" or "dirty" in message.says
            to_memory = message.receiver >= len(self.cores) + len(self.resolvers)
            if message.line == number and message.data and owning and not to_memory:
                return message.data
        for resolver in self.resolvers:
            entry = resolver.lines.get(number)
            if entry and (data := entry.newest):
                return data
        return self.image[number]

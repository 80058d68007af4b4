"""A resolver towards the level above: there it is a client by the client table (rules J).

Each method is a part of the process of one line: it waits where the protocol waits.  A probe from
above that comes while the level above is waited for is answered in the midst of that wait, so
waiting never forms a cycle (J2).
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING

import simpy

from uncore.engine.reference import client
from uncore.engine.reference.entry import Data, Entry, Poll, Transaction
from uncore.engine.reference.message import NOBODY, Message, ProtocolError

if TYPE_CHECKING:
    from uncore.protocol.shapes import Cell

Waits = Generator[simpy.Event, None, None]


class Join(Entry):
    """The upper half of one line."""

    def step(self, event: str) -> Cell:
        """The client table's row for the right held above."""
        cell = self.protocol.client(self.state, event, self.line)
        self.state = cell.next or self.state
        return cell

    # ---- asking ----------------------------------------------------------------------------------

    def obtain(self, transaction: Transaction, request: Message) -> Waits:
        """The right that a child's request needs (J1)."""
        wish = "Load" if request.kind == "GetS" else "Store"
        while not self.protocol.hits(self.state, wish):
            enough = self.has_data_for(request)
            kind = client.request_of(self.step(wish))
            # J4: an upgrade without data, only where somebody surely has them.
            yield from self.ask_above(transaction, "GetM" if kind == "Upg" and not enough else kind)

    def has_data_for(self, request: Message) -> bool:
        holds = request.sender == self.owner or request.sender in self.sharers
        upgrades = request.kind == "Upg" and holds
        return bool(self.copy) or self.state == "O" or upgrades

    def ask_above(self, transaction: Transaction, kind: str) -> Waits:
        """One request, or two where the first was an upgrade of a copy lost meanwhile."""
        while kind:
            self.request = self.resolver.send_up(kind, self.line)
            grant = yield from self.await_above()
            cell = self.step(client.event_of(grant, self.state, self.request))
            self.wanted = grant.contended
            if "fill" in cell.actions:
                self.take_in(transaction, grant)
                yield self.turn()
            if "unblock" in cell.actions:
                self.system.send_all(client.completion(grant, self.resolver.agent), self.clock.now)
            kind = client.request_of(cell)

    def await_above(self) -> Generator[simpy.Event, None, Message]:
        """The next answer from above; probes from there are served first (J2)."""
        while self.from_above is None:
            if self.probe and not self.must_wait(self.probe):
                yield from self.answer_above()
            else:
                yield self.news.wait()
        answer, self.from_above = self.from_above, None
        return answer

    def take_in(self, transaction: Transaction, message: Message) -> None:
        """Data that came from above, or from memory."""
        assert message.data is not None
        transaction.data = Data(message.data, message.origin, message.sender)
        if self.resolver.keeps_data:
            self.keep(transaction.data, dirty=False)

    # ---- being asked -----------------------------------------------------------------------------

    @property
    def phase(self) -> str:
        """The join table's."""
        if self.leaving is not None:
            return "put"
        if self.open > 0 or self.poll:
            return "below"
        return "above" if self.transaction else "idle"

    def plan_for(self, probe: Message) -> Cell:
        return self.protocol.join(self.children(), self.phase, probe.kind, self.line)

    def must_wait(self, probe: Message) -> bool:
        """Until a grant has arrived, or the children are done (J2)."""
        early = client.event_of(probe, self.state, self.request) == "Early"
        return early or "wait" in self.plan_for(probe).actions

    def answer_above(self) -> Waits:
        """The children answer first, then the row of the client table."""
        probe, self.probe = self.probe, None
        assert probe is not None
        self.wanted = False
        poll = self.ask(self.plan_for(probe).actions, NOBODY, probe, NOBODY)
        yield from self.answers(poll)
        if poll.says & {"dirty", "own"}:
            self.promote()
        if probe.kind == "ProbeS":
            self.settle_owner(poll)
            if poll.data and self.resolver.keeps_data:
                self.keep(poll.data, self.dirty or bool(poll.says & {"dirty", "own"}))
        else:
            self.owner = NOBODY
            self.sharers.clear()
        self.reply(probe, poll.data or self.copy)
        self.settle_copy()

    def answers(self, poll: Poll) -> Waits:
        while poll.waiting:
            yield self.news.wait()
        self.poll = None

    def reply(self, probe: Message, data: Data | None) -> None:
        if data is None and self.leaving is not None:
            data = Data(self.leaving, self.resolver.agent, self.resolver.agent)
        cell = self.step(client.event_of(probe, self.state, self.request))
        if "dirty" in cell.actions and data is None:
            raise ProtocolError("a level responsible for dirty data lost them")
        here = bool(self.copy or self.sharers) or self.owner != NOBODY
        bytes_, origin = (data.bytes, data.origin) if data else (None, NOBODY)
        agent = self.resolver.agent
        said = client.replies(probe, cell, agent, bytes_, here, origin)
        self.system.send_all(said, self.clock.now)

    def settle_copy(self) -> None:
        """What the right left after a probe means for this level's copy."""
        if self.state in client.WITHOUT_COPY and self.copy:
            self.drop()
        if self.state not in ("M", "O", "OM"):
            self.dirty = False

    # ---- what answers mean -----------------------------------------------------------------------

    def promote(self) -> None:
        """A child had modified data, so this level does."""
        if self.state == "E":
            self.state = "M"

    def settle_owner(self, poll: Poll) -> None:
        """After a ProbeS the owner keeps ownership, a shared copy, or nothing."""
        if poll.asked_owner and "own" not in poll.says:
            if "shared" in poll.says:
                self.sharers[self.owner] = None
            self.owner = NOBODY

"""What comes back to a resolver: writebacks of its children, and lines that it gives up itself.

A part of the process of one line (transaction.py): rule C5 as the level above sees it, R7 and R8
where a line is recalled.
"""

from __future__ import annotations

from collections.abc import Generator

import simpy

from uncore.engine.reference.entry import Data, Poll, Transaction
from uncore.engine.reference.join import Join, Waits
from uncore.engine.reference.message import NOBODY, Message, ProtocolError


class Writeback(Join):
    """One line, as far as data go up."""

    def poll_for(
        self, transaction: Transaction, actions: tuple[str, ...], spared: int, data_to: int
    ) -> Generator[simpy.Event, None, Poll]:
        """Asks children on the transaction's account and waits for what they say."""
        poll = self.ask(actions, spared, transaction.request, data_to)
        if transaction.record:
            transaction.record.asked(poll.waiting, self.clock.now)
        yield from self.answers(poll)
        transaction.data = poll.data or transaction.data
        return poll

    def take_back(self, transaction: Transaction, request: Message) -> Waits:
        """A child's Put: its data, if they still count."""
        assert request.data is not None
        actions = self.protocol.resolver(self.children(request.sender), "Put", self.line).actions
        if "take" in actions:
            transaction.data = Data(request.data, request.origin, request.sender)
        elif "ask" in actions:
            yield from self.poll_putter(transaction, request)
        if transaction.data:
            self.owner = NOBODY
            self.promote()
            if self.resolver.keeps_data:
                self.keep(transaction.data, dirty=True)
            elif self.resolver.root:
                self.resolver.write_memory(self.line, transaction.data)
            else:  # nowhere to keep them: the line goes up
                transaction.says = {"dirty"}
                yield from self.give_up(transaction)
        ack = Message("PutAck", self.line, self.resolver.agent, request.sender, request.number)
        ack.resolver = self.resolver.agent
        self.resolver.send(ack)

    def poll_putter(self, transaction: Transaction, request: Message) -> Waits:
        """A snooping resolver cannot know a stale Put."""
        poll = self.poll = Poll(waiting=1)
        self.send_probe("ProbeM", request.sender, "M", request, NOBODY)
        if transaction.record:
            transaction.record.asked(1, self.clock.now)
        yield from self.answers(poll)
        transaction.data = poll.data if "dirty" in poll.says else None

    def recall(self) -> Waits:
        """This level's copy or entry is evicted (R7, R8)."""
        self.recalled = False
        self.transaction = Transaction(None)
        yield from self.give_up(self.transaction)
        self.transaction = None

    def give_up(self, transaction: Transaction) -> Waits:
        """Takes every copy below, writes the line back if it is dirty, and forgets it."""
        actions = self.protocol.resolver(self.children(), "Evict", self.line).actions
        poll = yield from self.poll_for(transaction, actions, NOBODY, NOBODY)
        self.owner = NOBODY
        self.sharers.clear()
        taken = "dirty" in transaction.says | poll.says
        if taken:
            self.promote()
        dirty, data = self.dirty or taken, transaction.data or self.copy
        if self.copy:
            self.drop()
        self.dirty = False
        if self.resolver.root:
            if dirty and data:
                self.resolver.write_memory(self.line, data)
        elif self.state != "I" and "Put" in self.step("Evict").actions:
            if not (dirty and data):
                raise ProtocolError("a level responsible for dirty data lost them")
            yield from self.put_above(data)

    def put_above(self, data: Data) -> Waits:
        """Probes are answered with these data until the PutAck is here (C5)."""
        self.leaving = data.bytes
        self.resolver.send_up("Put", self.line, data)
        yield from self.await_above()
        self.step("PutAck")
        self.leaving = None

"""What a resolver gives: data or a right to the child that asked, or an operation done for it.

A part of the process of one line (transaction.py), when every child asked has answered: rules R4
to R6 and C8.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING

import simpy

from uncore.engine.reference.cache import Words
from uncore.engine.reference.entry import Data, Transaction
from uncore.engine.reference.message import NOBODY, Message, ProtocolError
from uncore.engine.reference.writeback import Writeback

if TYPE_CHECKING:
    from uncore.engine.reference.access import Access


class Grant(Writeback):
    """One line, as far as rights go down."""

    def take_over(self, transaction: Transaction) -> None:
        """Dirty data of a child that was asked to share: this level answers for them now."""
        assert transaction.data is not None
        if self.resolver.keeps_data:
            self.keep(transaction.data, dirty=True)
        elif self.resolver.root:
            self.resolver.write_memory(self.line, transaction.data)
        else:
            raise ProtocolError("a join without data was given dirty data to keep: it needs MOESI")

    def deliver(
        self, transaction: Transaction, request: Message
    ) -> Generator[simpy.Event, None, bool]:
        """Data or a grant to the requester, unless the owner has sent them.  False: nobody had
        the data, and with them this level's right is gone: all begins anew."""
        handed = transaction.direct and bool(transaction.says & {"gave", "own"})
        if not (handed or transaction.data or transaction.holds or self.copy):
            if not self.resolver.root:
                self.give_up_clean()
                return False
            self.resolver.read_memory(self.line)
            self.take_in(transaction, (yield from self.await_above()))
        if request.operation:
            self.operate(transaction, request, request.operation)
            return True
        if not handed:
            self.send_grant(transaction, request)
        self.enter(transaction, request)
        return True

    def operate(self, transaction: Transaction, request: Message, operation: Access) -> None:
        """A far atomic (C8): on this level's data, which nobody below has."""
        agent, data = self.resolver.agent, transaction.data or self.copy
        assert data is not None
        words = Words(data=bytearray(data.bytes))
        value = Message("Value", self.line, agent, request.sender, request.number)
        value.resolver, value.value = agent, operation.apply(words)
        changed = Data(bytes(words.data), data.origin, data.source)
        self.step("Store")
        if self.resolver.keeps_data:
            self.keep(changed, dirty=True)
        elif self.resolver.root:
            self.resolver.write_memory(self.line, changed)
        else:
            raise ProtocolError("a join without data was asked for an atomic operation on them")
        if transaction.record:
            transaction.record.granted("", data.source)
        self.resolver.send(value)

    def give_up_clean(self) -> None:
        """Clean data were dropped silently below: so is this level's right."""
        cell = self.step("Evict")
        if "drop" not in cell.actions:
            raise ProtocolError("a level responsible for dirty data lost them")

    def send_grant(self, transaction: Transaction, request: Message) -> None:
        delay, data = 0, transaction.data
        if not (data or transaction.holds):
            data, delay = self.copy, self.resolver.spec.data_hit  # R6
            self.resolver.use(self)
        kind = "Data" if data else "Grant"
        grant = Message(kind, self.line, self.resolver.agent, request.sender, request.number)
        grant.resolver, grant.right = self.resolver.agent, transaction.right
        grant.to_complete = self.completes(transaction.right)
        grant.contended = self.contended(request.sender)
        if data:
            grant.data, grant.origin = data.bytes, data.origin
        transaction.source = data.source if data else NOBODY
        self.resolver.send(grant, delay)

    def enter(self, transaction: Transaction, request: Message) -> None:
        """What this level knows after the grant."""
        right, who = transaction.right, request.sender
        if transaction.record:
            transaction.record.granted(right, transaction.source)
        if not self.resolver.snoops and right == "S":
            self.sharers[who] = None
        elif not self.resolver.snoops:
            self.sharers.pop(who, None)
            self.owner, self.owner_request = who, request.number
        if right == "M":
            self.step("Store")  # the child may write without asking
            # A snooping resolver cannot know whether an upgrader still has its copy: if not, it
            # asks again, and for these very data.
            if not (self.resolver.snoops and transaction.holds):
                self.dirty = False
                if self.copy and not self.resolver.inclusive:
                    self.drop()
        self.open += self.completes(right)

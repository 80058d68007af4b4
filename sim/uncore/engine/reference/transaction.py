"""A resolver towards its children: one transaction a line at a time (rules R2 to R8).

`attend` is the process of one line; what it does is written in the order in which it happens.
Interface: `attend`, and for the resolver that owns it the `Entry` it is.
Invariant: shared grants alone may overlap; nothing exclusive starts before all of them are
completed (R5).
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING

import simpy

from uncore.engine.reference.cache import Words
from uncore.engine.reference.entry import Data, Poll, Transaction
from uncore.engine.reference.join import Join, Waits
from uncore.engine.reference.message import NOBODY, Message, ProtocolError

if TYPE_CHECKING:
    from uncore.engine.reference.access import Access

SHARED = ("S", "F")


class Line(Join):
    """The whole of one line at one resolver."""

    def attend(self) -> Waits:
        """Serves what is waiting, in order, as long as the resolver knows the line."""
        while True:
            children_first = self.children_first()
            if self.recalled:
                yield from self.recall()
            elif self.probe and not children_first and not self.must_wait(self.probe):
                yield from self.answer_above()
            elif self.may_start(children_first):
                self.served += self.probe is not None
                yield from self.serve(self.queue.popleft())
            elif self.blank and self.resolver.forget(self):
                return
            else:
                yield self.news.wait()

    def children_first(self) -> bool:
        """J3: while a probe waits, a few requests that need no further right are served."""
        if not (self.probe and self.queue) or self.served >= self.resolver.spec.grants:
            return False
        request = self.queue[0]
        wish = "Load" if request.kind == "GetS" else "Store"
        return request.kind == "Put" or self.protocol.hits(self.state, wish)

    def may_start(self, children_first: bool) -> bool:
        """The request at the head of the queue (R2, R5)."""
        if not self.queue or (self.probe and not children_first):
            return False
        overlaps = self.queue[0].kind == "GetS" and not self.resolver.snoops
        return overlaps or self.open <= 0

    # ---- one request -----------------------------------------------------------------------------

    def serve(self, request: Message) -> Waits:
        """From its start to its close."""
        transaction = self.transaction = Transaction(request)
        transaction.record = self.system.log.opened(request, self.owner, self.clock.now)
        if request.kind == "Put":
            yield from self.take_back(transaction, request)
        else:
            granted = False
            while not granted:
                if not self.resolver.root:
                    yield from self.obtain(transaction, request)
                yield from self.plan(transaction, request)
                granted = yield from self.deliver(transaction, request)
            overlaps = transaction.right in SHARED and not self.resolver.snoops
            while self.open > 0 and not overlaps:
                yield self.news.wait()
        self.transaction = None
        self.system.counts.transactions += 1
        transaction.record.done(self.clock.now)

    def plan(self, transaction: Transaction, request: Message) -> Waits:
        """What the resolver's table sets in motion, and what the children's answers mean."""
        who = request.sender
        cell = self.protocol.resolver(self.children(who), request.kind, self.line)
        if "lost" in cell.actions:
            self.sharers[self.owner] = None  # a join keeps the sharers below it
            self.owner = NOBODY
            cell = self.protocol.resolver(self.children(who), request.kind, self.line)
        holds = self.resolver.snoops or self.owner == who or who in self.sharers
        transaction.holds = request.kind == "Upg" and holds
        # Where others read beside the owner, a writer gets the data from here, once the sharers
        # have answered: else one core would read the old value after another wrote the new one.
        early = "probeM" in cell.actions and self.others_read(who)
        transaction.direct = self.resolver.spec.reply == "direct" and not early
        data_to = who if transaction.direct else NOBODY
        if request.kind == "Amo":  # done here: it leaves no copy, the requester's neither (C8)
            transaction.direct, who, data_to = False, NOBODY, NOBODY
        poll = yield from self.poll_for(transaction, cell.actions, who, data_to)
        transaction.says, transaction.source = poll.says, poll.giver
        transaction.right = self.decide(transaction, request, poll)

    def others_read(self, requester: int) -> bool:
        """A snooping resolver knows only whether the protocol has owners that share."""
        if self.resolver.snoops:
            return self.protocol.owner_shares
        return self.others_share(requester)

    def poll_for(
        self, transaction: Transaction, actions: tuple[str, ...], spared: int, data_to: int
    ) -> Generator[simpy.Event, None, Poll]:
        """Asks children on the transaction's account and waits for what they say."""
        number = transaction.request.number if transaction.request else 0
        poll = self.ask(actions, spared, number, data_to)
        if transaction.record:
            transaction.record.asked(poll.waiting, self.clock.now)
        yield from self.answers(poll)
        transaction.data = poll.data or transaction.data
        return poll

    def decide(self, transaction: Transaction, request: Message, poll: Poll) -> str:
        """Settles who holds what; the right that the requester is granted."""
        found = next((word for word in ("own", "dirty", "gave") if word in poll.says), "nobody")
        if request.kind == "GetS":
            answers = {"gave": "given"}.get(found, found)
            self.settle_owner(poll)
            if poll.says & {"dirty", "own"}:
                self.promote()
            if answers == "dirty":
                self.take_over(transaction)
            if answers == "nobody" and (self.others_share(request.sender) or "shared" in poll.says):
                answers = "shared"
        else:
            answers = {"dirty": "given", "gave": "given"}.get(found, found)
            # The requester keeps what it may have until it is granted more.
            keeps = request.sender in self.sharers and request.kind != "Amo"
            self.sharers = {request.sender: None} if keeps else {}
            self.owner = NOBODY
        right = self.protocol.grant(request.kind, answers, self.line).next or ""
        # A read may be given E only where this level holds the line alone.
        return "S" if right == "E" and self.state not in ("E", "M") else right

    def take_over(self, transaction: Transaction) -> None:
        """Dirty data of a child that was asked to share: this level answers for them now."""
        assert transaction.data is not None
        if self.resolver.keeps_data:
            self.keep(transaction.data, dirty=True)
        elif self.resolver.root:
            self.resolver.write_memory(self.line, transaction.data)
        else:
            raise ProtocolError("a join without data was given dirty data to keep: it needs MOESI")

    # ---- the grant -------------------------------------------------------------------------------

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
        agent, delay = self.resolver.agent, 0
        data = transaction.data or self.copy
        assert data is not None
        if not transaction.data:
            delay = self.resolver.spec.data_hit
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
        if delay:
            self.resolver.use(self)
        if transaction.record:
            transaction.record.granted("", data.source)
        self.resolver.send(value, delay)

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

    # ---- writebacks and recalls ------------------------------------------------------------------

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
        self.send_probe("ProbeM", request.sender, "M", request.number, NOBODY)
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

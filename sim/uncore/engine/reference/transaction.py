"""A resolver towards its children: one transaction a line at a time (rules R2 to R8).

`attend` is the process of one line; what it does is written in the order in which it happens.
Interface: `attend`, and for the resolver that owns it the `Entry` it is.
Invariant: shared grants alone may overlap; nothing exclusive starts before all of them are
completed (R5).
"""

from __future__ import annotations

from uncore.engine.reference.entry import Poll, Transaction
from uncore.engine.reference.grant import Grant
from uncore.engine.reference.join import Waits
from uncore.engine.reference.message import NOBODY, Message

SHARED = ("S", "F")


class Line(Grant):
    """The whole of one line at one resolver."""

    def attend(self) -> Waits:
        """Serves what is waiting, in order, as long as the resolver knows the line."""
        while True:
            children_first = self.children_first()
            if self.recalled:
                yield from self.recall()
            elif self.probe and not children_first and not self.must_wait(self.probe):
                yield from self.answer_above()
                yield self.turn()
            elif self.may_start(children_first):
                self.served += self.probe is not None
                yield from self.serve(self.queue.popleft())
                yield self.turn()
            elif self.blank and self.resolver.forget(self):
                return
            else:
                yield self.news.wait()

    def children_first(self) -> bool:
        """J3: while a probe waits, a few requests that need no further right are served."""
        if not (self.probe and self.queue):
            return False
        if self.served >= self.resolver.spec.grants and not self.young(self.probe):
            return False
        request = self.queue[0]
        wish = "Load" if request.kind == "GetS" else "Store"
        return request.kind == "Put" or self.protocol.hits(self.state, wish)

    def young(self, probe: Message) -> bool:
        """Whether the request behind it may wait still."""
        return bool(probe.since) and self.clock.now < probe.since + self.resolver.spec.grants_until

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

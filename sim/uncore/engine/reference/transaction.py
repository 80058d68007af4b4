"""R2. The process of one line at a resolver, which serves one transaction at a time.

`attend` is this process. The functions below it are in the order of execution: obtain the right
from above, probe the children, grant, wait for the Unblock.

Invariant: only shared grants may overlap; no exclusive transaction starts before all of them are
completed (R5.2).
"""

from __future__ import annotations

from uncore.engine.reference import grants, join, writeback
from uncore.engine.reference.children import Waits, owner_answered
from uncore.engine.reference.entry import Entry, Poll, Transaction
from uncore.engine.reference.message import NOBODY, Message, ProtocolError


def attend(entry: Entry) -> Waits:
    """R2: serves waiting requests, probes and recalls of a line, in order, as long as the resolver
    knows the line.
    """
    while True:
        child_is_first = join.children_first(entry)
        if entry.recalled:
            yield from writeback.recall(entry)
        elif entry.probe and not child_is_first and join.may_answer(entry, entry.probe):
            yield from join.answer_above(entry)
            yield entry.clock.next_turn()
        elif may_start(entry, child_is_first):
            entry.served += entry.probe is not None
            yield from serve(entry, entry.queue.popleft())
            yield entry.clock.next_turn()
        elif entry.blank:
            return entry.resolver.forget(entry)
        else:
            yield entry.news.wait()


def serve(entry: Entry, request: Message) -> Waits:
    """R2: serves one request, from the opening of its transaction to its close."""
    transaction = entry.transaction = Transaction(request)
    transaction.record = entry.system.log.opened(request, entry.owner, entry.clock.now)
    if request.kind == "Put":
        yield from writeback.take(entry, transaction, request)
    else:
        delivered = False
        while not delivered:
            if not entry.resolver.root:
                yield from join.obtain(entry, transaction, request)
            yield from ask_children(entry, transaction, request)
            delivered = yield from grants.deliver(entry, transaction, request)
        yield from await_unblocks(entry, transaction)
    entry.transaction = None
    entry.system.counts.transactions += 1
    transaction.record.closes(entry.clock.now)


def ask_children(entry: Entry, transaction: Transaction, request: Message) -> Waits:
    """R2: probes children as the resolver's table says, and determines the right to grant from
    their answers.
    """
    # For an Amo, which leaves no copy, the requester is treated like any other child (C8.3).
    requester = NOBODY if request.kind == "Amo" else request.sender
    cell = entry.protocol.resolver(entry.children(requester), request.kind, entry.line)
    if "lost" in cell.actions:
        entry.add_sharer(entry.owner)  # if it is a join, there may be sharers below it
        entry.owner = NOBODY
        cell = entry.protocol.resolver(entry.children(requester), request.kind, entry.line)
    may_hold_copy = entry.resolver.snoops or entry.has_copy(requester)
    transaction.holds = request.kind == "Upg" and may_hold_copy
    transaction.direct = grants.goes_direct(entry, request, cell)
    data_to = requester if transaction.direct else NOBODY
    read = request.kind == "GetS"
    displaced = entry.displaced_by(requester) if read else NOBODY
    poll = yield from writeback.poll(entry, transaction, cell, requester, data_to, displaced)
    transaction.says, transaction.source = poll.says, poll.giver
    answers = share(entry, transaction, poll) if read else revoke(entry, request, poll)
    transaction.right = entry.gives(entry.protocol.grant(request.kind, answers, entry.line))


def share(entry: Entry, transaction: Transaction, poll: Poll) -> str:
    """R2: updates the entry after the answers to a ProbeS. Returns the grant table's column."""
    assert transaction.request is not None
    owner_answered(entry, poll)
    entry.apply_answers(poll)
    if "own" in poll.says:
        return "own"
    if "pass" in poll.says:
        return "passed"
    if "dirty" in poll.says:  # this level is responsible for the data now
        assert transaction.data is not None
        if not writeback.put_in_place(entry, transaction.data):
            raise ProtocolError("a join without data was given dirty data to keep: it needs MOESI")
        return "dirty"
    if "gave" in poll.says:
        return "given"
    if entry.others_share(transaction.request.sender) or "shared" in poll.says:
        return "shared"
    if not entry.protocol.may_store(entry.above.state):
        return "outside"
    return "passed" if entry.was_passed else "nobody"


def revoke(entry: Entry, request: Message, poll: Poll) -> str:
    """R2: updates the entry after all copies but the requester's have been revoked. Returns the
    column of the grant table.
    """
    keeps = request.kind != "Amo" and entry.has_copy(request.sender)
    entry.clear_holders()
    if keeps:
        entry.add_sharer(request.sender)
    if "own" in poll.says:
        return "own"
    return "given" if poll.says & {"dirty", "gave"} else "nobody"


def await_unblocks(entry: Entry, transaction: Transaction) -> Waits:
    """R5.1, R5.2: waits until the grant is completed. Does not wait after a shared grant, which
    further reads may overlap.
    """
    overlaps = entry.protocol.shares(transaction.right) and not entry.resolver.snoops
    while entry.open > 0 and not overlaps:
        yield entry.news.wait()


def may_start(entry: Entry, passes_probe: bool) -> bool:
    """R5.2: returns True if the request at the head of the queue may start. A read may start while
    shared grants are open, unless the resolver snoops, or must invalidate a sharer first.
    """
    if not entry.queue or (entry.probe and not passes_probe):
        return False
    first = entry.queue[0]
    overlaps = first.kind == "GetS" and not entry.resolver.snoops
    return entry.open <= 0 or (overlaps and entry.displaced_by(first.sender) == NOBODY)

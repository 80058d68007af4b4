"""R7. Writebacks from a resolver's children, and recalls of lines that the resolver evicts.

Interface: `take` serves a child's Put, `recall` recalls a line that is evicted, `poll` probes the
children for a transaction.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING

import simpy

from uncore.engine.reference import children, join
from uncore.engine.reference.children import Waits
from uncore.engine.reference.entry import Data, Entry, Poll, Transaction
from uncore.engine.reference.message import NOBODY, Message, ProtocolError

if TYPE_CHECKING:
    from uncore.protocol.table_shapes import Cell


def poll(
    entry: Entry,
    transaction: Transaction,
    cell: Cell,
    excluded: int,
    data_to: int,
    displaced: int = NOBODY,
) -> Generator[simpy.Event, None, Poll]:
    """R3: probes children for a transaction, and waits for their answers."""
    answers = children.ask(entry, cell, excluded, transaction.request, data_to, displaced)
    if transaction.record:
        transaction.record.asked(answers.waiting, entry.clock.now)
    yield from children.await_answers(entry, answers)
    transaction.data = answers.data or transaction.data
    return answers


def ask_putter(entry: Entry, transaction: Transaction, request: Message) -> Waits:
    """R3: probes the child that sent a Put, because a snooping resolver does not know whether the
    Put is stale.
    """
    entry.poll = answers = Poll(waiting=1)
    children.send_probe(entry, "ProbeM", request.sender, "", request, NOBODY)
    if transaction.record:
        transaction.record.asked(1, entry.clock.now)
    yield from children.await_answers(entry, answers)
    transaction.data = answers.data if "dirty" in answers.says else None


def take(entry: Entry, transaction: Transaction, request: Message) -> Waits:
    """R7.1 to R7.3: serves a child's Put. Unless the Put is stale, its data are stored at this
    level, or written back to the level above.
    """
    assert request.data is not None
    cell = entry.protocol.resolver(entry.children(request.sender), "Put", entry.line)
    if "take" in cell.actions:
        transaction.data = Data(request.data, request.origin, request.sender)
    elif "ask" in cell.actions:
        yield from ask_putter(entry, transaction, request)
    if transaction.data:
        entry.owner = NOBODY
        entry.note_dirtied()
        if not put_in_place(entry, transaction.data):
            transaction.says = {"dirty"}
            yield from give_up(entry, transaction)
    ack = Message("PutAck", entry.line, entry.resolver.agent, request.sender, request.number)
    ack.resolver = entry.resolver.agent
    entry.resolver.send(ack)


def put_in_place(entry: Entry, data: Data) -> bool:
    """R7.1 to R7.3: stores dirty data at this level, or in memory at a root without data. Returns
    False at a join without data, which has no place for them.
    """
    if entry.resolver.keeps_data:
        entry.keep(data, dirty=True)
    elif entry.resolver.root:
        entry.resolver.write_memory(entry.line, data)
    else:
        return False
    return True


def recall(entry: Entry) -> Waits:
    """R7.4: evicts this level's copy, or its entry (R8.1)."""
    entry.recalled = False
    entry.transaction = Transaction(None)
    yield from give_up(entry, entry.transaction)
    entry.transaction = None


def give_up(entry: Entry, transaction: Transaction) -> Waits:
    """R7.4: recalls every copy below, then gives the line up."""
    cell = entry.protocol.resolver(entry.children(), "Evict", entry.line)
    answers = yield from poll(entry, transaction, cell, NOBODY, NOBODY)
    entry.clear_holders()
    yield from leave(entry, transaction, "dirty" in transaction.says | answers.says)


def leave(entry: Entry, transaction: Transaction, dirty_below: bool) -> Waits:
    """R7.4: writes the line back if this level's copy is dirty, or if a child has given dirty data
    (`dirty_below`).
    """
    if dirty_below:
        entry.note_dirtied()
    dirty, data = entry.dirty or dirty_below, transaction.data or entry.copy
    if entry.copy:
        entry.drop()
    entry.dirty = False
    if entry.resolver.root:
        if dirty and data:
            entry.resolver.write_memory(entry.line, data)
    elif entry.above.state != "I" and "Put" in entry.above.step("Evict").actions:
        if not (dirty and data):
            raise ProtocolError("a level responsible for dirty data lost them")
        yield from put_above(entry, data)


def put_above(entry: Entry, data: Data) -> Waits:
    """R7.4: writes data back to the level above. Until the PutAck arrives, probes are answered with
    these data (C5).
    """
    entry.leaving = data.bytes
    entry.resolver.send_up("Put", entry.line, data)
    yield from join.await_above(entry)
    entry.above.step("PutAck")
    entry.leaving = None

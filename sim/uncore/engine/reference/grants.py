"""R4 to R6. A resolver's grants: data or a right for the requesting child, or the value of a far
atomic.

Interface: `deliver` when all probed children have answered; `goes_direct` before they are probed.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING

import simpy

from uncore.engine.reference import children, join
from uncore.engine.reference.access import Access
from uncore.engine.reference.contents import Bytes
from uncore.engine.reference.entry import Data, Entry, Transaction
from uncore.engine.reference.message import NOBODY, Message, ProtocolError
from uncore.engine.reference.writeback import put_in_place

if TYPE_CHECKING:
    from uncore.protocol.table_shapes import Cell


def operate(entry: Entry, transaction: Transaction, request: Message, operation: Access) -> None:
    """C8.3: performs a far AMO on this level's data, when no child has a copy, and sends the old
    value.
    """
    data = transaction.data or entry.copy
    assert data is not None
    line = Bytes(data=bytearray(data.bytes))
    value = Message("Value", entry.line, entry.resolver.agent, request.sender, request.number)
    system = entry.resolver.system
    system.versions.change(operation.address, operation.size, line, system.clock.now)
    value.resolver, value.value = entry.resolver.agent, operation.apply(line)
    entry.above.step("Store")
    if not put_in_place(entry, Data(bytes(line.data), data.origin, data.source)):
        raise ProtocolError("a join without data was asked for an atomic operation on them")
    if transaction.record:
        transaction.record.granted("", data.source)
    entry.resolver.send(value)


def goes_direct(entry: Entry, request: Message, cell: Cell) -> bool:
    """R4: returns True if the owner sends its data directly to the requester. It does not if the
    table says `via`.
    """
    direct = entry.resolver.spec.reply == "direct" and "via" not in cell.actions
    return direct and request.kind != "Amo"


def deliver(
    entry: Entry, transaction: Transaction, request: Message
) -> Generator[simpy.Event, None, bool]:
    """R6: grants the request. Its data come from the owner, from this level, or at a root from
    memory. Returns False if they must be requested from the level above, because this level has
    lost both data and right.
    """
    sent_by_owner = transaction.direct and bool(transaction.says & {"gave", "own"})
    if not (sent_by_owner or transaction.data or transaction.holds or entry.copy):
        if not entry.resolver.root:
            give_up_clean(entry)
            return False
        entry.resolver.read_memory(entry.line)
        join.take_in(entry, transaction, (yield from join.await_above(entry)))
    if request.operation:
        operate(entry, transaction, request, request.operation)
        return True
    if not sent_by_owner:
        send_grant(entry, transaction, request)
    record_grant(entry, transaction, request)
    return True


def give_up_clean(entry: Entry) -> None:
    """R6: gives up the right held above, because the children have silently dropped the clean
    data.
    """
    if "drop" not in entry.above.step("Evict").actions:
        raise ProtocolError("a level responsible for dirty data lost them")


def send_grant(entry: Entry, transaction: Transaction, request: Message) -> None:
    """R6: sends a grant with the data collected, with this level's own data, or without data."""
    delay, data = 0, transaction.data
    if not (data or transaction.holds):
        data, delay = entry.copy, read_data(entry)
        entry.resolver.capacity.use(entry)
    kind = "Data" if data else "Grant"
    grant = Message(kind, entry.line, entry.resolver.agent, request.sender, request.number)
    grant.resolver, grant.right = entry.resolver.agent, transaction.right
    grant.wants_unblock = children.completes(entry, transaction.right)
    grant.contended = entry.others_wait(request.sender)
    if data:
        grant.data, grant.origin = data.bytes, data.origin
    transaction.source = data.source if data else NOBODY
    entry.resolver.send(grant, delay)


def read_data(entry: Entry) -> int:
    """R6.1, R6.2: returns the time until this level's data leave. Two reads of one line are at
    least `data_repeat` apart.
    """
    now, spec = entry.clock.now, entry.resolver.spec
    begin = max(now, entry.readable_at)
    entry.readable_at = begin + spec.data_repeat
    return begin + spec.data_hit - now


def record_grant(entry: Entry, transaction: Transaction, request: Message) -> None:
    """Updates the entry after a grant. An exclusive grant of dirty data moves the line (R7.3)."""
    right, requester, protocol = transaction.right, request.sender, entry.protocol
    if transaction.record:
        transaction.record.granted(right, transaction.source)
    if not entry.resolver.snoops:
        if protocol.owns(right):
            entry.sharers.pop(requester, None)
            entry.owner, entry.owner_request = requester, request.number
        else:
            entry.add_sharer(requester)
    entry.open += passed_by_owner(transaction) or children.completes(entry, right)
    if not protocol.is_dirty(right):
        return
    if request.kind != "GetS":  # with GetS, the data had been modified before the grant
        entry.above.step("Store")  # the child may write without a request
    # A snooping resolver cannot know whether an upgrading child still has its copy. If it does not,
    # it sends a GetM next, for which this level must keep its data.
    if not (entry.resolver.snoops and transaction.holds):
        entry.dirty = False
        if entry.copy and not entry.resolver.inclusive:
            entry.drop()


def passed_by_owner(transaction: Transaction) -> bool:
    """R12.2: returns True if the owner passed the line to the reader, which sends an Unblock."""
    return transaction.direct and "pass" in transaction.says

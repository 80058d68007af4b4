"""J. The join: the part of a resolver that is a client of the level above, by the client table.

The generators here are steps of `transaction.attend`, the process of one line.

Interface: `obtain` gets a right from above; `await_above` waits for an answer from above;
`may_answer` and `answer_above` serve a probe from above; `children_first` tells whether a child's
request is served before it.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING

import simpy

from uncore.engine.reference import client
from uncore.engine.reference.children import Waits, ask, await_answers, owner_answered
from uncore.engine.reference.entry import Data, Entry, Transaction
from uncore.engine.reference.message import NOBODY, Message, ProtocolError
from uncore.protocol.states import request_of

if TYPE_CHECKING:
    from uncore.protocol.table_shapes import Cell


def event_of_request(request: Message) -> str:
    """J1: returns the join's event for a child's request: GetS is its Load, GetM and Upg its
    Store.
    """
    return "Load" if request.kind == "GetS" else "Store"


def suffices(entry: Entry, request: Message) -> bool:
    """J1: returns True if the join's right suffices for the request, so that this level can serve
    it.
    """
    return entry.protocol.hits(entry.above.state, event_of_request(request))


def obtain(entry: Entry, transaction: Transaction, request: Message) -> Waits:
    """J1: sends requests to the level above until the join's right suffices."""
    while not suffices(entry, request):
        surely_has_data = has_data_for(entry, request)
        kind = request_of(entry.above.step(event_of_request(request)))
        if kind == "Upg" and not surely_has_data:
            kind = "GetM"
        yield from ask_above(entry, transaction, kind)


def ask_above(entry: Entry, transaction: Transaction, kind: str) -> Waits:
    """J1: sends one request, or two if the first was an upgrade of a copy that was invalidated
    before the grant came.
    """
    while kind:
        entry.above.request = entry.resolver.send_up(kind, entry.line)
        grant = yield from await_above(entry)
        cell = entry.above.step(entry.above.event(grant))
        entry.contended_above = grant.contended
        if "fill" in cell.actions:
            take_in(entry, transaction, grant)
            yield entry.clock.next_turn()
        if "unblock" in cell.actions:
            message = client.unblock(grant, entry.resolver.agent)
            entry.system.send_all(message, entry.clock.now)
        kind = request_of(cell)


def take_in(entry: Entry, transaction: Transaction, message: Message) -> None:
    """Stores data that came from above, or from memory."""
    assert message.data is not None
    transaction.data = Data(message.data, message.origin, message.sender)
    if entry.resolver.keeps_data:
        entry.keep(transaction.data, dirty=False)


# ---- probes from above ---------------------------------------------------------------------------


def await_above(entry: Entry) -> Generator[simpy.Event, None, Message]:
    """J2: waits for the next answer from above and returns it; serves a probe from above
    meanwhile.
    """
    while entry.from_above is None:
        if entry.probe and may_answer(entry, entry.probe):
            yield from answer_above(entry)
        else:
            yield entry.news.wait()
    answer, entry.from_above = entry.from_above, None
    return answer


def may_answer(entry: Entry, probe: Message) -> bool:
    """J2: returns True if a probe may be answered now. It may not while children are being probed
    or grants to them are open, nor if the probe is early (C3.1).
    """
    early = entry.above.event(probe) == "Early"
    return not early and "wait" not in plan_for(entry, probe).actions


def plan_for(entry: Entry, probe: Message) -> Cell:
    """J2: returns the cell of the join's table for a probe."""
    return entry.protocol.join(entry.children(), phase(entry), probe.kind, entry.line)


def phase(entry: Entry) -> str:
    """J2: returns the second word of the row in the join table: the agents for which the join
    waits.
    """
    if entry.leaving is not None:
        return "put"
    if entry.open > 0 or entry.poll:
        return "below"
    return "above" if entry.transaction else "idle"


def answer_above(entry: Entry) -> Waits:
    """J2: answers a probe from above: probes the children first, and then answers by the client
    table.
    """
    probe, entry.probe = entry.probe, None
    assert probe is not None
    entry.contended_above = False
    poll = ask(entry, plan_for(entry, probe), NOBODY, probe, NOBODY)
    yield from await_answers(entry, poll)
    entry.apply_answers(poll)
    if probe.kind == "ProbeS":
        owner_answered(entry, poll)
        if poll.data and entry.resolver.keeps_data:
            entry.keep(poll.data, entry.dirty or poll.dirty)
    else:
        entry.clear_holders()
    reply(entry, probe, poll.data or entry.copy)


def reply(entry: Entry, probe: Message, data: Data | None) -> None:
    """J2: sends the answer to a probe, with this level's data, and enters the next state of the
    client table.
    """
    agent, above = entry.resolver.agent, entry.above
    if data is None and entry.leaving is not None:
        data = Data(entry.leaving, agent, agent)
    cell = above.step(event_of(entry, probe))
    if "dirty" in cell.actions and data is None:
        raise ProtocolError("a level responsible for dirty data lost them")
    bytes_, origin = (data.bytes, data.origin) if data else (None, NOBODY)
    messages = client.replies(entry.protocol, probe, cell, agent, bytes_, entry.held, origin)
    entry.system.send_all(messages, entry.clock.now)
    if entry.copy and not above.holds_copy:
        entry.drop()
    entry.dirty = entry.dirty and entry.protocol.is_dirty(above.state)


# ---- children while a probe waits ----------------------------------------------------------------


def children_first(entry: Entry) -> bool:
    """J3: returns True if a child's request at the head of the queue is served before the waiting
    probe. It must need no further right.
    """
    if not (entry.probe and entry.queue):
        return False
    if not (under_count(entry) or young(entry, entry.probe)):
        return False
    return entry.queue[0].kind == "Put" or suffices(entry, entry.queue[0])


def under_count(entry: Entry) -> bool:
    """J3.1: returns True if fewer than `grants` requests have been served while the probe waits."""
    return entry.served < entry.resolver.spec.grants


def young(entry: Entry, probe: Message) -> bool:
    """J3.2, J3.3: returns True if the request that caused the probe, if any, is younger than
    `grants_until`.
    """
    return bool(probe.since) and entry.clock.now < probe.since + entry.resolver.spec.grants_until


# ---- upgrades ------------------------------------------------------------------------------------


def has_data_for(entry: Entry, request: Message) -> bool:
    """J4: returns True if the requester or this level is certain to have the data."""
    dirty_here = entry.protocol.is_dirty(entry.above.state)
    upgrades = request.kind == "Upg" and entry.has_copy(request.sender)
    return bool(entry.copy) or dirty_here or upgrades


# ---- lines passed on -----------------------------------------------------------------------------


def event_of(entry: Entry, probe: Message) -> str:
    """J5.1: returns the event of the client table (its column) that a probe is. A ProbeS after
    which copies stay below is the event Stays, if the table has it.
    """
    event = entry.above.event(probe)
    stays = entry.protocol.has_stays and entry.held_below
    return "Stays" if event == "ProbeS" and stays else event

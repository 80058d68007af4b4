"""R3. Probes from a resolver to its children, and the children's answers.

Interface: `ask` probes the children that a cell names, `await_answers` waits for them;
`owner_answered` updates the entry after a ProbeS.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING

import simpy

from uncore.engine.reference.entry import Data, Entry, Poll
from uncore.engine.reference.message import NOBODY, Message, ProtocolError

if TYPE_CHECKING:
    from uncore.protocol.table_shapes import Cell

Waits = Generator[simpy.Event, None, None]

PROBE = {"probeS": "ProbeS", "probeM": "ProbeM"}  # action of the table -> probe to the owner


def ask(
    entry: Entry,
    cell: Cell,
    excluded: int,
    cause: Message | None,
    data_to: int,
    displaced: int = NOBODY,
) -> Poll:
    """R3: probes the children that a cell names, except `excluded`. `cause` is a request, a probe
    from above, or None for a recall. `data_to` is the agent to which the data are sent, or NOBODY
    for this level. `displaced` is a sharer to invalidate because there is no free pointer (R11.3),
    or NOBODY.
    """
    poll = entry.poll = Poll()
    kind = next((PROBE[action] for action in cell.actions if action in PROBE), None)
    if kind:
        for child in owners(entry):
            if child not in (excluded, NOBODY):
                send_probe(entry, kind, child, entry.gives(cell), cause, data_to)
                poll.waiting += 1
                poll.asked_owner = not entry.resolver.snoops
    if "inv" in cell.actions:
        for child in entry.may_share:
            if child != excluded:
                send_probe(entry, "Inv", child, "", cause, data_to)
                poll.waiting += 1
    if displaced != NOBODY:
        send_probe(entry, "Inv", displaced, "", cause, data_to)
        poll.waiting += 1
        del entry.sharers[displaced]
    return poll


def owners(entry: Entry) -> tuple[int, ...]:
    """R3: returns the children that may have the data: the owner, or all children if the resolver
    snoops.
    """
    return entry.resolver.spec.children if entry.resolver.snoops else (entry.owner,)


def send_probe(
    entry: Entry, kind: str, child: int, right: str, cause: Message | None, data_to: int
) -> None:
    """R3: sends one probe. It names the receiver of the data, and the right that the owner grants
    with the data.
    """
    probe = Message(kind, entry.line, entry.resolver.agent, child)
    if cause:
        probe.number, probe.since = cause.number, cause.since or cause.left_at
        probe.contended = entry.others_wait(cause.sender)
    probe.resolver, probe.requester, probe.right = entry.resolver.agent, data_to, right
    probe.revokes = entry.owner_request if child == entry.owner else 0
    probe.wants_unblock = completes(entry, right)
    entry.resolver.send(probe)


def answered(entry: Entry, answer: Message) -> None:
    """Records the answer of a child."""
    poll = entry.poll
    if poll is None or poll.waiting == 0:
        raise ProtocolError("a resolver received an answer it did not ask for")
    poll.waiting -= 1
    poll.says |= answer.says
    if "gave" in answer.says:
        poll.giver = answer.sender
    if answer.data is not None:
        poll.data = Data(answer.data, answer.origin, answer.sender)


def await_answers(entry: Entry, poll: Poll) -> Waits:
    """Waits until every child that was probed has answered."""
    while poll.waiting:
        yield entry.news.wait()
    entry.poll = None


def owner_answered(entry: Entry, poll: Poll) -> None:
    """Updates the entry after a ProbeS: the owner has kept ownership, a shared copy, or nothing."""
    if poll.asked_owner and "own" not in poll.says:
        if "shared" in poll.says:
            entry.add_sharer(entry.owner)
        entry.owner = NOBODY


def completes(entry: Entry, right: str) -> bool:
    """R5.1, R5.2: returns True if the requester must confirm this right by an Unblock."""
    return entry.protocol.shares(right) or entry.resolver.spec.unblock == "completion"

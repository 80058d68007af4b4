"""One line at one client: a core's caches, or the upper half of a join.

Cores and joins both request lines from a resolver by the client table. They differ in timing and in
where the data are (caches.py, join.py), not in their messages.

Invariant: a client's state changes only as a cell of the client table says.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from uncore.engine.reference.contents import Bytes
from uncore.engine.reference.message import NOBODY, Message

if TYPE_CHECKING:
    from uncore.engine.reference.protocol import Protocol
    from uncore.protocol.table_shapes import Cell


@dataclass(eq=False)
class Client(Bytes):
    """One agent's state of a line."""

    protocol: Protocol
    line: int
    state: str = "I"
    request: int = 0  # number of the latest request

    def cell(self, event: str) -> Cell:
        """Returns the table's cell for an event."""
        return self.protocol.client(self.state, event, self.line)

    def step(self, event: str) -> Cell:
        """C1: returns the client table's cell for an event, and enters its next state."""
        cell = self.cell(event)
        self.state = cell.next or self.state
        return cell

    def event(self, message: Message) -> str:
        """C3.1: returns the table's column for a message. It is Early for a probe that revokes the
        grant for which the line waits.
        """
        if message.kind == "Data":
            return f"Data{message.right}"
        revoked = message.revokes and message.revokes == self.request
        if revoked and self.protocol.waits_for_grant(self.state):
            return "Early"
        return message.kind

    @property
    def holds_copy(self) -> bool:
        return self.protocol.holds_copy(self.state)


def replies(
    protocol: Protocol,
    probe: Message,
    cell: Cell,
    agent: int,
    data: bytes | None,
    shares: bool,
    origin: int,
) -> list[Message]:
    """R4, R12.1: returns a client's messages in answer to a probe: an Answer, and perhaps Data for
    the requester.

    `data`: the client's copy, if it has one; `shares`: the client or a child below it has a copy.
    """
    if not {"ack", "give", "shared", "own"}.intersection(cell.actions):
        return []
    gives = "give" in cell.actions and data is not None
    facts = {"gave": gives, "dirty": gives, "own": gives, "pass": gives, "shared": shares}
    says = {word for word, is_true in facts.items() if is_true and word in ("gave", *cell.actions)}
    to_requester = gives and probe.requester != NOBODY
    # The resolver gets the data if the probe names no requester, or if a ProbeS makes it take over
    # dirty data.
    to_resolver = gives and (not to_requester or (probe.kind == "ProbeS" and "dirty" in says))
    messages = []
    if to_requester:
        grant_of_owner = Message("Data", probe.line, agent, probe.requester, probe.number)
        grant_of_owner.right = protocol.passed_right if "pass" in says else probe.right
        grant_of_owner.wants_unblock = probe.wants_unblock
        grant_of_owner.resolver, grant_of_owner.data, grant_of_owner.origin = (
            probe.resolver,
            data,
            origin,
        )
        grant_of_owner.contended = probe.contended
        messages.append(grant_of_owner)
    answer = Message("Answer", probe.line, agent, probe.resolver, probe.number)
    answer.says = frozenset(says)
    if to_resolver:
        answer.data, answer.origin = data, origin
    return [*messages, answer]


def unblock(grant: Message, agent: int) -> list[Message]:
    """R5: returns the Unblock by which the requester completes a grant, if the grant asks for
    one.
    """
    if not grant.wants_unblock:
        return []
    return [Message("Unblock", grant.line, agent, grant.resolver, grant.number)]

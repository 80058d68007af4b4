"""What every client of a resolver does by the client table: a core's caches, a join's upper half.

Interface: `Protocol`, the tables with their impossible cells guarded; `event_of` a message;
`replies` to a probe; `completion` of a grant.
Invariant: a client's state changes only to what the cell of the table says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from uncore.engine.reference.message import NOBODY, Message, ProtocolError
from uncore.protocol import tables

if TYPE_CHECKING:
    from uncore.protocol.shapes import Cell

AWAITING = ("IS", "IM", "SM", "OM")  # states that wait for a grant
WITHOUT_COPY = ("I", "IS", "IM", "II")
WRITABLE = ("M", "E")


class Protocol:
    """The tables of one protocol; a cell that cannot be is an error of machine or tables."""

    def __init__(self, name: str) -> None:
        self.tables = tables.load(name)
        # Does an owner let others read beside it (F, O)?  A snooping resolver cannot see it.
        given = self.tables.grant["GetS", "given"].next
        self.owner_shares = given == "F" or "own" in self.tables.client["M", "ProbeS"].actions
        self.shared_right = given or ""

    def client(self, state: str, event: str, line: int) -> Cell:
        return self._possible("client", state, event, line)

    def resolver(self, children: str, request: str, line: int) -> Cell:
        return self._possible("resolver", children, request, line)

    def grant(self, request: str, answers: str, line: int) -> Cell:
        return self._possible("grant", request, answers, line)

    def join(self, children: str, phase: str, probe: str, line: int) -> Cell:
        return self._possible("join", f"{children} {phase}", probe, line)

    def hits(self, state: str, wish: str) -> bool:
        """Does the right suffice?"""
        return "hit" in self.tables.client[state, wish].actions

    def _possible(self, table: str, row: str, column: str, line: int) -> Cell:
        cell: Cell = getattr(self.tables, table)[row, column]
        if not cell.possible:
            raise ProtocolError(
                f"{table} in {row} met {column}, which its table declares impossible (line {line})"
            )
        return cell


def event_of(message: Message, state: str, request: int) -> str:
    """The column of the client table; a probe that revokes the awaited grant is Early (C3)."""
    if message.kind == "Data":
        return f"Data{message.right}"
    if state in AWAITING and message.revokes and message.revokes == request:
        return "Early"
    return message.kind


def request_of(cell: Cell) -> str:
    """The request that a cell sends; "" if none."""
    return next((kind for kind in ("GetS", "GetM", "Upg") if kind in cell.actions), "")


def replies(
    probe: Message, cell: Cell, agent: int, data: bytes | None, shares: bool, origin: int
) -> list[Message]:
    """What a client says to a probe: data to the requester, an answer to the resolver.

    `data`: its copy, if it has one; `shares`: a copy is here or below.
    """
    gives = "give" in cell.actions and data is not None
    if not {"ack", "give", "shared", "own"}.intersection(cell.actions):
        return []
    facts = {"gave": gives, "dirty": gives, "own": gives, "shared": shares}
    says = {word for word, true in facts.items() if true and word in ("gave", *cell.actions)}
    to_requester = gives and probe.requester != NOBODY
    # The resolver gets the bytes if it asked for itself, or takes over what differs from above.
    to_resolver = gives and (not to_requester or (probe.kind == "ProbeS" and "dirty" in says))
    said = []
    if to_requester:
        handed = Message("Data", probe.line, agent, probe.requester, probe.number)
        handed.right, handed.to_complete = probe.right, probe.to_complete
        handed.resolver, handed.data, handed.origin = probe.resolver, data, origin
        handed.contended = probe.contended
        said.append(handed)
    answer = Message("Answer", probe.line, agent, probe.resolver, probe.number)
    answer.says = frozenset(says)
    if to_resolver:
        answer.data, answer.origin = data, origin
    return [*said, answer]


def completion(grant: Message, agent: int) -> list[Message]:
    """The Unblock that a grant asked for."""
    if not grant.to_complete:
        return []
    return [Message("Unblock", grant.line, agent, grant.resolver, grant.number)]

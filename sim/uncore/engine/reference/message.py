"""Messages between agents about one line.

A request is identified by its requester and its number; each requester numbers its own requests.
All messages of the transaction carry that number. A probe also has, in `revokes`, the number of the
request whose grant it revokes (C3).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from uncore.engine.reference.access import Access, Value

NOBODY = -1

PROBES = ("ProbeS", "ProbeM", "Inv")
GRANTS = ("Data", "Grant", "Value")
REQUESTS = ("GetS", "GetM", "Upg", "Amo", "Put")


class ProtocolError(Exception):
    """Raised when a controller meets an event that its table declares impossible, or loses data for
    which it is responsible.
    """


@dataclass(slots=True, eq=False)
class Message:
    """One message. The fields that its kind does not need keep their defaults."""

    kind: str
    line: int
    sender: int
    receiver: int
    number: int = 0  # number of the request that the message belongs to
    left_at: int = 0  # when it left its sender
    rank: tuple[int, ...] = ()  # order among events of equal time (T2)
    requester: int = NOBODY  # probe: receiver of the data; NOBODY: the resolver itself
    resolver: int = NOBODY  # grants and probes: resolver of the transaction
    since: int = 0  # probe: when the request that caused it left its requester; 0: none (J3)
    revokes: int = 0  # probe: number of the request whose grant it revokes; 0: none
    right: str = ""  # Data and Grant: the right granted; probe: the right that the owner grants
    # grants and probes: the requester must send an Unblock (R5)
    wants_unblock: bool = False
    contended: bool = False  # grants and probes: others wait for the line (C9)
    says: frozenset[str] = frozenset()  # Answer: gave, dirty, shared, own, pass
    data: bytes | None = None
    operation: Access | None = None  # Amo: the operation to perform (C8)
    value: Value = 0  # Value: the value read
    delayed: bool = False  # the message has waited for a lookup (R9) or a turn (R5.3)
    origin: int = NOBODY  # data: the core, resolver or memory that held them

    @property
    def size(self) -> str:
        """F2.1 to F2.3: returns the size, which determines the message's costs on a link."""
        if self.data is not None:
            return "data"
        return "snoop" if self.kind in (*PROBES, "Answer", "Unblock") else "control"

"""What a resolver knows of one line: who below holds it, the right held above, its own copy.

Invariant: dirty data are in a child, in this level's copy, or in the one message under way.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from uncore.engine.reference.message import NOBODY, Message, ProtocolError
from uncore.engine.reference.time import AT_ONCE, Bell, Moment

if TYPE_CHECKING:
    from uncore.engine.reference.log import Record
    from uncore.engine.reference.resolver import Resolver


PROBE = {"probeS": "ProbeS", "probeM": "ProbeM"}  # of an owner, by the table's action


@dataclass(slots=True)
class Data:
    """A line's bytes, the agent they were in, and the one that sent them."""

    bytes: bytes
    origin: int
    source: int


@dataclass(slots=True)
class Poll:
    """Children asked, and what they have said so far."""

    waiting: int = 0
    asked_owner: bool = False
    giver: int = NOBODY  # who has handed its data over, last
    says: set[str] = field(default_factory=set)
    data: Data | None = None


@dataclass(slots=True)
class Transaction:
    """A request being served (R2), or with no request a recall (R7, R8)."""

    request: Message | None
    record: Record | None = None
    data: Data | None = None  # in hand for the requester
    says: set[str] = field(default_factory=set)  # what the children asked for it have said
    direct: bool = False  # the owner was told to answer the requester (R4)
    holds: bool = False  # the requester has a copy to be upgraded
    right: str = ""  # what is granted
    source: int = NOBODY  # who sent the bytes that the requester is given (L4)


class Entry:
    """One line at one resolver."""

    def __init__(self, resolver: Resolver, line: int) -> None:
        self.resolver, self.system, self.line = resolver, resolver.system, line
        self.protocol, self.clock = resolver.system.protocol, resolver.system.clock
        self.state = "M" if resolver.root else "I"  # the right held above
        self.request = 0  # number of the newest request above
        self.owner = NOBODY
        self.owner_request = 0  # the request that made it the owner
        self.sharers: dict[int, None] = {}  # a set in the order of arrival
        self.copy: Data | None = None  # this level's
        self.dirty = False  # and it differs from the level above
        self.leaving: bytes | None = None  # the writeback under way
        self.open = 0  # grants to children not yet completed; below 0: completed before granted
        self.queue: deque[Message] = deque()
        self.wanted = False  # when the line came from above, others waited there for it (C9)
        self.probe: Message | None = None  # from above, waiting
        self.served = 0  # children since it came
        self.recalled = False  # is to be given up
        self.poll: Poll | None = None
        self.transaction: Transaction | None = None
        self.from_above: Message | None = None
        self.news = Bell(self.clock)
        self.used = 0  # stamp for the least recently used

    @property
    def quiet(self) -> bool:
        """Nothing is under way or waiting."""
        busy = self.transaction or self.poll or self.probe or self.queue or self.recalled
        return not busy and self.open == 0

    @property
    def blank(self) -> bool:
        """Nothing to remember."""
        held = self.owner != NOBODY or self.sharers or self.copy
        return self.quiet and not held and (self.resolver.root or self.state == "I")

    @property
    def newest(self) -> bytes | None:
        """This level's bytes, if they are the valid ones: for functional reads (A2)."""
        if self.transaction and self.transaction.data:
            return self.transaction.data.bytes
        return self.leaving or (self.copy.bytes if self.copy and self.dirty else None)

    def children(self, requester: int = NOBODY) -> str:
        """The row of the resolver's table."""
        if self.resolver.snoops:
            return "U"
        if self.owner != NOBODY:
            return "R" if self.owner == requester else "W"
        return "S" if self.sharers else "N"

    def others_share(self, requester: int) -> bool:
        return any(child != requester for child in self.sharers)

    # ---- children asked --------------------------------------------------------------------------

    def ask(
        self, actions: tuple[str, ...], spared: int, cause: Message | None, data_to: int
    ) -> Poll:
        """Probes the children that a cell names, but for the one to be spared, because of a
        request, a probe from above, or the need for a place (None)."""
        poll = Poll()
        kind = next((PROBE[action] for action in actions if action in PROBE), None)
        if kind:
            right = "M" if kind == "ProbeM" else self.protocol.shared_right
            whom = self.resolver.spec.children if self.resolver.snoops else (self.owner,)
            for child in whom:
                if child not in (spared, NOBODY):
                    self.send_probe(kind, child, right, cause, data_to)
                    poll.waiting += 1
                    poll.asked_owner = not self.resolver.snoops
        if "inv" in actions:
            for child in sorted(self.sharers):
                if child != spared:
                    self.send_probe("Inv", child, "", cause, data_to)
                    poll.waiting += 1
        self.poll = poll
        return poll

    def send_probe(
        self, kind: str, child: int, right: str, cause: Message | None, data_to: int
    ) -> None:
        probe = Message(kind, self.line, self.resolver.agent, child)
        if cause:
            probe.number, probe.since = cause.number, cause.since or cause.left
            probe.contended = self.contended(cause.sender)
        probe.resolver, probe.requester, probe.right = self.resolver.agent, data_to, right
        probe.revokes = self.owner_request if child == self.owner else 0
        probe.to_complete = self.completes(right)
        self.resolver.send(probe)

    def answered(self, answer: Message) -> None:
        """A child has said what it has."""
        if self.poll is None or self.poll.waiting == 0:
            raise ProtocolError("a resolver received an answer it did not ask for")
        self.poll.waiting -= 1
        self.poll.says |= answer.says
        if "gave" in answer.says:
            self.poll.giver = answer.sender
        if answer.data is not None:
            self.poll.data = Data(answer.data, answer.origin, answer.sender)

    def contended(self, requester: int) -> bool:
        """Do others wait for the line, who will take it from its new owner (C9)?"""
        others = (other for other in self.queue if other.sender != requester)
        return self.wanted or bool(self.probe) or any(other.kind != "Put" for other in others)

    def completes(self, right: str) -> bool:
        """Is a grant of this right to be completed by the requester (R5)?"""
        return right in ("S", "F") or self.resolver.spec.unblock == "completion"

    # ---- this level's copy (R7) ------------------------------------------------------------------

    def turn(self) -> Moment:
        """At once, but after a line that had to make room for this one."""
        return self.clock.at(self.clock.now, AT_ONCE)

    def keep(self, data: Data, dirty: bool) -> None:
        self.copy = Data(data.bytes, self.resolver.agent, self.resolver.agent)
        self.dirty = dirty
        self.resolver.keep(self)

    def drop(self) -> None:
        self.copy, self.dirty = None, False
        self.resolver.drop(self)

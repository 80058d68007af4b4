"""A resolver's entry for one line: the children that hold it, the right held above, and its own
copy.

Invariant: dirty data are in a child, in this level's copy, or in the one message in flight.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from uncore.engine.reference.client import Client
from uncore.engine.reference.message import NOBODY, Message
from uncore.engine.reference.time import Bell

if TYPE_CHECKING:
    from uncore.engine.reference.log import ServedRequest
    from uncore.engine.reference.resolver import Resolver
    from uncore.protocol.table_shapes import Cell


@dataclass(slots=True)
class Data:
    """A line's bytes, the agent that held them (`origin`), and the agent that sent them
    (`source`).
    """

    bytes: bytes
    origin: int
    source: int


@dataclass(slots=True)
class Poll:
    """The number of probed children that have not answered yet, and the answers so far."""

    waiting: int = 0
    asked_owner: bool = False
    giver: int = NOBODY  # the last child that gave its data
    says: set[str] = field(default_factory=set)
    data: Data | None = None

    @property
    def dirty(self) -> bool:
        """Returns True if a child had data that differ from the level above."""
        return not self.says.isdisjoint(("dirty", "own", "pass"))


@dataclass(slots=True)
class Transaction:
    """A request being served (R2); without a request, a recall (R7, R8)."""

    request: Message | None
    record: ServedRequest | None = None
    data: Data | None = None  # data for the requester
    # answers of the children that were asked for the line
    says: set[str] = field(default_factory=set)
    direct: bool = False  # the owner was told to send its data to the requester (R4)
    holds: bool = False  # the requester has a copy to be upgraded
    right: str = ""  # the right that is granted
    source: int = NOBODY  # sender of the bytes that the requester is given (L4)


class Entry:
    """The state of one line at one resolver."""

    def __init__(self, resolver: Resolver, line: int) -> None:
        self.resolver, self.system, self.line = resolver, resolver.system, line
        self.protocol, self.clock = resolver.system.protocol, resolver.system.clock
        # This level's right from the level above, a state of the client table. A root always has
        # the full right to every line.
        self.above = Client(self.protocol, line, self.protocol.full_right if resolver.root else "I")
        self.wanted_above = False  # others waited above when the right came (C9.2)
        self.leaving: bytes | None = None  # bytes of the writeback in flight
        self.from_above: Message | None = None
        self.probe: Message | None = None  # probe from above that waits
        self.served = 0  # requests of children served since the probe came
        # ---- the children's state
        self.owner = NOBODY
        self.owner_request = 0  # the request that made it the owner
        self.sharers: dict[int, None] = {}  # a set in the order of arrival
        # There are, or were, more sharers than the directory has pointers for (R11).
        self.unnamed = False
        # Number of grants not completed; below 0: Unblocks came before the grants were recorded.
        self.open = 0
        # ---- this level's own state
        self.copy: Data | None = None
        self.dirty = False  # the copy differs from the level above
        self.used = 0  # number of the last use, for LRU
        self.repeats = 0  # time from which this level's data can be read again
        # ---- work under way
        self.queue: deque[Message] = deque()
        self.transaction: Transaction | None = None
        self.poll: Poll | None = None
        self.recalled = False  # the entry must be recalled
        self.news = Bell(self.clock)

    @property
    def quiet(self) -> bool:
        """Returns True if no work for the line is in progress or waiting."""
        busy = self.transaction or self.poll or self.probe or self.queue or self.recalled
        return not busy and self.open == 0

    @property
    def blank(self) -> bool:
        """Returns True if the entry has no information, so that it can be forgotten."""
        return self.quiet and not self.held and (self.resolver.root or self.above.state == "I")

    @property
    def held(self) -> bool:
        """Returns True if this level or a child has a copy."""
        return bool(self.copy) or self.held_below

    @property
    def held_below(self) -> bool:
        return bool(self.sharers or self.unnamed) or self.owner != NOBODY

    @property
    def newest(self) -> bytes | None:
        """Returns this level's bytes if they are the newest (A2); else None."""
        if self.transaction and self.transaction.data:
            return self.transaction.data.bytes
        return self.leaving or (self.copy.bytes if self.copy and self.dirty else None)

    def children(self, requester: int = NOBODY) -> str:
        """Returns the row of the resolver's table: which children hold the line."""
        if self.resolver.snoops:
            return "U"
        if self.owner != NOBODY:
            if self.owner == requester:
                return "R"
            return "B" if self.others_share(requester) else "W"
        return "S" if self.sharers or self.unnamed else "N"

    def others_share(self, requester: int) -> bool:
        return self.unnamed or any(child != requester for child in self.sharers)

    def others_wait(self, requester: int) -> bool:
        """C9.2: returns True if another agent waits for the line that the requester is given."""
        others = (other for other in self.queue if other.sender != requester)
        wanted_here = any(other.kind != "Put" for other in others) or self.probe is not None
        return wanted_here or self.wanted_above

    def gives(self, cell: Cell) -> str:
        """R10: returns the right that a cell names, replaced by the shared right if this resolver
        does not grant a forwarder.
        """
        right, protocol = cell.next or "", self.protocol
        plain = protocol.forwards(right) and not self.resolver.spec.forwarder
        return protocol.shared_right if plain else right

    def name(self, sharer: int) -> None:
        """R11: adds a sharer. If there are more than pointers, the directory no longer knows
        individual sharers.
        """
        self.sharers[sharer] = None
        pointers = self.resolver.spec.pointers
        self.unnamed |= 0 < pointers < len(self.sharers)

    @property
    def may_share(self) -> list[int]:
        """R11.1: returns the children to which an invalidation is sent."""
        if not self.unnamed:
            return sorted(self.sharers)
        spec, shared = self.resolver.spec, self.sharers.keys()
        regions = self.resolver.regions() if spec.overflow == "coarse" else [spec.children]
        return [
            child
            for region in regions
            if len(region) == len(spec.children) or not shared.isdisjoint(region)
            for child in region
            if child != self.owner
        ]

    def displaced_by(self, child: int) -> int:
        """R11.3: returns the sharer whose copy must be invalidated before the child is given one:
        the next after it in number; NOBODY if there are pointers enough.
        """
        others = sorted(self.sharers.keys() - {child})
        named, spec = len(others) + (self.owner != NOBODY), self.resolver.spec
        if spec.overflow != "evict" or named < spec.pointers:
            return NOBODY
        return next((other for other in others if other > child), others[0])

    def has_copy(self, child: int) -> bool:
        """Returns True if the child is known to have a copy."""
        return child == self.owner or (child in self.sharers and not self.unnamed)

    def nobody_below(self) -> None:
        """Records that no child has the line any more."""
        self.owner, self.unnamed = NOBODY, False
        self.sharers.clear()

    @property
    def was_passed(self) -> bool:
        """J5.2: returns True if the data to be granted came from above, passed on by their
        owner.
        """
        dirty_above = not self.resolver.root and self.protocol.is_dirty(self.above.state)
        return bool(self.protocol.passed_right) and dirty_above and not self.dirty

    def modified(self) -> None:
        """Records that a child had modified data, so that this level has the line in M."""
        if self.protocol.may_store(self.above.state):
            self.above.step("Store")

    def dirtied(self) -> None:
        """J5.3: records that a child gave dirty data away."""
        state, protocol = self.above.state, self.protocol
        if protocol.is_written(state) or not protocol.is_dirty(state):
            self.modified()

    def learns(self, poll: Poll) -> None:
        """Updates the entry by the answers of the children that were asked for the line."""
        if "pass" in poll.says:
            self.modified()
        elif poll.dirty:
            self.dirtied()

    def keep(self, data: Data, dirty: bool) -> None:
        """Stores a copy in this level's data (R7)."""
        self.copy = Data(data.bytes, self.resolver.agent, self.resolver.agent)
        self.dirty = dirty
        self.resolver.capacity.keep(self)

    def drop(self) -> None:
        self.copy, self.dirty = None, False
        self.resolver.capacity.drop(self)

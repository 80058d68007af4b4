"""A resolver's entry for one line: the children that hold it, the right held at the level above,
and the resolver's own copy.

Invariant: dirty data are in a child, in this level's copy, or in one message in flight.
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
    """A request that is being served (R2) or, if `request` is None, a recall (R7, R8)."""

    request: Message | None
    record: ServedRequest | None = None
    data: Data | None = None  # data for the requester
    # flags of the answers of the children that were probed
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
        # The right that this level holds at the level above, as a state of the client table. A root
        # holds the full right to every line.
        self.above = Client(self.protocol, line, self.protocol.full_right if resolver.root else "I")
        self.contended_above = False  # others waited when the level above granted it (C9.2)
        self.leaving: bytes | None = None  # bytes of the writeback in flight
        self.from_above: Message | None = None
        self.probe: Message | None = None  # probe from above that waits
        self.served = 0  # requests of children served since the probe came
        # ---- the children's state
        self.owner = NOBODY
        self.owner_request = 0  # number of the request whose grant made it the owner
        self.sharers: dict[int, None] = {}  # a set in the order of arrival
        # At some time there were more sharers than the directory has pointers (R11).
        self.overflowed = False
        # number of grants whose Unblock has not arrived; below 0 if an Unblock has arrived before
        # its grant was recorded
        self.open = 0
        # ---- this level's own state
        self.copy: Data | None = None
        self.dirty = False  # the copy differs from the level above
        self.last_use = 0  # number of the last use, for LRU
        self.readable_at = 0  # time from which this level's data can be read again
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
        """Returns True if the entry can be deleted, because a new one would be equal."""
        return self.quiet and not self.held and (self.resolver.root or self.above.state == "I")

    @property
    def held(self) -> bool:
        """Returns True if this level or a child has a copy."""
        return bool(self.copy) or self.held_below

    @property
    def held_below(self) -> bool:
        return bool(self.sharers or self.overflowed) or self.owner != NOBODY

    @property
    def newest(self) -> bytes | None:
        """Returns this level's bytes if they are the newest (A2); else None."""
        if self.transaction and self.transaction.data:
            return self.transaction.data.bytes
        return self.leaving or (self.copy.bytes if self.copy and self.dirty else None)

    def children(self, requester: int = NOBODY) -> str:
        """Returns the row of the resolver table: the children that hold the line."""
        if self.resolver.snoops:
            return "U"
        if self.owner != NOBODY:
            if self.owner == requester:
                return "R"
            return "B" if self.others_share(requester) else "W"
        return "S" if self.sharers or self.overflowed else "N"

    def others_share(self, requester: int) -> bool:
        return self.overflowed or any(child != requester for child in self.sharers)

    def others_wait(self, requester: int) -> bool:
        """C9.2: returns True if another agent waits for the line that the requester is given."""
        others = (other for other in self.queue if other.sender != requester)
        wanted_here = any(other.kind != "Put" for other in others) or self.probe is not None
        return wanted_here or self.contended_above

    def gives(self, cell: Cell) -> str:
        """R10: returns the right that a cell names. A resolver without a forwarder replaces F by
        the shared right.
        """
        right, protocol = cell.next or "", self.protocol
        without_forwarder = protocol.forwards(right) and not self.resolver.spec.forwarder
        return protocol.shared_right if without_forwarder else right

    def add_sharer(self, sharer: int) -> None:
        """R11: adds a sharer. If there are more sharers than pointers, the pointers overflow, and
        the directory no longer knows individual sharers.
        """
        self.sharers[sharer] = None
        pointers = self.resolver.spec.pointers
        self.overflowed |= 0 < pointers < len(self.sharers)

    @property
    def may_share(self) -> list[int]:
        """R11.1: returns the children to which an invalidation of the sharers is sent."""
        if not self.overflowed:
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
        """R11.3: returns the sharer whose copy must be invalidated before the child is granted one:
        the next sharer after the child, in circular order. Returns NOBODY if a pointer is free.
        """
        others = sorted(self.sharers.keys() - {child})
        pointers_used, spec = len(others) + (self.owner != NOBODY), self.resolver.spec
        if spec.overflow != "evict" or pointers_used < spec.pointers:
            return NOBODY
        return next((other for other in others if other > child), others[0])

    def has_copy(self, child: int) -> bool:
        """Returns True if the child is known to have a copy."""
        return child == self.owner or (child in self.sharers and not self.overflowed)

    def clear_holders(self) -> None:
        """Records that no child has the line any more."""
        self.owner, self.overflowed = NOBODY, False
        self.sharers.clear()

    @property
    def was_passed(self) -> bool:
        """J5.2: returns True if the data to be granted came from above because their owner there
        passed the line on.
        """
        dirty_above = not self.resolver.root and self.protocol.is_dirty(self.above.state)
        return bool(self.protocol.passed_right) and dirty_above and not self.dirty

    def note_modified(self) -> None:
        """Records that a child has modified data, so that this level holds the line in M."""
        if self.protocol.may_store(self.above.state):
            self.above.step("Store")

    def note_dirtied(self) -> None:
        """J5.3: records that a child has sent dirty data away."""
        state, protocol = self.above.state, self.protocol
        if protocol.is_written(state) or not protocol.is_dirty(state):
            self.note_modified()

    def apply_answers(self, poll: Poll) -> None:
        """Updates the right held above by the answers of the children that were probed."""
        if "pass" in poll.says:
            self.note_modified()
        elif poll.dirty:
            self.note_dirtied()

    def keep(self, data: Data, dirty: bool) -> None:
        """Stores a copy in this level's data (R7)."""
        self.copy = Data(data.bytes, self.resolver.agent, self.resolver.agent)
        self.dirty = dirty
        self.resolver.capacity.keep(self)

    def drop(self) -> None:
        self.copy, self.dirty = None, False
        self.resolver.capacity.drop(self)

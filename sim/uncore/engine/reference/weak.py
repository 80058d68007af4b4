"""H8. Weakly ordered cores: the values that their loads may read, and the order in which their
stores become visible.

Interface: `Weak` tracks the versions that one hart has seen (`None` in total store order); `store`,
`waits` and `release` are the rules of its store buffer; `apply` performs an access on its line.
Invariant: no access takes effect for its hart later than it is performed.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from uncore.engine.reference import buffer
from uncore.engine.reference.access import INPUT, OUTPUT, READS, WRITES, Access, Done, Value
from uncore.engine.reference.time import CLASS_NUMBERS
from uncore.engine.reference.versions import WORD_BYTES, words

if TYPE_CHECKING:
    from uncore.engine.reference.cache import CachedLine
    from uncore.engine.reference.hart import Hart


@dataclass(frozen=True, slots=True)
class BufferedStore(Access):
    """A store, or an AMO (H8.10), in the buffer."""

    leaves: int = 0  # earliest time at which the store may leave the buffer
    group: int = 0  # number of the store's group, which is all stores between two fences
    view: int = 0  # time at which the store's address and value are known


class Weak:
    """One hart's view of memory, expressed in times."""

    def __init__(self, hart: Hart) -> None:
        self.hart, self.isa, self.system = hart, hart.isa, hart.system
        self.isa.follow()
        # For each doubleword, the time of the newest version that the hart has seen.
        self.words: defaultdict[int, int] = defaultdict(int)
        self.after = self.loads = self.writes = self.releases = 0
        self.group = self.stores = self.choices = self.answered = self.written = 0
        self.declined = False  # the load being executed waits for the hart's own stores

    @property
    def now(self) -> int:
        return self.hart.clock.now

    @property
    def buffered_stores(self) -> list[BufferedStore]:
        """Returns the entries of the hart's store buffer."""
        return [store for store in self.hart.buffer if isinstance(store, BufferedStore)]

    # ---- the store buffer ------------------------------------------------------------------------

    def store(self, access: Access) -> Done | None:
        """H8.1, H8.10: puts a store into the buffer, for a randomly drawn time."""
        hart, core = self.hart, self.hart.core
        if len(hart.buffer) >= buffer.size(core):
            return None
        self.stores += 1
        leaves = self.now + self.system.chance.stays(hart.id, self.stores)
        view = int(max(self.isa.address_view, self.isa.data_view))
        hart.buffer.append(
            BufferedStore(
                access.kind,
                access.address,
                access.line,
                access.size,
                access.value,
                access.operation,
                access.expected,
                leaves=leaves,
                group=self.group,
                view=view,
            )
        )
        if leaves == self.now:
            self.release()
        else:
            rank = (core.agent, CLASS_NUMBERS["Interrupt"], hart.id, core.agent, 0)
            hart.clock.call(leaves, rank, lambda: core.drain(hart))
        return 0, self.stalls()

    def is_free(self, store: BufferedStore) -> bool:
        """H8.1: returns True if a store may leave: its time is over, and it is not ordered after an
        older store in the buffer.
        """
        for older in self.buffered_stores:
            if older is store:
                break
            if older.line == store.line or older.group != store.group:
                return False
        return store.leaves <= self.now

    def release(self) -> None:
        """H8.2: makes all free stores visible, or requests their lines, oldest first."""
        for store in self.buffered_stores:
            if self.is_free(store) and self.hart.core.make_visible(self.hart, store):
                self.hart.buffer.remove(store)

    def waits(self, access: Access) -> bool:
        """H8.3: returns True if an access must wait for the whole buffer, or for stores that are
        ordered before it.
        """
        if access.kind in ("load", "store"):
            return False
        if access.kind == "fence":
            predecessors, successors = access.order >> 4, access.order & 15
            waits = OUTPUT | WRITES | READS * self.has_amo
            return bool(predecessors & waits and successors & (INPUT | READS))
        if access.kind in ("read", "write") or access.releases:
            return True
        return any(
            store.line == access.line or (access.writes and store.group != self.group)
            for store in self.buffered_stores
        )

    # ---- accesses --------------------------------------------------------------------------------

    def apply(self, access: Access, line: CachedLine) -> Value:
        """H8.4: performs an access on its line. A write becomes visible when it is performed."""
        if access.kind == "load":
            return self.load(access, line)
        if access.kind == "lr":
            self.reserve(access, line)
            return access.apply(line)
        self.system.versions.change(access.address, access.size, line, self.now)
        value = access.apply(line)
        self.wrote(access)
        if isinstance(access, BufferedStore):
            self.loads = self.now if access.is_amo else self.loads
            return value
        self.exchanged(access)
        return value

    def wrote(self, access: Access) -> None:
        """H8.4: records a write that takes effect now; the hart no longer reads older values."""
        self.writes = self.now
        for word in words(access.address, access.size):
            self.words[word] = self.now

    def load(self, access: Access, line: CachedLine) -> int:
        """H8.5: returns the bytes that memory had at a time that is drawn at random, if the hart
        may read several versions.
        """
        self.declined = False
        word, versions, furthest = access.address // WORD_BYTES, self.system.versions, self.furthest
        first, read_time = max(self.earliest, self.words[word]), self.now
        if versions.last(word) > max(first, self.now - furthest):
            self.choices += 1
            look_back = self.system.chance.look_back(self.hart.id, self.choices)
            read_time = max(first, self.now - look_back)
        value, since = versions.value_at(word, line, read_time)
        self.words[word] = max(since, self.words[word])
        self.seen(max(self.earliest, since))
        return value >> access.address % WORD_BYTES * 8 & (1 << access.size * 8) - 1

    @property
    def furthest(self) -> int:
        return self.system.chance.limits.load

    @property
    def earliest(self) -> int:
        """H8.6: returns the earliest time at which the access being executed may be seen."""
        return max(self.after, int(self.isa.address_view))

    def fence(self, fence: Access) -> None:
        """H8.6: executes a fence: orders later loads, and (H8.1) later stores, after earlier
        accesses.
        """
        predecessors, successors = fence.order >> 4, fence.order & 15
        ordered_by_group = WRITES | READS * self.has_amo
        if successors & WRITES and self.hart.buffer and predecessors & ordered_by_group:
            self.group += 1
        if not successors & READS:
            return
        if predecessors & READS:
            self.after = max(self.after, self.loads)
        if predecessors & WRITES:
            self.after = max(self.after, self.writes)
        if predecessors & (INPUT | OUTPUT):
            self.after = self.now

    def exchanged(self, access: Access) -> None:
        """H8.6: applies the ordering of an AMO or SC that has written."""
        self.wrote(access)
        self.loads = self.now if access.is_amo else self.loads
        self.isa.result_view = self.now
        if access.acquires:
            self.after = self.now
        if access.releases:
            self.releases = self.now

    def interrupted(self) -> None:
        """H8.6: no load after an interrupt is seen before the interrupt was taken."""
        self.after = self.now

    def seen(self, view: int) -> None:
        """H8.7: records when a reading access was seen; its result carries that time."""
        self.loads = max(self.loads, view)
        self.isa.result_view = view

    def answers(self, load: Access) -> bool:
        """H8.7: returns True if the hart's own store provides the load's value; False if the load
        waits for the store to leave.
        """
        if self.declines():
            return False
        store = next(store for store in reversed(self.buffered_stores) if store.overlaps(load))
        self.seen(max(self.earliest, store.view))
        return True

    def reserve(self, access: Access, line: CachedLine) -> None:
        """H8.8: executes an LR, which reads the present bytes."""
        word = access.address // WORD_BYTES
        since = self.system.versions.value_at(word, line, self.now)[1]
        self.words[word] = max(since, self.words[word])
        view = max(self.earliest, since)
        if access.acquires:
            view = max(view, self.releases)
        if access.releases:
            view = max(view, self.loads, self.writes)
        self.seen(view)
        if access.acquires:
            self.after = max(self.after, view)

    def declines(self) -> bool:
        """H8.9: returns True if a load waits for the hart's own stores; drawn once for each
        load.
        """
        if not self.declined:
            self.answered += 1
            self.declined = self.system.chance.declines(self.hart.id, self.answered)
        return self.declined

    @property
    def has_amo(self) -> bool:
        """H8.10: returns True if the buffer holds an AMO, which also reads."""
        return any(store.is_amo for store in self.buffered_stores)

    def stalls(self) -> int:
        """H8.11: returns the time that the hart stalls after a write."""
        self.written += 1
        return self.system.chance.stalls(self.hart.id, self.written)

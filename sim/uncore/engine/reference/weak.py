"""H8. Weakly ordered cores: what their harts may see, and in which order their stores are seen.

Interface: `Weak` is what one hart has seen (`None` in total store order); `store`, `waits` and
`release` are its store buffer's rules, `apply` an access on its line.
Invariant: no access is seen later than it is performed.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from uncore.engine.reference import buffer
from uncore.engine.reference.access import INPUT, OUTPUT, READS, WRITES, Access, Done, Value
from uncore.engine.reference.time import CLASS
from uncore.engine.reference.versions import WORD_BYTES, words

if TYPE_CHECKING:
    from uncore.engine.reference.cache import CachedLine
    from uncore.engine.reference.hart import Hart


@dataclass(frozen=True, slots=True)
class Kept(Access):
    """A store in the buffer, or an AMO (H8.10)."""

    leaves: int = 0  # not before
    group: int = 0  # number of the group of stores between two fences
    view: int = 0  # time at which its address and value are known


class Weak:
    """One hart's view of memory; all numbers are times."""

    def __init__(self, hart: Hart) -> None:
        self.hart, self.isa, self.system = hart, hart.isa, hart.system
        self.isa.follow()
        self.words: defaultdict[int, int] = defaultdict(int)  # the version of each doubleword
        self.after = self.loads = self.writes = self.releases = 0
        self.group = self.stores = self.choices = self.answered = self.written = 0
        self.declined = False  # the load that is executed waits for its hart's own stores

    @property
    def now(self) -> int:
        return self.hart.clock.now

    @property
    def kept(self) -> list[Kept]:
        """Its store buffer."""
        return [store for store in self.hart.buffer if isinstance(store, Kept)]

    # ---- the store buffer ------------------------------------------------------------------------

    def store(self, access: Access) -> Done | None:
        """H8.1, H8.10: into the buffer, for as long as is drawn."""
        hart, core = self.hart, self.hart.core
        if len(hart.buffer) >= buffer.size(core):
            return None
        self.stores += 1
        leaves = self.now + self.system.chance.stays(hart.id, self.stores)
        view = int(max(self.isa.address_view, self.isa.data_view))
        hart.buffer.append(
            Kept(
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
            rank = (core.agent, CLASS["Interrupt"], hart.id, core.agent, 0)
            hart.clock.call(leaves, rank, lambda: core.drain(hart))
        return 0, self.stalls()

    def is_free(self, store: Kept) -> bool:
        """H8.1: its time is over, and none is before it that it is ordered behind."""
        for older in self.kept:
            if older is store:
                break
            if older.line == store.line or older.group != store.group:
                return False
        return store.leaves <= self.now

    def release(self) -> None:
        """H8.2: all that are free become visible or ask for their lines, oldest first."""
        for store in self.kept:
            if self.is_free(store) and self.hart.core.make_visible(self.hart, store):
                self.hart.buffer.remove(store)

    def waits(self, access: Access) -> bool:
        """H8.3: for the whole buffer, or for the stores that it is ordered behind."""
        if access.kind in ("load", "store"):
            return False
        if access.kind == "fence":
            before, behind = access.order >> 4, access.order & 15
            waits = OUTPUT | WRITES | READS * self.has_amo
            return bool(before & waits and behind & (INPUT | READS))
        if access.kind in ("read", "write") or access.releases:
            return True
        return any(
            store.line == access.line or (access.writes and store.group != self.group)
            for store in self.kept
        )

    # ---- accesses --------------------------------------------------------------------------------

    def apply(self, access: Access, line: CachedLine) -> Value:
        """H8.4: the access on its line; a write is seen when it is performed."""
        if access.kind == "load":
            return self.load(access, line)
        if access.kind == "lr":
            self.reserve(access, line)
            return access.apply(line)
        self.system.versions.change(access.address, access.size, line, self.now)
        value = access.apply(line)
        self.wrote(access)
        if isinstance(access, Kept):
            self.loads = self.now if access.is_amo else self.loads
            return value
        self.exchanged(access)
        return value

    def wrote(self, access: Access) -> None:
        """H8.4: seen now; its own hart sees nothing older any more."""
        self.writes = self.now
        for word in words(access.address, access.size):
            self.words[word] = self.now

    def load(self, access: Access, line: CachedLine) -> int:
        """H8.5: the bytes as they were at a time that is drawn where there is a choice."""
        self.declined = False
        word, versions, furthest = access.address // WORD_BYTES, self.system.versions, self.furthest
        first, then = max(self.earliest, self.words[word]), self.now
        if versions.last(word) > max(first, self.now - furthest):
            self.choices += 1
            back = self.system.chance.back(self.hart.id, self.choices)
            then = max(first, self.now - back)
        value, since = versions.at(word, line, then)
        self.words[word] = max(since, self.words[word])
        self.seen(max(self.earliest, since))
        return value >> access.address % WORD_BYTES * 8 & (1 << access.size * 8) - 1

    @property
    def furthest(self) -> int:
        return self.system.chance.most.load

    @property
    def earliest(self) -> int:
        """H8.6: when the access that is executed may be seen."""
        return max(self.after, int(self.isa.address_view))

    def fence(self, fence: Access) -> None:
        """H8.6: what later loads, and (H8.1) later stores, are ordered behind."""
        before, behind = fence.order >> 4, fence.order & 15
        if behind & WRITES and self.hart.buffer and before & (WRITES | READS * self.has_amo):
            self.group += 1
        if not behind & READS:
            return
        if before & READS:
            self.after = max(self.after, self.loads)
        if before & WRITES:
            self.after = max(self.after, self.writes)
        if before & (INPUT | OUTPUT):
            self.after = self.now

    def exchanged(self, access: Access) -> None:
        """H8.6: an AMO or SC has written: what it orders."""
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
        """H8.7: an access that reads: what it read carries when that was seen."""
        self.loads = max(self.loads, view)
        self.isa.result_view = view

    def answers(self, load: Access) -> bool:
        """H8.7: does its own store answer this load?  Where it does not, the load waits."""
        if self.declines():
            return False
        store = next(one for one in reversed(self.kept) if one.overlaps(load))
        self.seen(max(self.earliest, store.view))
        return True

    def reserve(self, access: Access, line: CachedLine) -> None:
        """H8.8: an LR reads what is there."""
        word = access.address // WORD_BYTES
        since = self.system.versions.at(word, line, self.now)[1]
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
        """H8.9: a load that is executed, drawn once."""
        if not self.declined:
            self.answered += 1
            self.declined = self.system.chance.declines(self.hart.id, self.answered)
        return self.declined

    @property
    def has_amo(self) -> bool:
        """H8.10: does its buffer hold an AMO, which reads, too?"""
        return any(store.is_amo for store in self.kept)

    def stalls(self) -> int:
        """H8.11: how long its hart stalls behind a write."""
        self.written += 1
        return self.system.chance.stalls(self.hart.id, self.written)

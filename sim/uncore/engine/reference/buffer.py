"""H3. Store buffers: a hart does not wait for its stores.

Interface: `store` and `put` add entries; `forwarded` and `delays` are called before a load. The
core removes stores when they become visible (core.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from uncore.engine.reference.access import Access, Done, number

if TYPE_CHECKING:
    from uncore.engine.reference.core import Core
    from uncore.engine.reference.hart import Hart


def size(core: Core) -> int:
    """H3.1: returns the number of entries of one hart. The buffer is divided among all harts of the
    core, even those that the job does not use.
    """
    return max(1, core.costs.store_buffer // len(core.system.machine.harts_of(core.agent)))


def store(hart: Hart, access: Access) -> Done | None:
    """H3.1: performs a store at once if the buffer is empty and the core may write the line; else
    puts the store into the buffer.
    """
    if hart.weak:
        return hart.weak.store(access)
    if not hart.buffer and (done := hart.core.in_cache(hart, access)):
        return done
    return put(hart, access)


def put(hart: Hart, access: Access) -> Done | None:
    """H3.1: puts a store into the buffer. Returns None if the buffer is full, so that the hart
    waits. H3.2: a store that is not the oldest may request its line ahead of time.
    """
    if len(hart.buffer) >= size(hart.core):
        return None
    hart.buffer.append(access)
    if hart.core.costs.store_ahead and len(hart.buffer) > 1 and not access.is_amo:
        hart.core.ask_ahead(hart, access)
    return 0, 0


def forwarded(hart: Hart, load: Access) -> Done | None:
    """H3.3: returns the load's value if the youngest store that overlaps the load covers it; else
    None.
    """
    youngest = _youngest_overlapping_store(hart, load)
    if youngest is None or youngest.kind != "store" or not youngest.covers(load):
        return None
    if hart.weak and not hart.weak.answers(load):
        return None
    value = number(youngest.value) >> 8 * (load.address - youngest.address)
    return value % (1 << 8 * load.size), hart.core.costs.l1_hit


def delays(hart: Hart, load: Access) -> bool:
    """C8.8: returns True if the load must wait until a store, which covers only a part of it
    (H3.3), or a posted AMO has left the buffer. Called when `forwarded` has returned None.
    """
    return _youngest_overlapping_store(hart, load) is not None


def _youngest_overlapping_store(hart: Hart, load: Access) -> Access | None:
    return next((store for store in reversed(hart.buffer) if store.overlaps(load)), None)

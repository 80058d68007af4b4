"""Computes the outcomes that the memory model allows, from its axioms.

    allowed_outcomes(test, tso=False) -> frozenset[Outcome]

The RISC-V Instruction Set Manual, volume I, chapter "RVWMO" (and "Ztso"): an execution is allowed
if there is one total order of all memory operations, the global memory order, that respects each
hart's preserved program order and from which every load takes its value. A litmus test is small, so
all total orders are tried. Rule numbers below are those of the manual's definition of preserved
program order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from uncore.study.litmus.events import Link, Litmus, LitmusAccess, Outcome


@dataclass(frozen=True)
class MemoryOperation:
    """A memory operation. An AMO is a single operation that loads and stores; an LR/SC pair is two
    operations.
    """

    thread: int
    position: int  # index in the program order of its thread
    access: LitmusAccess
    loads: bool
    stores: bool
    acquire: bool = False
    release: bool = False
    atomic: bool = False  # an AMO or SC, whose value may not be forwarded (rule 3)
    paired: bool = False  # an SC; its LR is the operation before it
    # links[i] is the link between operations i and i + 1 of the thread, up to this operation
    links: tuple[Link, ...] = ()


def allowed_outcomes(test: Litmus, tso: bool = False) -> frozenset[Outcome]:
    """Returns the outcomes of all executions that the axioms allow; with `tso`, those of Ztso."""
    operations = [op for n, thread in enumerate(test.threads) for op in _operations(n, thread)]
    before = {
        (a, b)
        for a, first in enumerate(operations)
        for b, second in enumerate(operations)
        if first.thread == second.thread
        and first.position < second.position
        and _is_preserved(operations, first, second, tso)
    }
    outcomes = set()
    for order in _total_orders(len(operations), before):
        source = _sources(operations, order)
        if _obeys_source_rules(operations, order, source) and _is_atomic(operations, order, source):
            outcomes.add(_outcome(test, operations, order, source))
    return frozenset(outcomes)


def _operations(number: int, thread: tuple[LitmusAccess, ...]) -> list[MemoryOperation]:
    operations: list[MemoryOperation] = []

    def add(
        access: LitmusAccess, loads: bool, stores: bool, *, links: tuple[Link, ...], **flags: bool
    ) -> None:
        operations.append(
            MemoryOperation(number, len(operations), access, loads, stores, links=links, **flags)
        )

    links: tuple[Link, ...] = ()
    for access in thread:
        if operations:
            links = (*links, access.link)

        if access.style.startswith("amo"):
            order = access.style.partition(".")[2]
            add(
                access,
                True,
                True,
                links=links,
                atomic=True,
                acquire="aq" in order,
                release="rl" in order,
            )
        elif access.style == "lrsc" and access.store:
            add(access, True, False, links=links)
            links = (*links, "po")
            add(access, False, True, links=links, atomic=True, paired=True)
        else:
            add(access, not access.store, access.store, links=links)
    return operations


def _is_preserved(
    operations: list[MemoryOperation], a: MemoryOperation, b: MemoryOperation, tso: bool
) -> bool:
    """Returns True if one of the rules 1, 4 to 11 and 13 orders a before b. The other rules depend
    on the store from which a load reads (_obeys_source_rules).
    """
    between = b.links[a.position :]
    adjacent = len(between) == 1
    next_ = next(operation for operation in operations if _follows(operation, a))
    return (
        (a.access.location == b.access.location and b.stores)  # 1
        or any(_is_fenced(link, a, b) for link in between)  # 4
        or a.acquire  # 5
        or b.release  # 6, and 7 where both are RCsc
        or (b.paired and adjacent)  # 8
        or (adjacent and _depends(b, a))  # 9, 10
        or (between[0] == "ctrl" and a.loads and b.stores)  # 11
        or (_depends(next_, a) and not next_.stores and b.stores)  # 13: an address depends
        or (tso and (a.loads or b.stores))  # Ztso: loads acquire, stores release
    )


def _follows(b: MemoryOperation, a: MemoryOperation) -> bool:
    return (b.thread, b.position) == (a.thread, a.position + 1)


def _depends(b: MemoryOperation, a: MemoryOperation) -> bool:
    """True if b follows the load a directly, and the address of load b, or the value of store b,
    depends on the value of a.
    """
    return _follows(b, a) and b.links[a.position] == "dep" and a.loads


def _is_fenced(link: Link, a: MemoryOperation, b: MemoryOperation) -> bool:
    match link:
        case "fence rw,rw":
            return True
        case "fence.tso":
            return a.loads or b.stores
        case "fence w,w":
            return a.stores and b.stores
        case "fence r,r":
            return a.loads and b.loads
        case "fence r,w":
            return a.loads and b.stores
        case _:
            return False


def _total_orders(count: int, before: set[tuple[int, int]]) -> Iterator[tuple[int, ...]]:
    """Yields every order of 0..count-1 in which a is before b for each pair (a, b) of `before`."""
    earlier = {b: frozenset(a for a, x in before if x == b) for b in range(count)}

    def extend(order: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        if len(order) == count:
            yield order
        for chosen in range(count):
            if chosen not in order and earlier[chosen] <= set(order):
                yield from extend((*order, chosen))

    yield from extend(())


def _sources(operations: list[MemoryOperation], order: tuple[int, ...]) -> dict[int, int | None]:
    """Returns the store from which each load reads, by the load value axiom; None stands for the
    initial value.

    Candidates are all stores to the location that precede the load, in `order` or in program order;
    the load reads from the candidate that is last in `order`.
    """
    position = {op: index for index, op in enumerate(order)}
    source: dict[int, int | None] = {}
    for load, op in enumerate(operations):
        if not op.loads:
            continue
        stores = [
            store
            for store, other in enumerate(operations)
            if other.stores
            and other.access.location == op.access.location
            and store != load
            and (
                position[store] < position[load]
                or (other.thread == op.thread and other.position < op.position)
            )
        ]
        source[load] = max(stores, key=position.__getitem__, default=None)
    return source


def _obeys_source_rules(
    operations: list[MemoryOperation], order: tuple[int, ...], source: dict[int, int | None]
) -> bool:
    """Checks the rules that depend on the store from which a load reads: 2, 3 and 12."""
    position = {op: index for index, op in enumerate(order)}
    for b, store in source.items():
        second = operations[b]
        for a in range(b - second.position, b):
            first = operations[a]
            if store is not None and _depends(operations[store], first):  # 12
                same_thread = operations[store].thread == second.thread and store < b
                if same_thread and position[b] < position[a]:
                    return False
            if first.access.location != second.access.location or position[a] < position[b]:
                continue
            if first.atomic and store == a:  # 3
                return False
            if first.loads and source[a] != store and not _stored_between(operations, a, b):
                return False  # 2
    return True


def _stored_between(operations: list[MemoryOperation], a: int, b: int) -> bool:
    first, second = operations[a], operations[b]
    return any(
        op.stores
        and op.thread == first.thread
        and first.position < op.position < second.position
        and op.access.location == first.access.location
        for op in operations
    )


def _is_atomic(
    operations: list[MemoryOperation], order: tuple[int, ...], source: dict[int, int | None]
) -> bool:
    """Checks the atomicity axiom: no other hart stores to the location between the store from which
    an LR reads and the paired SC.
    """
    position = {op: index for index, op in enumerate(order)}
    for sc, op in enumerate(operations):
        if not op.paired:
            continue
        start = source[sc - 1]
        source_position = -1 if start is None else position[start]
        if any(
            other.stores
            and other.thread != op.thread
            and other.access.location == op.access.location
            and source_position < position[number] < position[sc]
            for number, other in enumerate(operations)
        ):
            return False
    return True


def _outcome(
    test: Litmus,
    operations: list[MemoryOperation],
    order: tuple[int, ...],
    source: dict[int, int | None],
) -> Outcome:
    def value(store: int | None) -> int:
        """Returns the value that a store writes. An AMO that is used as a load writes back the
        value that it read.
        """
        if store is None:
            return 0
        access = operations[store].access
        return access.value if access.store else value(source[store])

    loads = [
        value(source[number])
        for number, op in enumerate(operations)
        if op.loads and not op.access.store
    ]
    final = []
    for location in test.locations:
        stores = [
            n for n in order if operations[n].stores and operations[n].access.location == location
        ]
        final.append(value(stores[-1] if stores else None))
    return (*loads, *final)


@cache
def cached_outcomes(test: Litmus, tso: bool) -> frozenset[Outcome]:
    """Returns allowed_outcomes(test, tso), which is computed once per process."""
    return allowed_outcomes(test, tso)

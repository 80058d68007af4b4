"""Checks a Machine before an engine executes it: its parts must fit each other.

    refuse_unsound(machine)     ValueError that names the first part that does not fit

Invariants of a Machine: parts refer to parts that there are; every stop reaches every other; every
core has a chain of resolvers that ends at a root; a resolver's parents are those whose child it is,
one, or one for each memory; exactly the root level has none; a core is of one kind.  Machines come
from topology files, from saved results and from Python: here all of them pass.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from uncore.topology.schema import LINES, MOST_HARTS

if TYPE_CHECKING:
    from uncore.topology.machine import Machine


def refuse_unsound(machine: Machine) -> None:
    for check in (_sizes, _kinds, _references, _ownership, _ways):
        for fault in check(machine):
            raise ValueError(fault)


def _sizes(machine: Machine) -> Iterator[str]:
    cores = len(machine.core_stops)
    if machine.threads and len(machine.threads) != cores:
        yield f"threads: {len(machine.threads)} numbers; expected one for each of {cores} cores"
    if machine.threads and max(machine.threads) != machine.threads_per_core:
        yield f"threads: at most {max(machine.threads)}; expected {machine.threads_per_core}"
    if not 1 <= cores * machine.threads_per_core <= MOST_HARTS:
        yield (
            f"core_stops, threads_per_core: {cores} cores of {machine.threads_per_core} threads;"
            f" expected 1 to {MOST_HARTS} harts"
        )
    if len(machine.shape) != cores:
        yield f"shape: {len(machine.shape)} rows; expected one for each of {cores} cores"
    depth = len(machine.levels) - 1
    for core, row in enumerate(machine.shape):
        if len(row) != depth:
            yield f"shape[{core}]: {len(row)} numbers; expected {depth}, one for each level"
    if machine.line not in LINES:
        yield f"line: {machine.line}; expected one of {LINES}"
    if not machine.memories:
        yield "memories: expected at least one"
    for name, of in (("core", machine.core), *((kind.name, kind.core) for kind in machine.kinds)):
        if of.l2_sets and not of.l2_ways:
            yield f"{name}.l2_ways: an L2 with sets but without ways"
    for node, memory in enumerate(machine.memories):
        if memory.cache_sets and not memory.cache_ways:
            yield f"memories[{node}].cache_ways: a cache with sets but without ways"


def _kinds(machine: Machine) -> Iterator[str]:
    names, used = {"core"}, set[int]()
    for number, kind in enumerate(machine.kinds):
        if kind.name in names:
            yield f"kinds[{number}].name: a second '{kind.name}'"
        names.add(kind.name)
        for core in kind.cores:
            if core >= machine.cores or core in used:
                yield f"kinds[{number}].cores: {core} is no core, or of two kinds"
            used.add(core)


def _references(machine: Machine) -> Iterator[str]:
    seats: list[tuple[str, Iterable[int]]] = [
        ("core_stops", machine.core_stops),
        ("memories", (memory.stop for memory in machine.memories)),
        ("links: source", (link.source for link in machine.links)),
        ("links: target", (link.target for link in machine.links)),
    ]
    channels = {link.channel for link in machine.links} - {-1}
    if channels != set(range(len(channels))):
        yield f"links: channels {sorted(channels)[:3]} ...; expected each number from 0"
    seats += [
        (f"resolvers[{n}].slices", resolver.slices) for n, resolver in enumerate(machine.resolvers)
    ]
    stops = range(len(machine.stops))
    for name, numbers in seats:
        for number in numbers:
            if number not in stops:
                yield f"{name}: {number} is no stop; expected 0 to {len(stops) - 1}"


def _ownership(machine: Machine) -> Iterator[str]:
    cores, memories = machine.cores, len(machine.memories)
    parents: list[list[int]] = [[] for _ in range(cores + len(machine.resolvers))]
    seats: dict[int, int] = {}  # index of a child among the children of any of its parents
    for number, resolver in enumerate(machine.resolvers):
        name, agent = f"resolvers[{number}]", cores + number
        if not resolver.slices:
            yield f"{name}.slices: expected at least one stop"
        if not -1 <= resolver.memory < memories:
            yield f"{name}.memory: {resolver.memory} is no memory; expected -1 to {memories - 1}"
        for seat, child in enumerate(resolver.children):
            if not 0 <= child < agent:
                yield f"{name}.children: {child} is no core and no resolver before this one"
            if seats.setdefault(child, seat) != seat:
                yield f"{name}.children: {child} stands at another place than in its other parents"
            parents[child].append(agent)
    for agent, above in enumerate(parents):
        name = f"resolvers[{agent - cores}]" if agent >= cores else f"core {agent}"
        if agent >= cores and list(machine.resolvers[agent - cores].parents) != above:
            yield f"{name}.parents: expected {above}, whose child it is"
        if len(above) not in ((0, 1, memories) if agent >= cores else (1, memories)):
            yield f"{name}: {len(above)} parents; expected one, or one for each memory"
    if len({resolver.level for resolver in machine.resolvers if not resolver.parents}) != 1:
        yield "resolvers: expected one level without parents, the root"
    roots = [one for one in machine.resolvers if not one.parents]
    if len(roots) > 1 and any(one.memory < 0 for one in roots):
        yield f"resolvers: {len(roots)} roots; expected one, or one for each memory"


def _ways(machine: Machine) -> Iterator[str]:
    """Every stop must reach the first, and the first every other."""
    for come, go in (("source", "target"), ("target", "source")):
        beside: list[list[int]] = [[] for _ in machine.stops]
        for link in machine.links:
            beside[getattr(link, come)].append(getattr(link, go))
        reached, waiting = {0}, [0]
        while waiting:
            fresh = set(beside[waiting.pop()]) - reached
            reached |= fresh
            waiting.extend(fresh)
        if len(reached) < len(machine.stops):
            yield "links: not every stop can be reached from every other"

"""Makes a machine of a part of another machine; `part = "socket0.die0"` is one die of a larger
system.

    cut(machine, cores, path)    these cores, with the resolvers, memory and fabric that they need

The part contains the resolvers above its cores; the memory nodes inside it or, if there are none,
those nearest to its cores; the slices inside it or, if there are none, all slices; and the stops
and links on the routes between all of these. No link changes its latency: a level above the part
has fewer members, but paths through it are not shorter. Links keep their order, which breaks ties
between routes, so messages take the same routes as in the whole machine.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from uncore.topology.cpus import hart_of_cpu
from uncore.topology.fabric import UNLIMITED
from uncore.topology.machine import Core, Kind, Link, Machine, Resolver
from uncore.topology.route import Routes, nearest_memories


def cut(machine: Machine, cores: Sequence[int], path: str) -> Machine:
    """Returns the machine with `cores` (ascending); names of its stops begin with `path`."""
    inside = {n for n, name in enumerate(machine.stops) if f"{name}.".startswith(f"{path}.")}
    nodes = _nodes(machine, cores, inside)
    agents = _agents(machine, cores, nodes)
    resolvers = [machine.resolvers[agent - machine.cores] for agent in agents[len(cores) :]]
    slices = [_slices_inside(resolver.slices, inside) for resolver in resolvers]
    needed_stops = {machine.core_stops[core] for core in cores}
    needed_stops.update(machine.memories[node].stop for node in nodes)
    needed_stops.update(stop for stops in slices for stop in stops)
    stops, links = _fabric(machine, needed_stops)
    channels = sorted({machine.links[number].channel for number in links} - {UNLIMITED})
    core, kinds = _kinds(machine, cores)
    threads = tuple(len(machine.harts_of(core)) for core in cores)
    stop_at, agent_at, node_at, channel_at = map(_new_numbers, (stops, agents, nodes, channels))
    return replace(
        machine,
        name=f"{machine.name}, {path}",
        core=core,
        threads_per_core=max(threads),
        threads=threads if min(threads) < max(threads) else (),
        kinds=kinds,
        shape=_shape([machine.shape[core] for core in cores]),
        core_stops=tuple(stop_at[machine.core_stops[core]] for core in cores),
        resolvers=tuple(
            replace(
                _renumber_agents(resolver, agent_at),
                slices=_renumbered(s, stop_at),
                memory=node_at.get(resolver.memory, -1),
            )
            for resolver, s in zip(resolvers, slices, strict=True)
        ),
        memories=tuple(
            replace(machine.memories[node], stop=stop_at[machine.memories[node].stop])
            for node in nodes
        ),
        stops=tuple(machine.stops[stop] for stop in stops),
        links=tuple(
            _renumber_stops(machine.links[number], stop_at, channel_at) for number in links
        ),
        cpus=_cpus(machine, cores),
    )


def _renumber_agents(resolver: Resolver, new_numbers: dict[int, int]) -> Resolver:
    """Returns the resolver with its children and parents renumbered."""
    return replace(
        resolver,
        children=_renumbered(resolver.children, new_numbers),
        parents=_renumbered(resolver.parents, new_numbers),
        near=_renumbered(resolver.near, new_numbers),
    )


def _renumber_stops(link: Link, stop_at: dict[int, int], channel_at: dict[int, int]) -> Link:
    channel = channel_at.get(link.channel, UNLIMITED)
    return replace(link, source=stop_at[link.source], target=stop_at[link.target], channel=channel)


def _kinds(machine: Machine, cores: Sequence[int]) -> tuple[Core, tuple[Kind, ...]]:
    """Returns the default costs and the kinds of the remaining cores. If all cores are of one kind,
    its costs become the default.
    """
    if len({machine.core_kinds[core] for core in cores}) == 1:
        return machine.each_core[cores[0]], ()
    position_of = _new_numbers(cores)
    remaining = (
        replace(kind, cores=_renumbered(kind.cores, position_of)) for kind in machine.kinds
    )
    return machine.core, tuple(kind for kind in remaining if kind.cores)


def _nodes(machine: Machine, cores: Sequence[int], inside: set[int]) -> list[int]:
    nodes_inside = [n for n, memory in enumerate(machine.memories) if memory.stop in inside]
    harts = [machine.harts_of(core)[0] for core in cores]
    return nodes_inside or sorted(set(nearest_memories(machine, harts)))


def _agents(machine: Machine, cores: Sequence[int], nodes: Sequence[int]) -> list[int]:
    """Returns the cores and the resolvers above them; of the resolvers at home, only those of
    `nodes`.
    """
    agents = list(cores)
    for agent, resolver in enumerate(machine.resolvers, machine.cores):
        serves_nodes = resolver.memory < 0 or resolver.memory in nodes
        if serves_nodes and not set(agents).isdisjoint(resolver.children):
            agents.append(agent)
    return agents


def _slices_inside(slices: Sequence[int], inside: set[int]) -> list[int]:
    return [stop for stop in slices if stop in inside] or list(slices)


def _fabric(machine: Machine, needed_stops: Iterable[int]) -> tuple[list[int], list[int]]:
    """Returns the stops and links on the routes between all `needed_stops`."""
    stops = set(needed_stops)
    links = Routes(machine).among(stops)
    stops.update(stop for n in links for stop in (machine.links[n].source, machine.links[n].target))
    return sorted(stops), links


def _shape(rows: Sequence[tuple[int, ...]]) -> tuple[tuple[int, ...], ...]:
    """Renumbers the groups of each level from 0."""
    levels = [_new_numbers(sorted(set(column))) for column in zip(*rows, strict=True)]
    return tuple(tuple(level[i] for level, i in zip(levels, row, strict=True)) for row in rows)


def _cpus(machine: Machine, cores: Sequence[int]) -> str:
    hart_at = _new_numbers([hart for core in cores for hart in machine.harts_of(core)])
    harts = [hart for hart in hart_of_cpu(machine) if hart is not None]
    return " ".join(str(hart_at.get(hart, "-")) for hart in harts)


def _new_numbers(old_numbers: Sequence[int]) -> dict[int, int]:
    return {number: position for position, number in enumerate(old_numbers)}


def _renumbered(old_numbers: Sequence[int], new_numbers: dict[int, int]) -> tuple[int, ...]:
    return tuple(new_numbers[number] for number in old_numbers if number in new_numbers)

"""Maps parts of a machine to levels of a gem5 protocol.

    levels(job, several) -> Gem5Levels  raises a UserError if that is impossible

Below the cores' private caches there are *banks*, each of which belongs to a resolver, and below
the last banks the memories. CHI gives each controller a list of those below it, so every resolver
becomes one or more banks (`several`). MESI_Two_Level and MOESI_CMP_directory have only one shared
cache, which all cores use: so the first resolver that any two of the cores in use share must be
common to all of them. Resolvers below it become directories. A line's address decides its bank:
lines are distributed in turn over a number of banks that is a power of two. If each memory node has
its own root resolver, the node is chosen first, which MESI_Two_Level cannot express.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from uncore.engine.outside import homes
from uncore.errors import UserError
from uncore.topology.machine import Machine, Resolver

if TYPE_CHECKING:
    from uncore.job import Job


@dataclass(frozen=True)
class Bank:
    """A bank of a resolver's cache: its stop, the lines that it holds, and the banks that it sends
    requests to.
    """

    resolver: Resolver
    stop: int
    node: int | None  # memory node whose lines belong to the bank; None: lines of all nodes
    share_index: int  # the bank has the lines whose number is `share_index` modulo `num_shares`
    num_shares: int
    below: tuple[int, ...]  # banks that it sends requests to; (): it sends them to the memories


@dataclass(frozen=True)
class Gem5Levels:
    cores: tuple[int, ...]  # cores in use, in the order of the harts
    asks: tuple[tuple[int, ...], ...]  # for each core, the banks that it sends requests to
    banks: tuple[Bank, ...]
    nodes: tuple[int, ...]  # memory nodes in use

    @cached_property
    def by_node(self) -> bool:
        """True if each memory node has banks of its own."""
        return len({bank.node for bank in self.banks if not bank.below}) > 1


def levels(job: Job, several: bool) -> Gem5Levels:
    """Maps the machine for the harts of a job of one thread count."""
    machine, nodes = job.machine, tuple(homes.nodes(job))
    cores = tuple(machine.core_of(hart) for hart in job.used_harts)
    users = _users(machine, cores)
    if several:
        return _map_every_resolver(machine, cores, nodes, users)
    common = next(n for n, used_cores in enumerate(users) if used_cores == set(cores))
    if any(len(used_cores) > 1 for used_cores in users[:common]):
        between = [machine.resolvers[n].name for n in range(common) if users[n]]
        raise UserError(
            f"{machine.id}: the cores in use share lines within {', '.join(between[:3])}"
            f"{' ...' if len(between) > 3 else ''} and between them: of gem5's protocols CHI can,"
            " MESI_Two_Level and MOESI_CMP_directory have one shared level; write --place with"
            " cores of one, or fewer --threads"
        )
    resolver = machine.resolvers[common]
    roots = [r for r in machine.resolvers if r.memory in nodes] if resolver.memory >= 0 else []
    banks = [bank for root in roots for bank in _banks(root, root.memory)] or _banks(resolver)
    return Gem5Levels(cores, (tuple(range(len(banks))),) * len(cores), tuple(banks), nodes)


def _users(machine: Machine, cores: Collection[int]) -> list[set[int]]:
    """Returns the cores in use that each resolver serves."""
    served: dict[int, set[int]] = {core: {core} for core in cores}
    for number, resolver in enumerate(machine.resolvers):  # inner levels come first
        below = [served.get(child, set()) for child in resolver.children]
        served[machine.cores + number] = set[int]().union(*below)
    return [served[machine.cores + number] for number in range(len(machine.resolvers))]


def _map_every_resolver(
    machine: Machine, cores: Sequence[int], nodes: Sequence[int], users: Sequence[set[int]]
) -> Gem5Levels:
    """Maps every resolver that serves a core in use. Banks at memory have the lowest numbers."""
    banks: list[Bank] = []
    banks_of_agent: dict[int, tuple[int, ...]] = {}
    inner_first = dict.fromkeys(resolver.level for resolver in machine.resolvers)
    depth = {level: n for n, level in enumerate(inner_first)}
    for number, resolver in sorted(
        enumerate(machine.resolvers), key=lambda pair: -depth[pair[1].level]
    ):
        agent = machine.cores + number
        home = None if resolver.memory < 0 else resolver.memory
        if users[number] and home in (None, *nodes):
            below = tuple(
                bank for parent in resolver.parents for bank in banks_of_agent.get(parent, ())
            )
            new_banks = _banks(resolver, home, below)
            banks_of_agent[agent] = tuple(range(len(banks), len(banks) + len(new_banks)))
            banks += new_banks
    asks = []
    for core in cores:
        resolvers_above = [
            machine.cores + n for n, r in enumerate(machine.resolvers) if core in r.children
        ]
        asks.append(
            tuple(bank for agent in resolvers_above for bank in banks_of_agent.get(agent, ()))
        )
    return Gem5Levels(tuple(cores), tuple(asks), tuple(banks), tuple(nodes))


def _banks(resolver: Resolver, node: int | None = None, below: tuple[int, ...] = ()) -> list[Bank]:
    """Divides a cache into banks; their number is the largest power of two that does not exceed the
    number of the slices' stops.
    """
    stops = list(dict.fromkeys(resolver.slices))
    num_shares = 1 << len(stops).bit_length() - 1
    return [
        Bank(resolver, stops[index * len(stops) // num_shares], node, index, num_shares, below)
        for index in range(num_shares)
    ]

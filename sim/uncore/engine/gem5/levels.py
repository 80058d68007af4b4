"""Which part of a machine is which level of gem5's protocols, or why there is none.

    levels(job, protocol) -> Levels     or UserError, with the protocols that could

MESI_Two_Level and MOESI_CMP_directory know three kinds of controllers: a private cache for each
core, banks of one cache that all cores share, and directories at the memories.  So the cores in use
must meet at one resolver, and no two of them below it; that one becomes the banks, what is above it
the directories.  Which bank has a line its address decides: for MESI_Two_Level its lowest bits, so
banks are a power of two; for MOESI_CMP_directory a region of each bank, so that each memory node
can have banks of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from uncore.engine.outside import homes
from uncore.errors import UserError
from uncore.topology.machine import Resolver

if TYPE_CHECKING:
    from uncore.job import Job

SHARED = "CHI"  # of gem5's protocols, the one with levels like ours: told, not supported


@dataclass(frozen=True)
class Bank:
    """Of the shared cache: where it stands, and which lines it has."""

    stop: int
    node: int | None  # only those of a memory node
    turn: int  # of `shares` lines in a row
    shares: int


@dataclass(frozen=True)
class Levels:
    cores: tuple[int, ...]  # in order of the harts
    shared: Resolver
    banks: tuple[Bank, ...]
    nodes: tuple[int, ...]  # memory nodes, each with a directory

    @property
    def plain(self) -> bool:
        """Are the directories memories and nothing else?"""
        return not self.shared.parents


def levels(job: Job, protocol: str) -> Levels:
    """For the harts of a job of one thread count."""
    machine = job.machine
    cores = tuple(hart // machine.threads_per_core for hart in job.harts[: job.threads[0]])
    nodes = tuple(homes.nodes(job))
    common = _common(job, cores, nodes)
    if len(common) == 1:
        return Levels(cores, common[0], _banks(common[0]), nodes)
    if protocol == "MESI_Two_Level":
        raise UserError(
            f"{machine.id}: {len(common)} memory nodes order the lines of their own"
            f" ({common[0].name} ...), and {protocol} picks a bank by an address' lowest bits;"
            " write --home node0, or use a gem5 with MOESI_CMP_directory"
        )
    banks = tuple(bank for node in nodes for bank in _banks(common[node], node))
    return Levels(cores, common[0], banks, nodes)


def _common(job: Job, cores: tuple[int, ...], nodes: tuple[int, ...]) -> list[Resolver]:
    """The lowest resolver above all cores in use; of roots at nodes, all that home anything."""
    machine = job.machine
    below = {machine.cores + n: set(one.children) for n, one in enumerate(machine.resolvers)}
    for number in below:  # inner levels come first
        for child in [child for child in below[number] if child in below]:
            below[number] |= below[child]
    used = {n: set(cores) & below[machine.cores + n] for n in range(len(machine.resolvers))}
    for number, resolver in enumerate(machine.resolvers):
        if used[number] == set(cores):
            roots = not resolver.parents and resolver.memory >= 0
            return [r for r in machine.resolvers if r.memory in nodes] if roots else [resolver]
        if len(used[number]) > 1:
            others = [r.name for n, r in enumerate(machine.resolvers) if used[n] and r.parents]
            raise UserError(
                f"{machine.id}: the cores in use share lines within {', '.join(others[:3])}"
                f"{' ...' if len(others) > 3 else ''} and between them: gem5's MESI_Two_Level and"
                f" MOESI_CMP_directory have one shared level, {SHARED} has more, and this engine"
                " does not support it; write --place with cores of one, or --threads that fit"
            )
    raise AssertionError("a root is above every core")


def _banks(resolver: Resolver, node: int | None = None) -> tuple[Bank, ...]:
    """As many as the largest power of two that its slices' stops allow, spread over them."""
    stops = list(dict.fromkeys(resolver.slices))
    shares = 1 << len(stops).bit_length() - 1
    return tuple(
        Bank(stops[turn * len(stops) // shares], node, turn, shares) for turn in range(shares)
    )

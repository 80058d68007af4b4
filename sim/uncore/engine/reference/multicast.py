"""I5. One interprocessor interrupt for a set of harts.

Interface: `find` returns the register at an address: a `Word`, with a part of the hart's target
set, or `Send`, which sends the interrupt when it is written.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import simpy

from uncore.engine.reference import interrupts
from uncore.engine.reference.access import Access, Done
from uncore.program.abi import CONSTANTS

if TYPE_CHECKING:
    from uncore.engine.reference.hart import Hart
    from uncore.engine.reference.system import System
    from uncore.engine.reference.time import Rank
    from uncore.topology.machine import Link

SET_ADDRESS = CONSTANTS["UC_MULTICAST_BASE"]
SEND_ADDRESS = SET_ADDRESS + CONSTANTS["UC_MULTICAST_SEND"]
HARTS_PER_WORD = 64


def find(system: System, address: int) -> Word | Send | None:
    """I5, I5.2: returns the multicast register at an address; None if there is none, or the machine
    has no multicast.
    """
    if not system.machine.interrupt.multicast:
        return None
    if address == SEND_ADDRESS:
        return Send()
    words = -(-len(system.harts) // HARTS_PER_WORD)
    return Word((address - SET_ADDRESS) // 8) if 0 <= address - SET_ADDRESS < words * 8 else None


@dataclass(frozen=True)
class Word:
    """A register with one word of a hart's target set."""

    index: int  # the word has the bits of harts 64 * index to 64 * index + 63

    def is_here(self, user: Hart, write: bool, value: int) -> bool:
        return True

    def use(self, user: Hart, write: bool, value: int) -> int:
        """I5: reads or writes the word at once."""
        if write:
            user.multicast[self.index] = value
        return user.multicast[self.index]


@dataclass(frozen=True)
class Send:
    """The register whose store sends the interrupt; it reads as zero."""

    def is_here(self, user: Hart, write: bool, value: int) -> bool:
        return not write

    def use(self, user: Hart, write: bool, value: int) -> int:
        return 0

    def reach(self, user: Hart, access: Access) -> Done | None:
        """I5: sends an IPI to all harts of the set (I1), and empties the set."""
        system = user.system
        send = user.core.time_at_share(user, system.machine.interrupt.send)
        target_harts = [
            h
            for h in system.harts
            if user.multicast[h.id // HARTS_PER_WORD] >> h.id % HARTS_PER_WORD & 1
        ]
        user.multicast.clear()
        if target_harts:
            # The sender counts one message, but each target has its own rank (T2).
            rank = system.clock.rank(0, "Interrupt", 0, user.core.agent)
            ranks = [(hart.core.agent, rank[1], hart.id, *rank[3:]) for hart in target_harts]
            targets = [
                MulticastTarget(*hart_and_rank)
                for hart_and_rank in zip(target_harts, ranks, strict=True)
            ]
            fork(system, user.core.stop(0), targets, user.clock.now + send, 0)
        return 0, send


@dataclass(frozen=True)
class MulticastTarget:
    """One target of a multicast message, and its rank."""

    hart: Hart
    rank: Rank

    def arrived(self, time: int) -> None:
        """Sets the target's MSIP, `accept` after the message arrived (I2)."""
        register, clock = interrupts.Msip(self.hart), self.hart.clock
        accept = self.hart.system.machine.interrupt.accept
        clock.call(time + accept, self.rank, lambda: register.write(1))


def fork(
    system: System, stop: int, targets: Sequence[MulticastTarget], head: int, busy: int
) -> None:
    """I5.1: sends one message for each group of targets that share the next channel. A message has
    the rank of the lowest hart of its group.
    """
    targets_by_link: dict[Link | int, list[MulticastTarget]] = {}
    for number, target in enumerate(targets):
        route = system.fabric.route(stop, target.hart.core.stop(0))
        next_channel = next((link for link in route if link.channel >= 0), number)
        targets_by_link.setdefault(next_channel, []).append(target)
    for link, group in targets_by_link.items():
        route = system.fabric.route(stop, group[0].hart.core.stop(0))
        if isinstance(link, int):
            group[0].arrived(head + sum(way.control for way in route) + busy)
        else:
            route_before = route[: route.index(link)]
            reach = head + sum(way.control for way in route_before)
            system.clock.process(go_on(system, link, group, reach, busy))


def go_on(
    system: System, link: Link, targets: Sequence[MulticastTarget], head: int, busy: int
) -> Generator[simpy.Event, None, None]:
    """I5.1: takes a channel once for all targets of a group, then forks again."""
    yield system.clock.at(head, targets[0].rank)
    head = system.fabric.take(link, "control", head)
    fork(system, link.target, targets, head + link.control, max(busy, link.control_busy))

"""Converts a machine's fabric to routers and links of Ruby's SimpleNetwork.

    period(machine, stops) -> ps                    period of the clock that counts latencies
    fabric(machine, stops, period) -> Gem5Fabric    everything on the routes between the stops

Every stop on a route becomes a router, every link a one-directional link with its latency in cycles
of the period; gem5 finds the shortest routes itself, with latencies as weights, so among equally
long ones it may choose another than the machine does (rule F1).  Links that share a medium (bus,
rule F4) get a router before their common end: all pass one link, with the medium's width.
SimpleNetwork forwards a message when its head has arrived, as rule F3 does, and keeps the link for
the time of all its bytes; it does not wait for the tail at the end of the route.

Invariant: the latency of a route is the machine's, except that each link is rounded to a period.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from uncore.topology.machine import Link, Machine
from uncore.topology.route import Routes

CONTROL_BYTES, DATA_BYTES = 16, 80  # sizes of messages without and with a line (rule F2)
# Candidates for the period: short compared with the latency of any link, but long enough that a
# message occupies a link for few cycles.
PERIODS_PS = range(20, 51)
WIDTH_SCALE = 1000  # widths are given in thousandths of a byte per cycle
NO_LIMIT = 1000 * DATA_BYTES * WIDTH_SCALE


@dataclass(frozen=True)
class RouterLink:
    """A link from one router to another."""

    source: int
    target: int
    latency: int  # cycles of the period
    width: int  # thousandths of a byte per cycle


@dataclass
class Gem5Fabric:
    router: dict[int, int]  # router at each stop; routers of shared media have higher numbers
    routers: int
    busy: int  # ps for which a message with a line occupies the narrowest link
    wires: list[RouterLink] = field(default_factory=list)


def used(machine: Machine, stops: Collection[int]) -> list[Link]:
    """Returns the links on the routes between stops."""
    return [machine.links[n] for n in Routes(machine).among(sorted(set(stops)))]


def period(machine: Machine, stops: Collection[int]) -> int:
    """Returns the period in ps for which the largest relative rounding error of a link's latency is
    least; of equally good periods, the longest.
    """
    latencies = {link.control for link in used(machine, stops)} or {1000}
    return min(
        reversed(PERIODS_PS),
        key=lambda ps: max(abs(cycles(at, ps) * ps - at) / at for at in latencies),
    )


def cycles(duration: int, ps: int) -> int:
    """Returns a duration in cycles of the period; gem5's buffers need at least one."""
    return max(1, round(duration / ps))


def fabric(machine: Machine, stops: Collection[int], ps: int) -> Gem5Fabric:
    """Returns the routers and links between stops."""
    links = used(machine, stops)
    places = sorted({*stops, *(stop for link in links for stop in (link.source, link.target))})
    busy = max((link.data_busy for link in links), default=0)
    gem5_fabric = Gem5Fabric({stop: n for n, stop in enumerate(places)}, len(places), busy)
    channels: dict[int, list[Link]] = {}
    for number, link in enumerate(links):
        channels.setdefault(link.channel if link.channel >= 0 else -1 - number, []).append(link)
    for shared in channels.values():
        if len(shared) > 1 and len({link.target for link in shared}) == 1:
            _medium(gem5_fabric, shared, ps)
        else:
            gem5_fabric.wires += [_wire(gem5_fabric, link, ps) for link in shared]
    return gem5_fabric


def _wire(made: Gem5Fabric, link: Link, ps: int) -> RouterLink:
    source, target = made.router[link.source], made.router[link.target]
    return RouterLink(source, target, cycles(link.control, ps), _width(link, ps))


def _medium(made: Gem5Fabric, shared: Sequence[Link], ps: int) -> None:
    """Joins links that end at one stop by a router, from which one link leads to that stop."""
    inlet, made.routers = made.routers, made.routers + 1
    for link in shared:
        latency = max(1, cycles(link.control, ps) - 1)
        made.wires.append(RouterLink(made.router[link.source], inlet, latency, NO_LIMIT))
    made.wires.append(RouterLink(inlet, made.router[shared[0].target], 1, _width(shared[0], ps)))


def _width(link: Link, ps: int) -> int:
    """Returns the width with which a message with data occupies the link for as long as on the
    machine.
    """
    if link.channel < 0 or not link.data_busy:
        return NO_LIMIT
    return min(NO_LIMIT, max(1, DATA_BYTES * WIDTH_SCALE * ps // link.data_busy))

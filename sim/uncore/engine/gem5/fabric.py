"""Converts a machine's fabric to routers and links of Ruby's SimpleNetwork.

    period(machine, stops) -> ps                    period of the clock that counts latencies
    fabric(machine, stops, ps) -> Gem5Fabric        everything routers and links between the stops

Every stop on a route becomes a router, and every link a one-directional link with its latency in
cycles of the period.  gem5 finds the shortest routes itself, with latencies as weights; of several
equally long routes it may choose another than the machine does (rule F1).  Links that share a
medium (a bus, rule F4) get a router before their common end, so that all their messages pass one
link, which has the medium's width.
SimpleNetwork forwards a message when its head has arrived, as rule F3 does, and keeps the link for
the time of all its bytes; it does not wait for the tail at the end of the route.

Invariant: the latency of a route is that of the machine, except that the latency of each link is
rounded to a number of periods.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from uncore.topology.machine import Link, Machine
from uncore.topology.route import Routes

CONTROL_BYTES, DATA_BYTES = 16, 80  # sizes of messages without and with a line (rule F2)
# candidates for the period, which are short compared with the latency of any link, but so long that
# a message occupies a link for few cycles
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


def links_between(machine: Machine, stops: Collection[int]) -> list[Link]:
    """Returns the links on the routes between stops."""
    return [machine.links[n] for n in Routes(machine).among(sorted(set(stops)))]


def period(machine: Machine, stops: Collection[int]) -> int:
    """Returns the period in ps for which the largest relative rounding error of a link's latency is
    least; of equally good periods, the longest.
    """
    latencies = {link.control for link in links_between(machine, stops)} or {1000}
    return min(
        reversed(PERIODS_PS),
        key=lambda ps: max(
            abs(cycles(latency, ps) * ps - latency) / latency for latency in latencies
        ),
    )


def cycles(duration: int, ps: int) -> int:
    """Returns a duration in cycles of the period; gem5's buffers need at least one."""
    return max(1, round(duration / ps))


def fabric(machine: Machine, stops: Collection[int], ps: int) -> Gem5Fabric:
    """Returns the routers and links between stops."""
    links = links_between(machine, stops)
    router_stops = sorted(
        {*stops, *(stop for link in links for stop in (link.source, link.target))}
    )
    busy = max((link.data_busy for link in links), default=0)
    gem5_fabric = Gem5Fabric(
        {stop: n for n, stop in enumerate(router_stops)}, len(router_stops), busy
    )
    channels: dict[int, list[Link]] = {}
    for number, link in enumerate(links):
        channels.setdefault(link.channel if link.channel >= 0 else -1 - number, []).append(link)
    for same_channel in channels.values():
        if len(same_channel) > 1 and len({link.target for link in same_channel}) == 1:
            _add_medium(gem5_fabric, same_channel, ps)
        else:
            gem5_fabric.wires += [_wire(gem5_fabric, link, ps) for link in same_channel]
    return gem5_fabric


def _wire(gem5_fabric: Gem5Fabric, link: Link, ps: int) -> RouterLink:
    source, target = gem5_fabric.router[link.source], gem5_fabric.router[link.target]
    return RouterLink(source, target, cycles(link.control, ps), _width(link, ps))


def _add_medium(gem5_fabric: Gem5Fabric, same_channel: Sequence[Link], ps: int) -> None:
    """Joins links that end at one stop by a router, from which one link leads to that stop."""
    inlet, gem5_fabric.routers = gem5_fabric.routers, gem5_fabric.routers + 1
    for link in same_channel:
        latency = max(1, cycles(link.control, ps) - 1)
        gem5_fabric.wires.append(
            RouterLink(gem5_fabric.router[link.source], inlet, latency, NO_LIMIT)
        )
    gem5_fabric.wires.append(
        RouterLink(
            inlet, gem5_fabric.router[same_channel[0].target], 1, _width(same_channel[0], ps)
        )
    )


def _width(link: Link, ps: int) -> int:
    """Returns the width with which a message with data occupies the link for as long as on the
    machine.
    """
    if link.channel < 0 or not link.data_busy:
        return NO_LIMIT
    return min(NO_LIMIT, max(1, DATA_BYTES * WIDTH_SCALE * ps // link.data_busy))

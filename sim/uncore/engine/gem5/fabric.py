"""A machine's fabric as routers and links of Ruby's SimpleNetwork.

    period(machine, stops) -> ps              of the clock in which latencies are written
    fabric(machine, stops, period) -> Gem5Fabric  what lies on the routes between the stops

Every stop on a route becomes a router, every link a one-directional link with its latency in cycles
of the period; gem5 looks for the shortest routes itself, with latencies for weights, so of equally
long ones it may take another than the machine (rule F1).  Links that share a medium (bus, rule F4)
get a router between them and where they lead: all pass one link, with the medium's width.

SimpleNetwork sends a message on when its head is there, as rule F3 does, and keeps the link for the
time of all its bytes; it waits for no tail at the end of the route.

Invariant: the latency of a route is the machine's, except that each link is rounded to a period.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from uncore.topology.machine import Link, Machine
from uncore.topology.route import Routes

CONTROL_BYTES, DATA_BYTES = 16, 80  # sizes of messages without and with a line (rule F2)
PERIODS = range(20, 51)  # ps: fine beside any link, coarse enough that a busy link costs few cycles
MILLI = 1000  # widths are written in thousandths of a byte a cycle
NO_LIMIT = 1000 * DATA_BYTES * MILLI


@dataclass(frozen=True)
class RouterLink:
    """From router to router."""

    source: int
    target: int
    latency: int  # cycles of the period
    width: int  # thousandths of a byte a cycle


@dataclass
class Gem5Fabric:
    router: dict[int, int]  # at each stop; those of media follow
    routers: int
    busy: int  # ps that a message with a line keeps the narrowest link
    wires: list[RouterLink] = field(default_factory=list)


def used(machine: Machine, stops: Collection[int]) -> list[Link]:
    """The links on the routes between stops."""
    return [machine.links[n] for n in Routes(machine).among(sorted(set(stops)))]


def period(machine: Machine, stops: Collection[int]) -> int:
    """The period that rounds links least, judged by the worst of them; of equals the longest."""
    latencies = {link.control for link in used(machine, stops)} or {1000}
    return min(
        reversed(PERIODS),
        key=lambda ps: max(abs(cycles(at, ps) * ps - at) / at for at in latencies),
    )


def cycles(duration: int, ps: int) -> int:
    """Cycles of the period: at least the one that gem5 wants of anything that passes a buffer."""
    return max(1, round(duration / ps))


def fabric(machine: Machine, stops: Collection[int], ps: int) -> Gem5Fabric:
    """Routers and links between stops."""
    links = used(machine, stops)
    places = sorted({*stops, *(stop for link in links for stop in (link.source, link.target))})
    busy = max((link.data_busy for link in links), default=0)
    made = Gem5Fabric({stop: n for n, stop in enumerate(places)}, len(places), busy)
    channels: dict[int, list[Link]] = {}
    for number, link in enumerate(links):
        channels.setdefault(link.channel if link.channel >= 0 else -1 - number, []).append(link)
    for shared in channels.values():
        if len(shared) > 1 and len({link.target for link in shared}) == 1:
            _medium(made, shared, ps)
        else:
            made.wires += [_wire(made, link, ps) for link in shared]
    return made


def _wire(made: Gem5Fabric, link: Link, ps: int) -> RouterLink:
    source, target = made.router[link.source], made.router[link.target]
    return RouterLink(source, target, cycles(link.control, ps), _width(link, ps))


def _medium(made: Gem5Fabric, shared: Sequence[Link], ps: int) -> None:
    """Inputs that end at one stop, and the one that stands for them."""
    inlet, made.routers = made.routers, made.routers + 1
    for link in shared:
        latency = max(1, cycles(link.control, ps) - 1)
        made.wires.append(RouterLink(made.router[link.source], inlet, latency, NO_LIMIT))
    made.wires.append(RouterLink(inlet, made.router[shared[0].target], 1, _width(shared[0], ps)))


def _width(link: Link, ps: int) -> int:
    """Bytes over time, of the size that keeps the link longest."""
    if link.channel < 0 or not link.data_busy:
        return NO_LIMIT
    return min(NO_LIMIT, max(1, DATA_BYTES * MILLI * ps // link.data_busy))

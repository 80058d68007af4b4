"""The flat graph under construction: named stops, numbered links, shared channels.

`Fabric.stop` adds a stop, `wire` a link in each direction.  Links are numbered in the order they
are added, and that order breaks ties between equal routes (see `machine.py`); who adds links
thereby decides the order of dimensions.  Costs are in whole picoseconds from here on.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from uncore.topology.machine import Link

UNLIMITED = -1
SHORTEST = 1  # ps: a wire without latency could lead a route in circles


@dataclass(frozen=True)
class Cost:
    """Cost of one crossing for each kind of message: latency of the head, and time that the wire is
    busy.
    """

    control: int = 0
    data: int = 0
    control_busy: int = 0
    data_busy: int = 0

    @property
    def is_free(self) -> bool:
        return not any((self.control, self.data, self.control_busy, self.data_busy))

    def halves(self) -> tuple[Cost, Cost]:
        """Heads split in two that add up; each half is a wire of its own."""
        into = Cost(self.control // 2, self.data // 2, self.control_busy, self.data_busy)
        rest = Cost(
            self.control - into.control, self.data - into.data, self.control_busy, self.data_busy
        )
        return into, rest


@dataclass
class Fabric:
    stops: list[str] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    ports: dict[str, list[int]] = field(default_factory=dict)  # a group's or stop's path: its stops
    channels: int = 0

    def stop(self, path: str) -> int:
        """A new stop, also known by its name."""
        self.stops.append(path)
        self.ports.setdefault(path, [len(self.stops) - 1])
        return len(self.stops) - 1

    def channel(self) -> int:
        self.channels += 1
        return self.channels - 1

    def link(self, source: int, target: int, cost: Cost, level: str) -> None:
        busy = cost.control_busy or cost.data_busy
        self._add(source, target, cost, level, self.channel() if busy else UNLIMITED)

    def bus_link(self, source: int, target: int, cost: Cost, level: str, channel: int) -> None:
        """Onto a shared medium, whose snoop wires are its own and never busy."""
        self._add(source, target, cost, level, channel, snoop_is_busy=False)

    def _add(
        self,
        source: int,
        target: int,
        cost: Cost,
        level: str,
        channel: int,
        snoop_is_busy: bool = True,
    ) -> None:
        self.links.append(
            Link(
                source=source,
                target=target,
                control=max(cost.control, SHORTEST),
                data=max(cost.data, SHORTEST),
                snoop=max(cost.control, SHORTEST),
                control_busy=cost.control_busy,
                data_busy=cost.data_busy,
                snoop_busy=cost.control_busy if snoop_is_busy else 0,
                channel=channel,
                level=level,
            )
        )

    def wire(self, a: int, b: int, there: Cost, level: str, back: Cost | None = None) -> None:
        self.link(a, b, there, level)
        self.link(b, a, back or there, level)

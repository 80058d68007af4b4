"""Builds a fabric, which is a flat graph of named stops, numbered links and shared channels.

`Fabric.stop` adds a stop, `wire` adds a link in each direction. Links are numbered in the order in
which they are added. Their numbers break ties between equal routes (`machine.py`), so the caller's
order determines which dimension is routed first. Costs are in whole picoseconds here.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from uncore.topology.machine import Link

UNLIMITED = -1
MIN_LINK_PS = 1  # with links of latency 0, a route could contain a cycle


@dataclass(frozen=True)
class Cost:
    """The cost of crossing one link, in ps: the latency of the head of a message without and with
    data, and the time for which each of them occupies the link.
    """

    control: int = 0
    data: int = 0
    control_busy: int = 0
    data_busy: int = 0

    @property
    def is_free(self) -> bool:
        return not any((self.control, self.data, self.control_busy, self.data_busy))

    def halves(self) -> tuple[Cost, Cost]:
        """Splits each latency into two that add up to it. Both halves have the whole busy times,
        because each half is a link of its own.
        """
        first_half = Cost(self.control // 2, self.data // 2, self.control_busy, self.data_busy)
        second_half = Cost(
            self.control - first_half.control,
            self.data - first_half.data,
            self.control_busy,
            self.data_busy,
        )
        return first_half, second_half


@dataclass
class Fabric:
    stops: list[str] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    # path of a group or stop -> the stops by which it is linked to other parts
    ports: dict[str, list[int]] = field(default_factory=dict)
    channels: int = 0

    def stop(self, path: str) -> int:
        """Adds a stop, which becomes a port under its own name, and returns its number."""
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
        """Adds a link on a shared channel. Snoops use separate wires, which are never busy."""
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
                control=max(cost.control, MIN_LINK_PS),
                data=max(cost.data, MIN_LINK_PS),
                snoop=max(cost.control, MIN_LINK_PS),
                control_busy=cost.control_busy,
                data_busy=cost.data_busy,
                snoop_busy=cost.control_busy if snoop_is_busy else 0,
                channel=channel,
                level=level,
            )
        )

    def wire(self, a: int, b: int, a_to_b: Cost, level: str, b_to_a: Cost | None = None) -> None:
        self.link(a, b, a_to_b, level)
        self.link(b, a, b_to_a or a_to_b, level)

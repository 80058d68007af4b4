"""A small machine with durations of whole nanoseconds, for the tests of rules.

    line(resolver={...}, core={...}, ...)       three cores A, H, B on a line of stops; home at H
    way(kind, source, target)                   ns of an uncontended message between two of them

The stops of `line` are A - H - B, with a direct wire from A to B that is shorter than the route
through H.  Each of the three kinds of message has a different latency on every wire, so that a
message of a wrong kind is noticed.  Core 0 is at A, core 1 at B, core 2 at H with the resolver and
the memory.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from tests.support.least import least

from uncore.topology.machine import Core, Interrupt, Link, Machine, Memory, Resolver

NS = 1000
A, H, B = range(3)  # stops
CORES = (A, B, H)  # stop of each core

# latencies in ns of the head of a control, a data and a snoop message between two stops
WIRES = {(A, H): (10, 13, 11), (H, B): (20, 24, 22), (A, B): (25, 28, 27)}

CORE = least(
    Core,
    instruction=1 * NS,
    mispredict=15 * NS,
    pause=7 * NS,
    l1_hit=4 * NS,
    l2_hit=9 * NS,
    l1_sets=64,
    l1_ways=8,
    l2_sets=1024,
    l2_ways=8,
    atomic=18 * NS,
    restart=16 * NS,
    store_buffer=8,
    smt_share=1000,
    lr_exclusive=True,
)
HOME = least(
    Resolver,
    name="home",
    level="system",
    knows="directory",
    children=(0, 1, 2),
    slices=(H,),
    reply="direct",
    unblock="completion",
    service=6 * NS,
    grants=1,
)
NODE = least(Memory, stop=H, latency=60 * NS, size=1 << 30)
KEPT = {
    "data": "inclusive",
    "data_sets": 1024,
    "data_ways": 8,
    "data_hit": 21 * NS,
}
# cache sizes of a core with one line in each set
ONE_WAY = {"l1_ways": 1, "l2_sets": 1024, "l2_ways": 1}
SET_STRIDE = 1024 * 64  # bytes between two lines of one such set
INTERRUPT = least(Interrupt, send=140 * NS, accept=50 * NS, entry=30 * NS, exit=20 * NS)


def wires(busy: int = 0) -> tuple[Link, ...]:
    """Returns the links of WIRES in both directions. A data message occupies a link for `busy` ns;
    control and snoop messages occupy it for a quarter of this time.
    """
    links = []
    for (a, b), times in WIRES.items():
        control, data, snoop = (time * NS for time in times)
        for source, target in ((a, b), (b, a)):
            channel = len(links) if busy else -1
            short = busy * NS // 4
            links.append(
                least(
                    Link,
                    source=source,
                    target=target,
                    control=control,
                    data=data,
                    snoop=snoop,
                    control_busy=short,
                    data_busy=busy * NS,
                    snoop_busy=short,
                    channel=channel,
                    level="system",
                )
            )
    return tuple(links)


def line(
    *,
    core: Mapping[str, Any] | None = None,
    resolver: Mapping[str, Any] | None = None,
    memory: Mapping[str, Any] | None = None,
    interrupt: Mapping[str, Any] | None = None,
    **machine: Any,
) -> Machine:
    """Makes the machine that is described above. The mappings replace numbers of its parts."""
    return dataclasses.replace(
        least(
            Machine,
            id="line",
            name="three cores on a line",
            protocol="mesi",
            levels=("core", "thread"),
            shape=((0,), (1,), (2,)),
            threads_per_core=1,
            core=dataclasses.replace(CORE, **core or {}),
            core_stops=CORES,
            resolvers=(dataclasses.replace(HOME, **resolver or {}),),
            memories=(dataclasses.replace(NODE, **memory or {}),),
            interrupt=dataclasses.replace(INTERRUPT, **interrupt or {}),
            stops=("A", "H", "B"),
            links=wires(),
        ),
        **machine,
    )


def way(kind: str, source: int, target: int) -> int:
    """Returns the ns of a message without contention. Each route consists of one wire."""
    if source == target:
        return 0
    wire = WIRES.get((source, target)) or WIRES[(target, source)]
    return wire[("control", "data", "snoop").index(kind)]

"""The wires of a machine, and the keys of `[LEVEL.join]` that lay them (meant in joins.py).

A field's words and keys are read as in machine.py, of which this is a part.
"""

from uncore.topology.schema import (
    Duration,
    MaybePlace,
    Place,
    Ps,
    Rate,
    Ratio,
    Size,
    Text,
    Word,
    field,
    part,
)

GRIDS = ("ladder", "mesh", "quadrants")
PLANNED = ("ring", "two-rings", *GRIDS)  # stops have a plan
ATTACHED = ("bus", *PLANNED)  # members stand off from their stop
JOINS = (*ATTACHED, "crossbar", "all-to-all", "links")


@part
class Link:
    """One direction of a wire between two stops.

    Links that share a channel share one medium (a bus). A message is of one of three kinds: `data`
    has a line with it; `snoop`, probes and answers without data, is as `control` but on a bus,
    where it has wires of its own (busy 0). No latency is 0, so that no route leads in circles.
    """

    source: Place = field(
        "the stop where it begins",
        Word("LEVEL.join.kind", "how the members are joined", words=JOINS),
        Text("LEVEL.join.map", "who stands where, drawn", absent="members in a row", joins=PLANNED),
        Text("LEVEL.join.size", "columns and rows, `6x5`", joins=("mesh",)),
        Text("LEVEL.join.links", "the pairs that are wired, a list", joins=("links",)),
        Text(
            "LEVEL.join.uplink",
            "the stop that leads to the level above",
            absent="`u` of the map, else the first",
            joins=PLANNED,
        ),
    )
    target: Place = field("the stop where it ends")
    control: Ps = field(
        "a message without data needs to cross, its head; routes are least in it",
        Ratio("LEVEL.join.control_ratio", "control latency over that of data", "1", high=10),
    )
    data: Ps = field(
        "a message with data needs to cross, its head",
        Duration("LEVEL.join.latency", "one crossing; of a ring or a grid one hop"),
        Duration("LEVEL.join.dx", "a hop along a row", absent="`latency`", joins=GRIDS),
        Duration("LEVEL.join.dy", "a hop between rows", absent="`latency`", joins=GRIDS),
        Duration("LEVEL.join.diagonal", "a hop across", absent="none", joins=("quadrants",)),
        Duration("LEVEL.join.bridge", "between rings", absent="`latency`", joins=("two-rings",)),
        Duration("LEVEL.join.inject", "from a member to its stop", "0ns", joins=ATTACHED),
        Duration("LEVEL.join.eject", "from a stop to its member", "0ns", joins=ATTACHED),
    )
    snoop: Ps = field("a probe, or an answer without data, needs to cross")
    control_busy: Ps = field(
        "a message without data keeps the channel",
        Size("messages.control", "of a message without data"),
    )
    data_busy: Ps = field(
        "a message with data keeps the channel",
        Size("messages.data", "of a message with a line"),
        Rate("LEVEL.join.width", "of a wire", absent="no limit"),
        Rate("LEVEL.join.attach_width", "of `inject`, `eject`", absent="no limit", joins=ATTACHED),
    )
    snoop_busy: Ps = field("a probe, or an answer without data, keeps the channel")
    channel: MaybePlace = field("the medium it takes; -1: no limit")
    level: str = field("the level whose join owns the link: for statistics and drawings")

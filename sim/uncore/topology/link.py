"""The wires of a machine, and the keys of `[LEVEL.join]` that lay them (explained in joins.py).

This is a part of machine.py, and its fields are to be read as there.
"""

from uncore.topology.schema import (
    Duration,
    Place,
    PlaceOrNone,
    Ps,
    Rate,
    Ratio,
    Size,
    Text,
    Whole,
    Word,
    field,
    part,
)

GRIDS = ("ladder", "mesh", "torus", "quadrants")
JOINS_WITH_PLAN = ("ring", "two-rings", *GRIDS)  # kinds of join whose stops `map` can place
JOINS_WITH_ATTACHMENT = (
    "bus",
    *JOINS_WITH_PLAN,
)  # kinds of join in which a path leads from each member to its stop
MAX_CROSSBAR_HUBS = 256  # largest number of hubs in one crossbar
JOINS = (*JOINS_WITH_ATTACHMENT, "crossbar", "all-to-all", "links")


@part
class Link:
    """One direction of a wire between two stops.

    Links with the same channel share one medium (a bus). There are three kinds of message: `data`
    carries a line; `control` carries none; `snoop`, a probe or an answer without data, costs the
    same as `control` except on a bus, where it has wires of its own (busy 0). No latency is 0, so
    that no route runs in circles.
    """

    source: Place = field(
        "stop where it begins",
        Word("LEVEL.join.kind", "kind of join", words=JOINS),
        Text(
            "LEVEL.join.map",
            "drawing of who stands where",
            absent="members in a row",
            joins=JOINS_WITH_PLAN,
        ),
        Text(
            "LEVEL.join.size",
            "columns and rows, `6x5`; and layers, `4x4x2`",
            joins=("mesh", "torus"),
        ),
        Text("LEVEL.join.links", "list of the pairs that are wired", joins=("links",)),
        Whole(
            "LEVEL.join.hubs",
            "hubs of a crossbar: equal routes side by side (`routes`)",
            "1",
            low=1,
            high=MAX_CROSSBAR_HUBS,
            joins=("crossbar",),
        ),
        Text(
            "LEVEL.join.uplink",
            "stop that leads to the level above",
            absent="`u` of the map, else the first",
            joins=JOINS_WITH_PLAN,
        ),
    )
    target: Place = field("stop where it ends")
    control: Ps = field(
        "time a message without data takes; routes are least in it",
        Ratio(
            "LEVEL.join.control_ratio",
            "share of the data latency that a message without data takes",
            "1",
            high=10,
        ),
    )
    data: Ps = field(
        "time the head of a message with data takes",
        Duration("LEVEL.join.latency", "time of a crossing; in a ring or a grid of a hop"),
        Duration("LEVEL.join.dx", "time of a hop along a row", absent="`latency`", joins=GRIDS),
        Duration("LEVEL.join.dy", "time of a hop between rows", absent="`latency`", joins=GRIDS),
        Duration(
            "LEVEL.join.dz",
            "time of a hop between layers",
            absent="`latency`",
            joins=("mesh", "torus"),
        ),
        Duration(
            "LEVEL.join.diagonal", "time of a hop across", absent="none", joins=("quadrants",)
        ),
        Duration(
            "LEVEL.join.bridge", "time from ring to ring", absent="`latency`", joins=("two-rings",)
        ),
        Duration(
            "LEVEL.join.inject",
            "time from a member to its stop",
            "0ns",
            joins=JOINS_WITH_ATTACHMENT,
        ),
        Duration(
            "LEVEL.join.eject", "time from a stop to its member", "0ns", joins=JOINS_WITH_ATTACHMENT
        ),
    )
    snoop: Ps = field("time a probe, or an answer without data, takes")
    control_busy: Ps = field(
        "time a message without data keeps the channel",
        Size("messages.control", "bytes of a message without data"),
    )
    data_busy: Ps = field(
        "time a message with data keeps the channel",
        Size(
            "messages.data",
            "bytes of a message with a line of 64 bytes; a wider line adds the rest",
        ),
        Rate("LEVEL.join.width", "width of a wire", absent="no limit"),
        Rate(
            "LEVEL.join.attach_width",
            "width of the wires of `inject` and `eject`",
            absent="no limit",
            joins=JOINS_WITH_ATTACHMENT,
        ),
    )
    snoop_busy: Ps = field("time a probe, or an answer without data, keeps the channel")
    channel: PlaceOrNone = field("medium it takes; -1: no limit")
    level: str = field("level whose join owns it, for statistics and drawings")

"""The links of a machine, and the keys of `[LEVEL.join]` from which they are built (joins.py).

This is a part of machine.py; schema.py explains its fields.
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
JOINS_WITH_MAP = ("ring", "two-rings", *GRIDS)  # kinds of join that may have a `map`
# kinds of join in which members are not at the stops, but linked to them
JOINS_WITH_ATTACHMENT = ("bus", *JOINS_WITH_MAP)
MAX_CROSSBAR_HUBS = 256  # maximum number of hubs in one crossbar
JOINS = (*JOINS_WITH_ATTACHMENT, "crossbar", "all-to-all", "links")


@part
class Link:
    """One direction of a wire between two stops.

    Links with the same channel share one medium, such as a bus. Messages have three sizes: `data`
    with a line; `control` without a line; `snoop`, a probe or an answer without data. A snoop costs
    the same as a control message, except on a bus, where it has wires of its own and is never busy.
    No latency is 0, so that no route contains a cycle.
    """

    source: Place = field(
        "stop at which it begins",
        Word("LEVEL.join.kind", "kind of join", words=JOINS),
        Text(
            "LEVEL.join.map",
            "drawing of the positions of members, slices and ports",
            absent="members in a row",
            joins=JOINS_WITH_MAP,
        ),
        Text(
            "LEVEL.join.size",
            "columns and rows, `6x5`; and layers, `4x4x2`",
            joins=("mesh", "torus"),
        ),
        Text("LEVEL.join.links", "list of the pairs that are linked", joins=("links",)),
        Whole(
            "LEVEL.join.hubs",
            "number of parallel hubs of a crossbar, which give equal routes (`routes`)",
            "1",
            low=1,
            high=MAX_CROSSBAR_HUBS,
            joins=("crossbar",),
        ),
        Text(
            "LEVEL.join.uplink",
            "stop that is linked to the level above",
            absent="`u` of the map, else the first",
            joins=JOINS_WITH_MAP,
        ),
    )
    target: Place = field("stop at which it ends")
    control: Ps = field(
        "latency of a message without data; a route has the least sum of these",
        Ratio(
            "LEVEL.join.control_ratio",
            "latency of a message without data, as a share of that with data",
            "1",
            high=10,
        ),
    )
    data: Ps = field(
        "latency of the head of a message with data",
        Duration(
            "LEVEL.join.latency", "time to cross the join; in a ring or a grid, time of one hop"
        ),
        Duration("LEVEL.join.dx", "time of a hop along a row", absent="`latency`", joins=GRIDS),
        Duration("LEVEL.join.dy", "time of a hop between rows", absent="`latency`", joins=GRIDS),
        Duration(
            "LEVEL.join.dz",
            "time of a hop between layers",
            absent="`latency`",
            joins=("mesh", "torus"),
        ),
        Duration(
            "LEVEL.join.diagonal", "time of a diagonal hop", absent="none", joins=("quadrants",)
        ),
        Duration(
            "LEVEL.join.bridge",
            "time of a bridge from ring to ring",
            absent="`latency`",
            joins=("two-rings",),
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
    snoop: Ps = field("latency of a probe, or of an answer without data")
    control_busy: Ps = field(
        "time for which a message without data occupies the channel",
        Size("messages.control", "bytes of a message without data"),
    )
    data_busy: Ps = field(
        "time for which a message with data occupies the channel",
        Size(
            "messages.data",
            "bytes of a message with a line of 64 bytes; a larger line adds the difference",
        ),
        Rate("LEVEL.join.width", "width of a wire", absent="no limit"),
        Rate(
            "LEVEL.join.attach_width",
            "width of the wires of `inject` and `eject`",
            absent="no limit",
            joins=JOINS_WITH_ATTACHMENT,
        ),
    )
    snoop_busy: Ps = field(
        "time for which a probe, or an answer without data, occupies the channel"
    )
    channel: PlaceOrNone = field("channel that it occupies; -1: none, its bandwidth is unlimited")
    level: str = field("level whose join it belongs to, for statistics and drawings")

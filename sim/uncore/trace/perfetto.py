"""Writes a trace for Perfetto (ui.perfetto.dev, trace_processor) as its protobuf.

    trace(recorded) -> bytes

There are four groups of tracks: harts (operations, waits, sleep and interrupts as slices, accesses
as instants), lines (the state of each copy as slices), resolvers (transactions as slices, with a
track for each line) and links (slices in which a message occupies the channel).  Each message is an
instant when it leaves and another when it arrives; a flow joins the two.

Perfetto counts nanoseconds.  A picosecond is written as one nanosecond, so that different times
stay different: what Perfetto shows as 1 us is 1 ns.  The format is described in
perfetto.dev/docs/reference/synthetic-track-event.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from uncore.trace.named_tables import TIME_NOT_REACHED
from uncore.trace.record import Trace
from uncore.trace.words import agent_name, link_name, size_of

PACKET_SEQUENCE = 1
GROUPS = ("harts", "lines", "resolvers", "links")
# event that begins a slice of a hart -> event that ends it
SLICE_ENDS = {"waits": "goes on", "sleeps": "wakes", "traps": "returns", "idles": "interrupted"}


def trace(recorded: Trace) -> bytes:
    from perfetto.trace_builder.proto_builder import TraceProtoBuilder  # noqa: PLC0415 (slow to load)

    writer = _Writer(TraceProtoBuilder(), recorded)
    writer.write_harts()
    writer.write_lines()
    writer.write_resolvers()
    writer.write_messages()
    serialized: bytes = writer.builder.serialize()
    return serialized


class _Writer:
    def __init__(self, builder: Any, recorded: Trace) -> None:
        self.builder, self.recorded, self.machine = builder, recorded, recorded.job.machine
        self.tracks: dict[tuple[str, ...], int] = {}
        for group in GROUPS:
            self.track(group)

    def rows(self, table: str) -> Iterator[dict[str, Any]]:
        return self.recorded.tables[table].iter_rows(named=True)

    # ---- tracks and events

    def track(self, *path: str) -> int:
        """Returns the track with this path of names; creates it, and its parents, if needed."""
        if path not in self.tracks:
            parent_track = self.track(*path[:-1]) if path[1:] else 0
            self.tracks[path] = uuid = len(self.tracks) + 1
            described = self.builder.add_packet().track_descriptor
            described.uuid, described.name = uuid, path[-1]
            if parent_track:
                described.parent_uuid = parent_track
        return self.tracks[path]

    def write_event(self, kind: str, at: int, track: int, name: str = "", **details: Any) -> Any:
        packet = self.builder.add_packet()
        packet.timestamp = at
        packet.trusted_packet_sequence_id = PACKET_SEQUENCE
        event = packet.track_event
        event.type = event.Type.Value(f"TYPE_{kind}")
        event.track_uuid = track
        if name:
            event.name = name
        for key, value in details.items():
            annotation = event.debug_annotations.add()
            annotation.name = key
            if isinstance(value, int):
                annotation.int_value = value
            else:
                annotation.string_value = str(value)
        return event

    def write_slice(
        self, category: str, begin: int, end: int, track: int, name: str, **details: Any
    ) -> None:
        self.write_event("SLICE_BEGIN", begin, track, name, **details).categories.append(category)
        self.write_event("SLICE_END", max(begin, end), track)

    # ---- harts

    def write_harts(self) -> None:
        for operation in self.recorded.operations:
            track = self.track("harts", f"hart {operation.hart}", "operations")
            self.write_slice(
                "operation",
                operation.begin,
                operation.end,
                track,
                "operation",
                batch=operation.batch,
            )
        self._write_hart_intervals()
        for row in self.rows("accesses"):
            track = self.track("harts", f"hart {row['hart']}", "accesses")
            details = {key: row[key] for key in ("source", "object", "issued")}
            details |= {key: f"{row[key]:#x}" for key in ("found", "left")}  # 64 bits, unsigned
            name = f"{row['kind']} {row['object']}"
            self.write_event("INSTANT", row["at"], track, name, **details).categories.append(
                "access"
            )

    def _write_hart_intervals(self) -> None:
        """Writes the intervals in which a hart waits, sleeps, handles an interrupt or idles."""
        pending: dict[tuple[int, str], dict[str, Any]] = {}
        for row in self.rows("harts"):
            if row["what"] in SLICE_ENDS:
                pending[row["hart"], SLICE_ENDS[row["what"]]] = row
            elif begin := pending.pop((row["hart"], row["what"]), None):
                track = self.track("harts", f"hart {row['hart']}", begin["what"])
                label = f"{begin['what']} {begin['source']}"
                self.write_slice(begin["what"], begin["at"], row["at"], track, label)

    # ---- lines and resolvers

    def write_lines(self) -> None:
        start = self.recorded.window.start
        open_states = {
            (row["line"], row["agent"]): (start, row["state"]) for row in self.rows("held")
        }
        for row in self.rows("states"):
            key = row["line"], row["agent"]
            self._write_state(key, row["at"], *open_states.pop(key, (row["at"], "I")))
            open_states[key] = row["at"], row["after"]
        last_change = max([row["at"] for row in self.rows("states")], default=0)
        for key, (begin, state) in open_states.items():
            self._write_state(key, last_change, begin, state)

    def _write_state(self, key: tuple[int, int], until: int, since: int, state: str) -> None:
        if state != "I" and until > since:
            line, agent = key
            track = self.track("lines", self._line_name(line), agent_name(self.machine, agent))
            self.write_slice("state", since, until, track, state)

    def _line_name(self, line: int) -> str:
        """Returns a unique name of a line, because the lines of one object share its name."""
        return f"{self.recorded.name(line)} {line:#x}"

    def write_resolvers(self) -> None:
        for row in self.rows("transactions"):
            if row["open"] == TIME_NOT_REACHED:
                continue
            resolver = agent_name(self.machine, row["resolver"])
            track = self.track("resolvers", resolver, self._line_name(row["line"]))
            name = f"{row['op']} of {agent_name(self.machine, row['requester'])}"
            details = {key: row[key] for key in ("owner", "source", "right", "probes", "number")}
            self.write_slice("transaction", row["open"], row["close"], track, name, **details)

    # ---- messages

    def write_messages(self) -> None:
        for number, row in enumerate(self.rows("messages"), start=1):
            name = f"{row['kind']} {self.recorded.name(row['line']) if row['line'] else ''}".strip()
            end_points = (row["sent"], row["sender"]), (row["arrived"], row["receiver"])
            for (at, agent), category in zip(end_points, ("sent", "arrived"), strict=True):
                if at == TIME_NOT_REACHED:
                    continue
                track = self._message_track(agent)
                event = self.write_event("INSTANT", at, track, name, waited=row["waited"])
                event.categories.append(category)
                flows = event.flow_ids if category == "sent" else event.terminating_flow_ids
                flows.append(number)
            self._write_crossings(row, name)

    def _message_track(self, agent: int) -> int:
        name = agent_name(self.machine, agent)
        return self.track("harts" if agent < self.machine.cores else "resolvers", name, "messages")

    def _write_crossings(self, row: dict[str, Any], name: str) -> None:
        """Writes a slice for each link that a message crosses: the time in which it occupies the
        link's channel.
        """
        for number, reached, waited in zip(row["links"], row["met"], row["waits"], strict=True):
            busy = getattr(self.machine.links[number], f"{size_of(row)}_busy")
            track, begin = self.track("links", link_name(self.machine, number)), reached + waited
            self.write_slice("crossing", begin, begin + busy, track, name, waited=waited)

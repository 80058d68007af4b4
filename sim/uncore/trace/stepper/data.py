"""Converts a traced run to plain values, which the stepper's page contains.

    document(trace, command) -> dict
    drawing(machine), states(protocol), sources(program, texts)     parts that need no run

A page has many thousands of rows.  To save space they are lists, whose columns are in COLUMNS, and
repeated texts (source lines, objects) are indices into a list of texts.  Times are in ps from the
start of the window.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from uncore.drawing import protocol_diagram as diagram
from uncore.errors import UserError
from uncore.program import Program
from uncore.program.locate import source_of
from uncore.protocol.states import StateProperties
from uncore.protocol.tables import Tables
from uncore.protocol.tables import of as tables_of
from uncore.topology.layout import layout
from uncore.topology.machine import Machine
from uncore.trace import Trace
from uncore.trace.named_tables import TIME_NOT_REACHED
from uncore.trace.places import Places
from uncore.trace.words import agent_name

COLUMNS = {
    "messages": (
        "kind", "sender", "receiver", "line", "number", "requester", "right", "flags", "sent",
        "arrived", "acts", "waited",
    ),
    "states": ("at", "agent", "line", "before", "event", "after", "cell"),
    "holds": ("agent", "line", "at", "until"),
    "turns": ("at", "resolver", "line", "requester", "number", "children", "owner", "sharers"),
    "accesses": (
        "hart", "line", "kind", "source", "object", "size", "issued", "at", "found", "left",
    ),
    "harts": ("at", "hart", "what", "source", "value"),
    "transactions": (
        "requester", "number", "resolver", "line", "op", "right", "request", "open", "data",
        "close",
    ),
    "held": ("agent", "line", "state"),
}  # fmt: skip
DIAGRAM_SIZE_PX = (480, 330)  # width and height of the protocol's state diagram
TIME_COLUMNS_OF_PAGE = {
    "sent",
    "arrived",
    "acts",
    "at",
    "until",
    "issued",
    "request",
    "open",
    "data",
    "close",
}
INTERNED_COLUMNS = {"source", "object", "kind", "cell", "event", "what"}
RESOLVER_KINDS = {
    "snoop": "snooping point",
    "shadow-tags": "directory",
    "directory": "directory",
    "inclusive": "shared cache",
}
# columns of 64-bit values, which are written as text because JavaScript's numbers have 53 bits
WIDE_COLUMNS = {"found", "left"}


def document(trace: Trace, command: str) -> dict[str, Any]:
    job, machine, places = trace.job, trace.job.machine, Places(trace.job)
    texts = _Texts()
    tables = {name: _rows(trace, name, columns, texts) for name, columns in COLUMNS.items()}
    messages = trace.tables["messages"]
    protocol = tables_of(machine.protocol, machine.tables)
    return {
        "title": f"{job.program.name} on {machine.name}",
        "about": _about(trace),
        "command": command,
        "protocol": machine.protocol,
        "states": states(protocol),
        "diagram": diagram.drawing(protocol, *DIAGRAM_SIZE_PX, avoid_overlap=False),
        "until": _end_time(trace) - trace.window.start,
        "machine": drawing(machine),
        "lines": [[line, trace.name(line), _slices(places, machine, line)] for line in trace.lines],
        "harts": [[n, machine.core_of(hart)] for n, hart in enumerate(job.used_harts)],
        "operations": [
            [
                operation.hart,
                operation.begin - trace.window.start,
                operation.end - trace.window.start,
            ]
            for operation in trace.operations
        ],
        "ways": places.ways(messages.iter_rows(named=True), trace.window.start),
        "columns": COLUMNS,
        "tables": tables,
        "rows": _cells(protocol),
        "texts": texts.list,
        "sources": sources(job.program, texts.list),
    }


class _Texts:
    """Collects distinct texts in the order of their first use. Rows contain indices of texts."""

    def __init__(self) -> None:
        self.list: list[str] = []
        self.index: dict[str, int] = {}

    def index_of(self, text: str) -> int:
        if text not in self.index:
            self.index[text] = len(self.list)
            self.list.append(text)
        return self.index[text]


def _rows(trace: Trace, name: str, columns: Sequence[str], texts: _Texts) -> list[list[Any]]:
    start = trace.window.start

    def cell(column: str, value: Any) -> Any:
        if column in TIME_COLUMNS_OF_PAGE:
            return value if value == TIME_NOT_REACHED else value - start
        if column in INTERNED_COLUMNS:
            return texts.index_of(value)
        return f"{value:x}" if column in WIDE_COLUMNS else value

    table = trace.tables[name].select(columns)
    selected = (row for row in table.iter_rows() if name != "harts" or row[2] != "marks")
    return [[cell(c, v) for c, v in zip(columns, row, strict=True)] for row in selected]


def _about(trace: Trace) -> str:
    job = trace.job
    parameters = ", ".join(f"{name}={value}" for name, value in job.parameters)
    seed = "lockstep" if job.seed is None else f"seed {job.seed}"
    threads = f"{job.threads[0]} threads"
    return ", ".join(part for part in (threads, seed, job.machine.protocol, parameters) if part)


def _slices(places: Places, machine: Machine, line: int) -> list[int]:
    """Returns, for each resolver, the stop of the slice to which the line belongs."""
    return [places.stop(machine.cores + n, line) for n in range(len(machine.resolvers))]


def _end_time(trace: Trace) -> int:
    ends = [
        max((t for t in trace.tables[name][time_column].to_list()), default=0)
        for name, time_column in (("messages", "arrived"), ("states", "at"), ("accesses", "at"))
    ]
    return int(min(max(ends), trace.window.until) or trace.window.start)


def drawing(machine: Machine) -> dict[str, Any]:
    """Describes the drawing of a machine: the positions of stops and frames, and the wires. A wire
    stands for the links of both directions.
    """
    box = layout(machine)
    wires = {tuple(sorted((link.source, link.target))): link.level for link in machine.links}
    agents = [*range(machine.cores + len(machine.resolvers) + len(machine.memories))]
    return {
        "size": [box.width, box.height],
        "stops": [[round(v, 2) for v in box.points[stop]] for stop in machine.stops],
        "names": list(machine.stops),
        "frames": [[label, *corner, *size] for label, corner, size in box.frames],
        "wires": [[*ends, level] for ends, level in sorted(wires.items())],
        "buses": _buses(machine),
        "cores": list(machine.core_stops),
        "resolvers": [
            [resolver.name, resolver.level, list(resolver.slices), RESOLVER_KINDS[resolver.knows]]
            for resolver in machine.resolvers
        ],
        "memories": [memory.stop for memory in machine.memories],
        "agents": [agent_name(machine, agent) for agent in agents],
    }


def _buses(machine: Machine) -> list[int]:
    """Returns the middle stops of buses. A bus is a channel that more than two links share (the two
    directions of a wire).
    """
    sharing: dict[int, list[set[int]]] = {}
    for link in machine.links:
        sharing.setdefault(link.channel, []).append({link.source, link.target})
    media = [ends for channel, ends in sharing.items() if channel >= 0 and len(ends) > 2]
    return sorted({stop for ends in media for stop in set.intersection(*ends)})


def states(protocol: Tables) -> dict[str, dict[str, Any]]:
    """Returns, for each client state, its role (which decides its colour) and whether it is
    transient.
    """
    properties = StateProperties(protocol)
    return {
        state: {"role": properties.role(state), "transient": properties.is_transient(state)}
        for state in protocol.client.rows
    }


def _cells(protocol: Tables) -> dict[str, dict[str, str]]:
    """Returns the cells of resolver.table, by row and request."""
    table = protocol.resolver
    return {
        row: {column: table[row, column].text for column in table.columns} for row in table.rows
    }


def sources(program: Program, texts: Iterable[str]) -> dict[str, str]:
    """Returns the content of each source line (FILE:LINE) in `texts`, if its file can be read."""
    try:
        source = source_of(program)
    except UserError:  # a program given as an ELF file has no source
        return {}
    lines: dict[str, str] = {}
    by_file: dict[str, list[str]] = {}
    for text in texts:
        name, colon, number = text.rpartition(":")
        if not (colon and number.isdigit()):
            continue
        if name not in by_file:
            by_file[name] = _lines(source, name)
        if 0 < int(number) <= len(by_file[name]):
            lines[text] = by_file[name][int(number) - 1].strip()
    return lines


def _lines(source: Path, name: str) -> list[str]:
    for folder in (source.parent, source.parent.parent, source.parent.parent / "include"):
        if (folder / name).is_file():
            return (folder / name).read_text(errors="replace").splitlines()
    return []

"""`uncore lines --format c2c`: the shared lines with the columns of `perf c2c report`, so that
simulated and measured tables can be compared.

`show(result, observed, top, as_json)` prints the table; `row(line, nodes)` returns a line's values.

Values that perf samples are counted here.  A `Hitm` is a fetch from another core's cache, for a
load or a store (perf sees loads only); it is local if both cores have the same nearest memory node.
Columns that a simulation cannot fill are left out.
"""

from __future__ import annotations

from typing import Any

import msgspec

from uncore.drawing import formats as units
from uncore.drawing.table import Column, Row, emit
from uncore.result import Observed, Result
from uncore.result.observed import Line
from uncore.topology.machine import Machine
from uncore.topology.route import nearest_memories

DATA_SUFFIX = " data"  # ends the name of a source that is the data of a level, such as "ccx data"


def show(result: Result, observed: Observed, top: int, as_json: bool) -> None:
    nodes = nodes_of(msgspec.convert(result.job["machine"], Machine))
    rows = [row(line, nodes) for line in observed.lines]
    total = sum(line_row["Hitm Total"] for line_row in rows) or 1
    shown_rows = sorted(rows, key=lambda line_row: (-line_row["Hitm Total"], line_row["Address"]))[
        :top
    ]
    table_rows = [
        {"Index": index, **line_row, "Tot Hitm": line_row["Hitm Total"] * 10**6 // total}
        for index, line_row in enumerate(shown_rows)
    ]
    title = f"Shared Data Cache Line Table ({observed.threads} threads; counted, not sampled)"
    emit(table_rows, as_json, COLUMNS, title)


def nodes_of(machine: Machine) -> list[int]:
    """Returns the memory node nearest to each core."""
    return nearest_memories(machine, [machine.harts_of(core)[0] for core in range(machine.cores)])


def row(line: Line, nodes: list[int]) -> Row:
    """Returns a line's columns; `nodes` has the memory node nearest to each core."""
    local = sum(times for a, b, times in line.taken if nodes[a] == nodes[b])
    remote = sum(times for a, b, times in line.taken if nodes[a] != nodes[b])
    store_misses = sum(use.misses for use in line.uses if use.writes)
    load_misses = line.sum("misses") - store_misses
    return {
        "Address": f"{line.address:#x}",
        "Symbol": ", ".join(dict.fromkeys(name for _, _, name in line.fields)),
        "Hitm Total": local + remote,
        "LclHitm": local,
        "RmtHitm": remote,
        "Total records": line.sum("reads") + line.sum("writes"),
        "Total Loads": line.sum("reads"),
        "Total Stores": line.sum("writes"),
        "L1Hit": line.sum("writes") - store_misses,
        "L1Miss": store_misses,
        "L1": line.sum("reads") - load_misses,
        "LclHit": sum(n for name, n in line.transfers.items() if name.endswith(DATA_SUFFIX)),
        "Dram": line.transfers.get("memory", 0),
    }


def _count(head: str, key: str, about: str) -> Column:
    return Column(head, key, units.count, about=f"c2c: {about}")


COLUMNS: list[Any] = [
    Column("Index", "Index", about="c2c: rank by Hitm, most first"),
    Column("Address", "Address", left=True, about="c2c: address of the line"),
    Column(
        "Tot Hitm",
        "Tot Hitm",
        lambda ppm: f"{ppm / 10_000:.2f}%",
        about="c2c: the line's share of all fetches from another core's cache",
    ),
    _count("Load Hitm Total", "Hitm Total", "fetches from another core's cache, also for stores"),
    _count("LclHitm", "LclHitm", "part of these from a core with the same nearest memory node"),
    _count("RmtHitm", "RmtHitm", "from another"),
    _count("Total records", "Total records", "reads and writes; perf samples them, here are all"),
    _count("Total Loads", "Total Loads", "reads, atomics among them"),
    _count("Total Stores", "Total Stores", "writes, atomics among them"),
    _count("Stores L1Hit", "L1Hit", "writes that found the line in the core's caches"),
    _count("Stores L1Miss", "L1Miss", "writes that had to fetch it"),
    _count("Core Load Hit L1", "L1", "reads that found it in the core's caches"),
    _count("LLC Load Hit LclHit", "LclHit", "fetched from the data of a level"),
    _count("Load Dram", "Dram", "fetched from memory"),
    Column("Symbol", "Symbol", left=True, about="c2c: variables and fields on the line"),
]

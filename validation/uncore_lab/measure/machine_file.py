"""Writes a machine file of a real computer.

    describe(computer) -> text of a machine file that loads

Sizes, sharing, numbers of processors and clocks are those that the computer reports.  No computer
reports its latencies.  They come from the family to which its vendor and model belong
(`families.toml`), if the computer has the shape of that family; otherwise they are estimates
(`families/generic`).  Each number names its source.

Invariant: the returned text has been loaded once; a computer that no machine file can describe is
refused with the reason.
"""

from __future__ import annotations

import json
import textwrap
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from math import ceil, sqrt
from pathlib import Path
from typing import Any

from uncore import topology
from uncore.errors import UserError
from uncore.host.computer import Computer, ranges
from uncore.topology.load import load_text
from uncore.topology.schema import DEFAULT_LINE_BYTES
from uncore_lab.measure.cpu_tree import ComputerLayout, lay_out
from uncore_lab.measure.without_family import (
    FileTables,
    last_caches,
    memory_cache,
    size,
    tables,
)

MEASURED_HEAD = """\
# Written by `uncore measure --topology` from {source}: structure, sizes and the numbers of
# processors are the machine's own. {numbers}
{notes}
"""
FAMILY_NOTE = "Latencies are those of its family, {family}, or estimates."
GENERIC_NOTE = (
    "Latencies are estimates: no family of this\n# version is like it. `uncore calibrate` fits them"
    " to a measured matrix."
)
# vendors whose caches forward modified lines without writing them back to memory
MOESI_VENDORS = ("AuthenticAMD", "HygonGenuine")


@dataclass(frozen=True)
class Family:
    extends: tuple[str, ...]
    needs: tuple[str, ...]
    adds: str
    note: str


def describe(computer: Computer) -> str:
    reasons: list[str] = []
    for family in (*_families(computer), None):
        layout = lay_out(computer, family.needs if family else ())
        text = _text(computer, layout, family, reasons, ())
        try:
            machine = loads(text)
        except UserError as error:
            reasons.append(str(error).splitlines()[0])
            continue
        nodes = len(
            [node for node in computer.nodes if node.cpus and _reports_memory_nodes(computer)]
        )
        if family and nodes and len(machine.memories) != nodes:
            reasons.append(f"it has {len(machine.memories)} memory nodes, this computer {nodes}")
            continue
        return _text(computer, layout, family, reasons, _guesses(machine))
    raise UserError(f"{computer.source}: no machine file can describe it: {reasons[-1]}")


def _reports_memory_nodes(computer: Computer) -> bool:
    """True if the computer reports its memory nodes. A single node without a size stands for a
    computer that reports none.
    """
    return len(computer.nodes) > 1 or any(node.memory for node in computer.nodes)


def loads(text: str) -> topology.Machine:
    """Loads a machine from the text of a file that has not been written yet."""
    return load_text(text, "the machine file")


def _guesses(machine: topology.Machine) -> tuple[str, ...]:
    """Returns the keys of numbers that nobody has measured or published."""
    guess = ("estimate", "predicted")
    return tuple(n.key for n in machine.numbers if n.source.startswith(guess))


# ---- The family ----------------------------------------------------------------------------------


@cache
def families() -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = tomllib.loads(
        Path(__file__).with_name("families.toml").read_text()
    )["family"]
    return rows


def _families(computer: Computer) -> Iterator[Family]:
    sockets = len({cpu.package for cpu in computer.cpus})
    for row in families():
        if (
            row["vendor"] == computer.vendor
            and row["family"] == computer.family
            and any(low <= computer.model <= high for low, high in row["models"])
            and row.get("sockets", sockets) == sockets
        ):
            yield Family(
                extends=tuple(row["extends"]),
                needs=tuple(row.get("needs", ())),
                adds=row.get("adds", ""),
                note=row.get("note", ""),
            )


# ---- The file ------------------------------------------------------------------------------------


def _text(
    computer: Computer,
    layout: ComputerLayout,
    family: Family | None,
    reasons: Sequence[str],
    guesses: Sequence[str],
) -> str:
    own_tables = FileTables((), ()) if family else tables(computer, layout)
    memory_side = memory_cache(computer)
    notes = [
        *computer.notes,
        *layout.notes,
        *own_tables.notes,
        *memory_side.notes,
        *_unreported_properties(computer),
    ]
    notes += [family.note] if family and family.note else []
    notes += [f"a family that its CPUID names does not fit: {reason}" for reason in reasons]
    if computer.offline:
        notes.append(f"offline when it was described: processors {ranges(computer.offline)}")
    if guesses:
        notes.append(f"guesses are {', '.join(guesses)}")
    extends = family.extends if family else ("families/generic",)
    head = MEASURED_HEAD.format(
        source=computer.source,
        numbers=FAMILY_NOTE.format(family=" and ".join(extends)) if family else GENERIC_NOTE,
        notes="".join(f"# {note}.\n" for note in map(_folded, notes)),
    )
    lines = [
        f"extends  = {_list(extends)}",
        f"name     = {json.dumps(computer.name)}",
        f'tree     = "{layout.tree}"',
        f'cpus     = "{layout.cpus}"',
        f"source   = {json.dumps(computer.source)}",
    ]
    if computer.line != DEFAULT_LINE_BYTES:
        lines.append(f'line     = "{computer.line}B"')
    if not family and computer.vendor in MOESI_VENDORS:
        lines.append('protocol = "moesi"')
    body = [head + "\n".join(lines), *_cores(computer, layout), *own_tables.parts]
    if family:
        body += [_filled(family.adds, computer, layout), *last_caches(layout, whole=False)]
    body += memory_side.parts
    return _with_merged_tables("\n\n".join(filter(None, map(str.strip, body)))) + "\n"


def _folded(note: str) -> str:
    return "\n#   ".join(textwrap.wrap(note, 100, break_long_words=False, break_on_hyphens=False))


def _unreported_properties(computer: Computer) -> Iterator[str]:
    """Yields sentences about properties of caches and memory that a machine file needs but the
    computer does not report.
    """
    if not _reports_memory_nodes(computer):
        yield "no memory node is told"
    if not computer.shared(1):
        yield "the private caches are not told: the first level is of the usual size"
    if not computer.shared(3):
        yield "no cache above the cores' own is told: copies are known at the memory nodes alone"
    if any(not cache.ways for cache in computer.caches):
        yield "the ways of caches are not told: 8, or fewer where 8 do not divide the size"


def _list(names: tuple[str, ...]) -> str:
    quoted = [f'"{name}"' for name in names]
    return quoted[0] if len(quoted) == 1 else f"[{', '.join(quoted)}]"


def _cores(computer: Computer, layout: ComputerLayout) -> Iterator[str]:
    """Yields `[core]`, and for each kind of cores a table with the keys that differ."""
    named_parts = [(name, where) for name, where, _ in layout.kinds]
    named_parts += [(shared.kind, shared.where) for shared in (*layout.second, *layout.last)]
    if any(name for name, _ in named_parts):
        yield "\n".join(["[kinds]", *(f'{n} = "{where}"' for n, where in named_parts if n)])
    for name, _, kind in layout.kinds:
        table = f"core.{name}" if name else "core"
        mhz = kind.mhz or ("" if name else computer.mhz)
        lines = [f"[{table}]"]
        if mhz:
            lines.append(f'clock = {{ value = "{mhz:g}MHz", source = "{computer.clock}" }}')
        elif not name:
            lines.append(
                'clock = { value = "3GHz", source = "estimate: the system does not tell" }'
            )
        if kind.l1:
            lines += ["", f"[{table}.l1]", *size(kind.l1)]
        if not kind.l2 or kind.shares:
            lines += ["", f"[{table}.l2]", 'size = "none"']
        else:
            lines += ["", f"[{table}.l2]", *size(kind.l2)]
        yield "\n".join(lines)


def _filled(adds: str, computer: Computer, layout: ComputerLayout) -> str:
    """Replaces the placeholders in the family's text by this computer's numbers."""
    members = layout.max_members(layout.levels[-2])
    width = ceil(sqrt(members))
    values = {
        "clock": f"{computer.mhz or 3000:g}MHz",
        "members": " ".join(map(str, range(members))),
        "size": f"{width}x{ceil(members / width)}",
    }
    for word, value in values.items():
        adds = adds.replace(f"{{{word}}}", value)
    return adds


def _with_merged_tables(text: str) -> str:
    """Merges tables that occur several times, because TOML allows each table only once."""
    tables: dict[str, list[str]] = {}
    current = ""
    for line in text.splitlines():
        if line.startswith("["):
            current = line
        if line.strip() or not current:
            tables.setdefault(current, []).append(line)
    parts = ["\n".join(dict.fromkeys(lines) if name else lines) for name, lines in tables.items()]
    return "\n\n".join(part.strip() for part in parts)

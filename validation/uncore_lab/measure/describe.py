"""A machine file of a real computer: what it tells of itself, the rest from its family.

    describe(computer) -> text of a machine file that loads

Sizes, sharing, numbers of processors and clocks are the computer's own.  No computer tells its
latencies: they come from the family that its vendor and model belong to (`families.toml`), if that
family's shape fits, or else are estimates (`families/generic`).  Each number says which.

Invariant: what is returned has been loaded once; a computer that no machine file can describe is
refused with the reason.
"""

from __future__ import annotations

import tempfile
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from math import ceil, sqrt
from pathlib import Path
from typing import Any

from uncore import topology
from uncore.errors import UserError
from uncore.host.computer import Cache, Computer, Kind, ranges
from uncore_lab.measure.layout import Layout, lay_out

HEAD = """\
# Written by `uncore measure --topology` from {source}: structure, sizes and the numbers of
# processors are the machine's own. {numbers}
{notes}
"""
FAMILY = "Latencies are those of its family, or estimates."
GENERIC = (
    "Latencies are estimates: no family of this\n# version is like it. `uncore calibrate` fits them"
    " to a measured matrix."
)
OWNED = ("AuthenticAMD", "HygonGenuine")  # vendors whose caches pass dirty lines on: MOESI


@dataclass(frozen=True)
class Family:
    extends: tuple[str, ...]
    needs: tuple[str, ...]
    adds: str
    note: str


def describe(computer: Computer) -> str:
    refusals = []
    for family in (*_families(computer), None):
        text = _text(computer, lay_out(computer, family.needs if family else ()), family)
        try:
            loads(text)
        except UserError as error:
            refusals.append(str(error))
            continue
        return text
    raise UserError(f"{computer.source}: no machine file can describe it: {refusals[-1]}")


def loads(text: str) -> topology.Machine:
    """A machine file that is not yet one."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "machine.toml"
        path.write_text(text)
        return topology.load(path)


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


def _text(computer: Computer, layout: Layout, family: Family | None) -> str:
    notes = [*layout.notes, *_untold(computer), *([family.note] if family and family.note else [])]
    if computer.offline:
        notes.append(f"offline when it was described: processors {ranges(computer.offline)}")
    head = HEAD.format(
        source=computer.source,
        numbers=FAMILY if family else GENERIC,
        notes="".join(f"# {note}.\n" for note in notes),
    )
    extends = family.extends if family else ("families/generic",)
    lines = [
        f"extends  = {_list(extends)}",
        f'name     = "{computer.name}"',
        f'tree     = "{layout.tree}"',
        f'cpus     = "{layout.cpus}"',
        f'source   = "{computer.source}"',
    ]
    if not family and computer.vendor in OWNED:
        lines.append('protocol = "moesi"')
    body = [head + "\n".join(lines), *_cores(computer, layout)]
    if family:
        body += [_filled(family.adds, computer, layout), _last_cache(computer, layout, False)]
    else:
        body += [*_shared_caches(computer, layout), *_joins(layout), _memory(layout)]
    return _joined("\n\n".join(filter(None, map(str.strip, body)))) + "\n"


def _untold(computer: Computer) -> Iterator[str]:
    """What a machine's file needs of caches and the computer does not tell."""
    if not computer.shared(1):
        yield "the private caches are not told: the first level is of the usual size"
    if not computer.shared(3):
        yield "no cache above the cores' own is told: copies are known at the memory nodes alone"
    if any(not cache.ways for cache in computer.caches):
        yield "the ways of caches are not told: 8, or fewer where 8 do not divide the size"


def _list(names: tuple[str, ...]) -> str:
    quoted = [f'"{name}"' for name in names]
    return quoted[0] if len(quoted) == 1 else f"[{', '.join(quoted)}]"


def _cores(computer: Computer, layout: Layout) -> Iterator[str]:
    """`[core]`, and what of it is different in other kinds."""
    if len(layout.kinds) > 1:
        yield "\n".join(["[kinds]", *(f'{n} = "{where}"' for n, where, _ in layout.kinds[1:])])
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
            lines += ["", f"[{table}.l1]", *_size(kind.l1)]
        if not kind.l2 or _clustered(layout, kind):
            lines += ["", f"[{table}.l2]", 'size = "none"']
        else:
            lines += ["", f"[{table}.l2]", *_size(kind.l2)]
        yield "\n".join(lines)


def _clustered(layout: Layout, kind: Kind) -> bool:
    return "cluster" in layout.levels and kind.shares


def _size(cache: Cache) -> list[str]:
    """A cache that does not tell its ways has some that divide it."""
    ways = cache.ways or 8
    while cache.size % (64 * ways):
        ways -= 1
    return [f'size = "{cache.size // 1024}KiB"', f"ways = {ways}"]


def _last_cache(computer: Computer, layout: Layout, whole: bool) -> str:
    last = computer.typical(3)
    if not last:
        return ""
    more = ['policy = "victim"', 'latency = { value = "10cy", source = "estimate" }']
    return "\n".join([f"[{layout.shared}.data]", *_size(last), *(more if whole else [])])


def _filled(adds: str, computer: Computer, layout: Layout) -> str:
    """The family's own words, with this machine's numbers."""
    members = layout.most(layout.levels[-2])
    width = ceil(sqrt(members))
    words = {
        "clock": f"{computer.mhz or 3000:g}MHz",
        "members": " ".join(map(str, range(members))),
        "size": f"{width}x{ceil(members / width)}",
    }
    for word, value in words.items():
        adds = adds.replace(f"{{{word}}}", value)
    return adds


# ---- Without a family ----------------------------------------------------------------------------

RESOLVER = """\
[{level}.resolver]
source  = "estimate"
knows   = "{knows}"
at      = "{at}"
reply   = "via"
unblock = "response"
service = "4cy"
grants  = 4"""

JOIN = """\
[{level}.join]
kind    = "{kind}"
latency = {{ value = "{latency}", source = "estimate" }}
width   = {{ value = "32B/cy", source = "estimate" }}"""

# One crossing of each level's join, between what such levels cost on machines with figures.
LATENCIES = {"cluster": "20cy", "ccx": "40cy", "die": "40ns", "socket": "40ns", "system": "60ns"}
LAST_CACHE = {8: "40cy", 1 << 30: "60cy"}  # by the cores that share it, at most


def _shared_caches(computer: Computer, layout: Layout) -> Iterator[str]:
    for name, _, kind in layout.kinds:
        if kind.l2 and _clustered(layout, kind):
            table = f"cluster.{name}" if name else "cluster"
            yield _join(table, LATENCIES["cluster"])
            lines = [f"[{table}.data]", 'policy = "inclusive"', *_size(kind.l2)]
            yield "\n".join([*lines, 'latency = { value = "14cy", source = "estimate" }'])
            yield RESOLVER.format(level=table, knows="inclusive", at="hub")
    sharers = layout.most(layout.shared)
    yield _join(layout.shared, next(cost for most, cost in LAST_CACHE.items() if sharers <= most))
    if last := _last_cache(computer, layout, True):
        yield last
        yield RESOLVER.format(level=layout.shared, knows="shadow-tags", at="slices")


def _joins(layout: Layout) -> Iterator[str]:
    outside = layout.levels[: layout.levels.index(layout.shared)]
    for level in (*reversed(outside), "system"):
        if layout.most(level) > 1:
            yield _join(level, LATENCIES[level])


def _join(level: str, latency: str) -> str:
    kind = "all-to-all" if level == "system" else "crossbar"
    return JOIN.format(level=level, kind=kind, latency=latency)


def _memory(layout: Layout) -> str:
    lines = ["[memory]", f'node = "{layout.node}"']
    if layout.nodeless:
        depth = layout.levels.index(layout.node) + 1
        groups = len({key[:depth] for key, _ in layout.cores})
        rich = [str(g) for g in range(groups) if g not in layout.nodeless]
        lines.append(f'groups = "{" ".join(rich)}"')
    return "\n".join(lines)


def _joined(text: str) -> str:
    """TOML has each table once: what is said of one in two places is put together."""
    tables: dict[str, list[str]] = {}
    current = ""
    for line in text.splitlines():
        if line.startswith("["):
            current = line
        if line.strip() or not current:
            tables.setdefault(current, []).append(line)
    parts = ["\n".join(dict.fromkeys(lines) if name else lines) for name, lines in tables.items()]
    return "\n\n".join(part.strip() for part in parts)

"""Resolves a machine's tree of values into a `Machine`, with all choices made and all numbers
integers.

`resolve(root, id, KeyRecord(root))` reads the tree of levels, builds the fabric bottom-up (children
first, then the join between them), and places cores, memories and resolvers at stops. The steps are
in:

    core.py       costs of a core                        joins.py     costs of a level's join
    ownership.py  resolvers                              builders.py  stops and links of a join
    kinds.py      parts that differ from others          cut.py       `part`: only a part
    this file     the order of the steps, and the positions of cores and memories
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from uncore.topology.builders import Sites, path_of_stop
from uncore.topology.builders import build as build_join
from uncore.topology.core import read_core, sets_and_ways
from uncore.topology.cpus import check_cpus
from uncore.topology.cut import cut
from uncore.topology.document import Branch, Leaf
from uncore.topology.fabric import Cost, Fabric
from uncore.topology.incomplete import EXAMPLE_JOIN, lacking
from uncore.topology.joins import Join, Messages, read_join
from uncore.topology.kinds import LevelTables, kind_names, memory_kinds, read_levels, write_out
from uncore.topology.machine import Chance, Interrupt, Kind, Machine, Memory, System
from uncore.topology.missing import refuse_missing
from uncore.topology.ownership import AgentStops, read_resolvers, refuse_far_without_data
from uncore.topology.protocols import read_protocol
from uncore.topology.schema import DEFAULT_LINE_BYTES, LINE_SIZES, YEAR, YEARS
from uncore.topology.table_reader import KeyRecord, Table
from uncore.topology.tree import Tree, TreeGroup, parse_tree
from uncore.topology.units import UnitError, count, ps
from uncore.topology.unknown import refuse_unknown


def resolve(root: Branch, identifier: str, key_record: KeyRecord) -> Machine:
    top = Table(root, "", key_record)
    tree = _read_tree(root, top)
    key_record.line = _line(top)
    levels, max_threads = read_levels(top, tree), max(tree.threads)
    costs = {kind: read_core(table, max_threads) for kind, table in levels.tables["core"].items()}
    plan = JoinPlan(tree, levels, read_joins(levels, _messages(top)))
    agent_stops = plan.place_agents(top)
    memories, ports = read_memories(top, plan.fabric, tree, agent_stops)
    protocol = read_protocol(top)
    resolvers = read_resolvers(levels, agent_stops, ports, protocol)
    kinds = {kind: tuple(core.index for core in levels.of("core", kind)) for kind in costs}
    for kind in (kind for kind, core in costs.items() if core.far_atomics):
        refuse_far_without_data(levels.tables["core"][kind], resolvers, kinds[kind])
    machine = Machine(
        id=identifier,
        name=top.text("name"),
        protocol=protocol.name,
        tables=protocol.texts,
        protocol_source=protocol.source,
        alternative_protocol=top.word("alternative_protocol"),
        levels=tree.levels,
        shape=tuple((*c.ancestors, c.index) for c in tree.groups("core")),
        threads_per_core=max_threads,
        threads=tree.threads if min(tree.threads) < max_threads else (),
        core=costs[""],
        core_stops=tuple(agent_stops.cores),
        resolvers=tuple(resolvers),
        memories=tuple(memories),
        interrupt=top.level("interrupt").part(Interrupt),
        chance=top.table_or_empty("chance").part(Chance),
        os=top.table_or_empty("os").part(System),
        stops=tuple(plan.fabric.stops),
        links=tuple(plan.fabric.links),
        cpus=top.read("cpus", lambda text: check_cpus(text, sum(tree.threads))),
        unknowns=_unknowns(top),
        numbers=tuple(key_record.numbers.values()),
        line=key_record.line,
        hashed_routes=top.word("routes") == "hashed",
        kinds=tuple(Kind(kind, kinds[kind], core) for kind, core in costs.items() if kind),
    )
    return _part(machine, top, tree)


def _read_tree(root: Branch, top: Table) -> Tree:
    """Returns the tree of levels, after checking that all keys are known and none is missing."""
    if "tree" not in top:
        refuse_missing(root)
    tree = top.read("tree", parse_tree)
    refuse_unknown(root, tree.levels[:-1], kind_names(root), memory_kinds(root.items.get("memory")))
    write_out(root)
    refuse_missing(root)
    return tree


def _part(machine: Machine, top: Table, tree: Tree) -> Machine:
    _refuse_no_lineage(top, tree)
    part = top.read("part", tree.part, None)
    return cut(machine, [core.index for core in part.cores()], part.path) if part else machine


def _refuse_no_lineage(top: Table, tree: Tree) -> None:
    """Checks `[lineage]` (`lineage.py`): it may have only levels of the tree, each a text, and a
    year.
    """
    if not (table := top.table("lineage")):
        return
    if YEAR in table:
        table.read(YEAR, lambda text: count(text, *YEARS))
    for level in table.branch.items:
        if level == YEAR:
            continue
        if level not in tree.levels[:-1]:
            levels = ", ".join(tree.levels[:-1])
            raise table.wrong(level, f"'lineage.{level}': no level; expected one of {levels}")
        table.text(level)


def _line(top: Table) -> int:
    line = top.size("line")
    if line not in LINE_SIZES:
        sizes = ", ".join(f"{size}B" for size in LINE_SIZES)
        raise top.wrong("line", f"'line = {top.text('line')}': expected one of {sizes}")
    return line


def _messages(top: Table) -> Messages:
    table = top.table_or_empty("messages")
    return Messages(
        table.size("control"), table.size("data") + top.key_record.line - DEFAULT_LINE_BYTES
    )


def _unknowns(top: Table) -> tuple[tuple[str, str], ...]:
    table = top.table("unknowns")
    return tuple((key, table.text(key)) for key in table.branch.items) if table else ()


Joins = dict[tuple[str, str], Join]  # (level, kind) -> join


def read_joins(levels: LevelTables, messages: Messages) -> Joins:
    joins = {}
    for level, tables in levels.tables.items():
        for kind, table in tables.items():
            join = table.table("join") if level != "core" else None
            if join:
                joins[level, kind] = read_join(join, level, messages)
    return joins


# sizes of a program on each memory node, and of a hart's stack (UC_STACK_STRIDE of uncore_abi.h)
PROGRAM_BYTES, STACK_BYTES = 2 << 20, 16512


@dataclass(frozen=True)
class Port:
    """A stop by which a group is linked to the join above; None for a core that has no stop yet."""

    group: TreeGroup
    stop: int | None
    plane: int = 0  # index of this port's hub, if the group has several
    planes: int = 1

    def meets(self, hub: int, hubs: int) -> bool:
        """Returns True if this port is linked to that hub of the join above.

        Hubs are linked as in a fat tree, each to its share of the hubs above.
        """
        share = min(self.planes, hubs)
        return self.plane % share == hub % share


@dataclass
class JoinPlan:
    tree: Tree
    levels: LevelTables
    joins: Joins
    fabric: Fabric = field(default_factory=Fabric)
    sites: dict[str, Sites] = field(default_factory=dict)  # path of a group -> its stops
    cores: dict[int, int] = field(default_factory=dict)

    def place_agents(self, top: Table) -> AgentStops:
        ports = self.build(self.tree.root)
        if len(ports) == 1 and ports[0].stop is None:
            self.cores[0] = self.fabric.stop(ports[0].group.path)
        elif len(ports) > ports[0].planes:
            node = top.branch.items["tree"]
            names = ", ".join(port.group.path for port in ports[:3])
            raise lacking(
                node.place,
                f"{len(ports)} parts ({names} ...) cannot reach one another: no level above them"
                ' has a join; write one, like [system] join = "crossbar 20ns 32B/1ns"',
                {"system.join": EXAMPLE_JOIN},
            )
        self.refuse_islands(top)
        cores = [self.cores[c] for c in range(len(self.cores))]
        return AgentStops(cores, self.sites, self.fabric.ports)

    def refuse_islands(self, top: Table) -> None:
        """Checks that every stop can reach every other. Links come in pairs, so one search is
        enough.
        """
        names, neighbours = self.fabric.stops, [list[int]() for _ in self.fabric.stops]
        for link in self.fabric.links:
            neighbours[link.source].append(link.target)
        reached, waiting = {0}, [0]
        while waiting:
            new_stops = set(neighbours[waiting.pop()]) - reached
            reached |= new_stops
            waiting.extend(new_stops)
        if island := next((stop for stop in range(len(names)) if stop not in reached), None):
            suspects = [j for j in self.joins.values() if j.kind in ("links", "mesh")]
            table = suspects[0].table if suspects else top
            raise lacking(
                table.branch.place,
                f"stop '{names[island]}' cannot be reached from '{names[0]}';"
                " expected links, or a map, that leave no island",
                {table.key: self.bridge(suspects[0], reached)} if suspects else {},
            )

    def bridge(self, join: Join, reached: set[int]) -> dict[str, Any]:
        """Returns this join's `links` with one link added, from a reached part to one that is not
        reached.
        """
        leaf = join.table.branch.items.get("links")
        for group in self.tree.groups(join.level) if isinstance(leaf, Leaf) else ():
            prefix = f"{group.path}." if group.path else ""
            # True (reached) or False -> the outermost such part with one port
            end_by_reached: dict[bool, str] = {}
            for path, stops in sorted(self.fabric.ports.items(), key=lambda port: len(port[0])):
                if path.startswith(prefix) and path != group.path and len(stops) == 1:
                    end_by_reached.setdefault(stops[0] in reached, path.removeprefix(prefix))
            if len(end_by_reached) == 2 and isinstance(leaf, Leaf):
                return {"links": [*leaf.value, [end_by_reached[True], end_by_reached[False]]]}
        return {}

    def build(self, group: TreeGroup) -> list[Port]:
        """Builds a group's join, and all joins below it. Returns the group's ports; without a join,
        these are the ports of its children.
        """
        if group.level == "core":
            return [Port(group, None)]
        inner = [self.build(child) for child in group.children]
        join = self.joins.get((group.level, self.levels.kind(group)))
        if join is None:
            ports = [port for child in inner for port in child]
        else:
            sites = self.sites[group.path] = build_join(join, self.fabric, group)
            for stop, child in zip(sites.members, inner, strict=True):
                for port in child:
                    self.attach(port, sites.hubs or (stop,), sites, join.level)
            uplinks = sites.hubs or (sites.uplink,)
            ports = [Port(group, hub, plane, len(uplinks)) for plane, hub in enumerate(uplinks)]
        if group.path:
            self.fabric.ports[group.path] = [p.stop for p in ports if p.stop is not None]
        return ports

    def attach(self, port: Port, stops: Sequence[int], sites: Sites, level: str) -> None:
        """Links a port to the join's stops. A core is placed at the join's stop instead, if the
        link would cost nothing.
        """
        port_stop = port.stop
        if port_stop is None:
            free = sites.enter.is_free and sites.leave.is_free and len(stops) == 1
            port_stop = stops[0] if free else self.fabric.stop(port.group.path)
            self.cores[port.group.index] = port_stop
        for hub, stop in enumerate(stops):
            if port_stop != stop and port.meets(hub, len(stops)):
                self.fabric.link(port_stop, stop, sites.enter, level)
                self.fabric.link(stop, port_stop, sites.leave, level)


def read_memories(
    top: Table, fabric: Fabric, tree: Tree, agent_stops: AgentStops
) -> tuple[list[Memory], list[int]]:
    """Returns the memory nodes, the default kind first, and the stops of their homes."""
    nodes: list[tuple[Memory, int]] = []
    for kind in ("", *memory_kinds(top.level("memory").branch)):
        nodes += _read_memory_kind(top.level("memory", kind), kind, fabric, tree, agent_stops)
    return [memory for memory, _ in nodes], [port for _, port in nodes]


def _read_memory_kind(
    table: Table, kind: str, fabric: Fabric, tree: Tree, agent_stops: AgentStops
) -> list[tuple[Memory, int]]:
    level = table.word("node", tree.levels[:-1])
    pattern = table.part(
        Memory,
        stop=0,
        kind=kind,
        busy=_busy(table, table.rate("bandwidth")),
        **_cache(table.table("cache")),
    )
    link = ps(table.duration("link", Fraction(0)))
    min_size_kib = (PROGRAM_BYTES + STACK_BYTES * sum(tree.threads)) >> 10
    if pattern.size % 4096 or pattern.size >> 10 < min_size_kib:
        raise table.wrong(
            "size",
            f"'{table.name('size')} = {table.text('size')}': expected a multiple of 4KiB, like"
            f" 1GiB, of at least {min_size_kib}KiB: a program, and a stack for each hart",
        )
    groups = tree.groups(level)
    if "groups" in table:
        groups = [groups[i] for i in table.read("groups", lambda text: _indices(text, len(groups)))]
    nodes = []
    for group in groups:
        stop = agent_stops.memory(group)
        if stop is None:
            leaf = table.leaf("node")
            assert isinstance(leaf, Leaf)
            raise lacking(
                leaf.place,
                f"'memory.node = {level}': {group.path or 'the system'} has no one stop to put"
                " memory at; expected a level with a join",
                {f"{level}.join": EXAMPLE_JOIN},
            )
        memory_stop = fabric.stop(path_of_stop(group, kind)) if link else stop
        if link:
            fabric.wire(stop, memory_stop, Cost(link, link), level)
        nodes.append((replace(pattern, stop=memory_stop), stop))
    return nodes


def _cache(table: Table | None) -> dict[str, int]:
    """Returns the fields that describe a node's memory-side cache."""
    if table is None or table.text("size") == "none":
        return {}
    sets, ways = sets_and_ways(table)
    rate = table.rate("bandwidth", None)
    return {
        "cache_sets": sets,
        "cache_ways": ways,
        "cache_hit": ps(table.duration("latency")),
        "cache_busy": _busy(table, rate) if rate else 0,
    }


def _busy(table: Table, rate: Fraction) -> int:
    """Returns the time in ps for which a line occupies a channel of that rate."""
    return ps(table.key_record.line / rate)


def _indices(text: str, below: int) -> list[int]:
    """Parses `groups = "0 2"`: the groups of the level that have memory, in the order of the
    nodes.
    """
    words = text.split()
    if not words or not all(w.isdecimal() and len(w) < 6 and int(w) < below for w in words):
        raise UnitError(f'expected indices from 0 to {below - 1}, like "0 2"')
    if len(set(words)) < len(words):
        raise UnitError("expected each index once")
    return [int(word) for word in words]

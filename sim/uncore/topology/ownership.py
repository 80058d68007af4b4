"""Makes the resolvers of all levels, with their children, parents and stops.

The topmost level with a resolver is the root level. The key `at` states a resolver's position: the
"slices" of its level's join, or its "hub" (in joins other than bus and crossbar, the stop of the
uplink). At the root it may also be "home", which means one resolver for each memory node, at the
memory's stop. Resolvers are numbered from the innermost level to the root; their agent numbers
follow those of the cores (`machine.py`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from uncore.topology import units
from uncore.topology.builders import Sites
from uncore.topology.core import sets_and_ways
from uncore.topology.incomplete import EXAMPLE_DATA, EXAMPLE_JOIN, EXAMPLE_ROOT, lacking
from uncore.topology.kinds import LevelTables
from uncore.topology.parts import MAX_CONSECUTIVE_GRANTS, Resolver
from uncore.topology.protocols import Protocol
from uncore.topology.table_reader import Table
from uncore.topology.tree import TreeGroup
from uncore.topology.units import ps


@dataclass
class AgentStops:
    """The stops of cores (`cores`), joins (`sites`) and groups (`ports`)."""

    cores: list[int]
    sites: dict[str, Sites]
    ports: dict[str, list[int]]

    def memory(self, group: TreeGroup) -> int | None:
        """Returns the stop of a group's memory port, or the group's only stop if it has no join.

        Returns None if the group has no join and several stops.
        """
        if group.path in self.sites:
            return self.sites[group.path].memory
        if group.level == "core":
            return self.cores[group.index]
        ports = self.ports.get(group.path, []) if group.path else sorted(set(self.cores))
        return ports[0] if len(ports) == 1 else None


def read_resolvers(
    levels: LevelTables, agent_stops: AgentStops, homes: Sequence[int], protocol: Protocol
) -> list[Resolver]:
    resolvers: list[Resolver] = []
    cores = len(agent_stops.cores)
    # core -> the outermost agents above it that have been made so far
    agents_over = {core: [core] for core in range(cores)}
    readers = _readers(levels, protocol)
    if not readers:
        raise lacking(
            levels.tables["system"][""].branch.place,
            "no level has a resolver; expected at least one, like [system.resolver]",
            {"system.resolver": EXAMPLE_ROOT},
        )
    for level, kinds in readers.items():
        instances = [
            instance
            for kind, reader in kinds.items()
            for instance in reader.instances(
                levels.of(level, kind), agent_stops, homes, agents_over
            )
        ]
        first = cores + len(resolvers)
        instances.sort(key=lambda instance: instance[1].index)
        for offset, (resolver, group) in enumerate(instances):
            resolvers.append(resolver)
            _add_parent_to_children(resolvers, resolver, first + offset, cores)
            for core in group.cores() if resolver.memory < 0 else ():
                agents_over[core.index] = [first + offset]
    return resolvers


def _readers(levels: LevelTables, protocol: Protocol) -> dict[str, dict[str, _ResolverReader]]:
    """Returns, for each level that has resolvers, innermost first, a reader of each kind."""
    inner_first = [level for level in reversed(list(levels.tables)) if level != "core"]
    tables = {
        level: {
            kind: resolver
            for kind, t in levels.tables[level].items()
            if (resolver := t.table("resolver"))
        }
        for level in inner_first
    }
    levels_with_resolver = [level for level in inner_first if tables[level]]
    readers: dict[str, dict[str, _ResolverReader]] = {level: {} for level in levels_with_resolver}
    for level in inner_first:
        for kind, table in levels.tables[level].items():
            resolver = tables[level].get(kind)
            if resolver is None:
                _refuse_data_alone(table)
                continue
            readers[level][kind] = _reader(
                table, resolver, level == levels_with_resolver[-1], protocol
            )
    if levels_with_resolver:
        _refuse_many_roots(levels, levels_with_resolver[-1], readers[levels_with_resolver[-1]])
    return readers


def _reader(level: Table, resolver: Table, is_root: bool, protocol: Protocol) -> _ResolverReader:
    reader = _ResolverReader(level, resolver, is_root)
    _refuse_what_cannot_work(resolver, reader.pattern, is_root)
    if reader.pattern.data == "none" and not is_root and not protocol.keeps_dirty:
        _refuse_dirty_data_without_place(level, resolver, protocol.name)
    _refuse_what_contradicts(resolver, reader.pattern)
    return reader


def _refuse_many_roots(
    levels: LevelTables, level: str, readers: Mapping[str, _ResolverReader]
) -> None:
    """Refuses a machine whose root level has several resolvers, unless there is one for each memory
    node.
    """
    groups = levels.tree.groups(level)
    kinds = {levels.kind(group) for group in groups}
    homes = {reader.at for reader in readers.values()} == {"home"}
    if kinds == set(readers) and len(kinds) == 1 and (homes or len(groups) == 1):
        return
    table = next(iter(readers.values())).table
    raise lacking(
        table.branch.place,
        f"[{table.key}]: each {level} would own its copies of a line, and no resolver above them"
        " keeps the copies of all coherent; write [system.resolver], one for all parts of the"
        " machine, too",
        {"system.resolver": EXAMPLE_ROOT},
    )


def refuse_far_without_data(
    core: Table, resolvers: Sequence[Resolver], cores: Collection[int]
) -> None:
    """Refuses far atomics if the resolver above the cores has no data to execute them on (rule
    C8).
    """
    for resolver in resolvers:
        if (
            resolver.parents
            and resolver.data == "none"
            and not set(cores).isdisjoint(resolver.children)
        ):
            raise core.wrong(
                "atomics",
                f"'{core.key}.atomics = {core.text('atomics')}': [{resolver.level}.resolver] has no"
                f" data to do them on; write 'near', or data = \"victim ...\" in"
                f" [{resolver.level}]",
            )


def _refuse_data_alone(level: Table) -> None:
    if level.table("data"):
        raise lacking(
            level.branch.items["data"].place,
            f"[{level.key}] has data but no resolver; expected [{level.key}.resolver] too",
            {f"{level.key}.resolver": {**EXAMPLE_ROOT, "knows": "shadow-tags", "at": "hub"}},
        )


def _refuse_what_cannot_work(table: Table, resolver: Resolver, is_root: bool) -> None:
    """Refuses a resolver that breaks rules R3 and J1 of docs/model.md."""
    if resolver.knows == "snoop" and not is_root:
        raise lacking(
            table.branch.items["knows"].place,
            f"'{table.key}.knows = snoop': only the topmost resolver may know nothing;"
            " expected 'shadow-tags'",
            {table.key: {"knows": "shadow-tags"}},
        )
    if resolver.knows == "snoop" and resolver.unblock != "completion":
        raise lacking(
            table.branch.items["unblock"].place,
            f"'{table.key}.unblock = {resolver.unblock}': who knows nothing must be told when"
            " a grant has arrived; expected 'completion'",
            {table.key: {"unblock": "completion"}},
        )


def _refuse_dirty_data_without_place(level: Table, table: Table, protocol: str) -> None:
    """Refuses a join without data under a protocol without O, because it would have to store dirty
    lines.
    """
    table_of_key, key = (level, "data") if "data" in level else (table, "knows")
    raise lacking(
        table_of_key.branch.items[key].place,
        f"[{table.key}], below another resolver, has no data, but under {protocol.upper()} must"
        f' keep dirty lines; expected data = "victim ..." or "inclusive ..." in [{level.key}], or'
        ' protocol = "moesi"',
        {f"{level.key}.data": EXAMPLE_DATA},
    )


def _refuse_what_contradicts(table: Table, resolver: Resolver) -> None:
    """Refuses keys of a directory in other resolvers, and a number of entries that is not a
    multiple of the ways.
    """
    for key in ("entries", "ways", "pointers", "overflow"):
        if key in table and resolver.knows not in ("directory", "inclusive"):
            raise table.wrong(
                key,
                f"'{table.key}.{key}': {resolver.knows} has no entries; delete it,"
                " or write knows = 'directory'",
            )
    _refuse_overflow(table, resolver)
    if resolver.knows == "inclusive" and resolver.data != "inclusive":
        raise table.wrong(
            "knows",
            f"'{table.key}.knows = inclusive': the tags of the data beside it are to know every"
            f" copy, but data = {resolver.data}; write data = 'inclusive ...', or"
            " knows = 'directory'",
        )
    if max(resolver.entries, resolver.ways) and (
        not resolver.ways or resolver.entries % resolver.ways or not resolver.entries
    ):
        raise table.wrong(
            "entries",
            f"'{table.key}': {resolver.entries} entries in {resolver.ways} ways are no whole number"
            " of sets; write entries and ways, such as entries = 4096, ways = 16",
        )


def _refuse_overflow(table: Table, resolver: Resolver) -> None:
    """Refuses fewer pointers than `overflow` needs. `evict` needs two, because a read can leave a
    line with two sharers, the former owner and the reader.
    """
    needed = {"broadcast": 0, "coarse": 1, "evict": 2}[resolver.overflow]
    if resolver.pointers < needed:
        raise table.wrong(
            "overflow",
            f"'{table.key}.overflow = {resolver.overflow}' with"
            f" {resolver.pointers or 'a pointer for every child'}: expected at least"
            f" {needed} pointers; write pointers = 4, or delete overflow",
        )


def _grants(table: Table) -> tuple[int, int]:
    """Returns the limit of children's requests that are served before a waiting probe (J3), as a
    number of requests and a time in ps, one of which is 0.
    """

    def either(text: str) -> tuple[int, int]:
        if not text[:1].isdigit():
            raise units.UnitError(
                f"expected 1 to {MAX_CONSECUTIVE_GRANTS} requests, or a time like '1us'"
            )
        if text.isdecimal():
            return units.count(text, 1, MAX_CONSECUTIVE_GRANTS), 0
        return 0, ps(units.duration(text, table.period))

    return table.number("grants", either)


def _add_parent_to_children(
    resolvers_: list[Resolver], parent: Resolver, agent: int, cores: int
) -> None:
    for child in parent.children:
        if child >= cores:
            child_resolver = resolvers_[child - cores]
            resolvers_[child - cores] = replace(
                child_resolver, parents=(*child_resolver.parents, agent)
            )


def _data(level: Table) -> dict[str, Any]:
    """Returns the fields of a resolver that describe the data at its level."""
    data = level.table("data")
    if not data or data.word("policy") == "none":
        return {"data": "none", "data_sets": 0, "data_ways": 0, "data_hit": 0, "data_repeat": 0}
    sets, ways = sets_and_ways(data)
    return {
        "data": data.word("policy"),
        "data_sets": sets,
        "data_ways": ways,
        "data_hit": ps(data.duration("latency")),
        "data_repeat": ps(data.duration("repeat")),
    }


class _ResolverReader:
    """Reads the resolver and the data of one level.

    Both are read once; the instances differ only in their stops, children and parents.
    """

    def __init__(self, level: Table, table: Table, is_root: bool) -> None:
        self.level, self.table = level, table
        data = _data(level)
        self.at = table.word("at")
        if self.at == "home" and not is_root:
            raise table.wrong(
                "at", f"'{table.key}.at = home': only the topmost resolver is; expected 'slices'"
            )
        knows = table.word("knows")
        lines = data["data_sets"] * data["data_ways"] if knows == "inclusive" else 0
        grants, grants_until = _grants(table)
        self.count = table.count("slices", 0)
        self.pattern = table.part(
            Resolver,
            name="",
            level=level.key.partition(".")[0],
            knows=knows,
            children=(),
            parents=(),
            slices=(),
            grants=grants,
            grants_until=grants_until,
            entries=table.count("entries", lines),
            ways=table.count("ways", data["data_ways"] if lines else 0),
            pointers=table.count("pointers", 0),
            overflow=table.word("overflow"),
            memory=-1,
            **data,
        )
        if self.pattern.lookup and (self.at != "home" or knows != "directory"):
            raise table.wrong(
                "lookup",
                f"'{table.key}.lookup': only a directory at home stands in memory; expected"
                ' knows = "directory" and at = "home", or no lookup',
            )

    def instances(
        self,
        groups: list[TreeGroup],
        agent_stops: AgentStops,
        homes: Sequence[int],
        below: dict[int, list[int]],
    ) -> list[tuple[Resolver, TreeGroup]]:
        if self.at == "home":
            agents = _agents(below, [core for group in groups for core in group.cores()])
            return [
                (
                    replace(
                        self.pattern,
                        name=f"home{node}",
                        children=agents,
                        slices=(stop,) * (self.count or 1),
                        memory=node,
                        near=_agents_near(stop, groups, agent_stops, below)
                        if self.pattern.lookup
                        else (),
                    ),
                    groups[0],
                )
                for node, stop in enumerate(homes)
            ]
        return [
            (
                replace(
                    self.pattern,
                    name=f"{group.level}{group.index}",
                    children=_agents(below, group.cores()),
                    slices=self.slices(group, agent_stops),
                ),
                group,
            )
            for group in groups
        ]

    def slices(self, group: TreeGroup, agent_stops: AgentStops) -> tuple[int, ...]:
        sites = agent_stops.sites.get(group.path)
        if sites is None:
            raise lacking(
                self.table.branch.place,
                f"[{self.level.key}] has a resolver but no join for it to stand at; write one",
                {f"{self.level.key}.join": EXAMPLE_JOIN},
            )
        if self.at == "hub":
            return (sites.hub,) * (self.count or 1)
        stops = sites.slices
        return tuple(stops[i % len(stops)] for i in range(self.count or len(stops)))


def _agents_near(
    stop: int, groups: list[TreeGroup], agent_stops: AgentStops, below: dict[int, list[int]]
) -> tuple[int, ...]:
    """Returns the outermost agents of the part whose memory is at this stop."""
    parts = (part for group in groups for part in group.groups() if part is not group)
    part = next((part for part in parts if agent_stops.memory(part) == stop), groups[0])
    return _agents(below, part.cores())


def _agents(below: dict[int, list[int]], cores: list[TreeGroup]) -> tuple[int, ...]:
    """Returns the outermost agents above these cores that have been made so far, each once, in
    order.
    """
    return tuple(dict.fromkeys(agent for core in cores for agent in below[core.index]))

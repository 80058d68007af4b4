"""Describes a computer's processors as the tree of a machine file, and numbers them as harts.

    lay_out(computer, needs) -> ComputerLayout

The levels are parts that processors share (`cpu_levels.py`): sockets; dies, if a package has
several dies or several memory nodes; complexes (`ccx`), if there are several third-level caches;
clusters, if cores share a second-level cache; and further memory nodes and groups.

If a core lacks a sibling because it is offline, the tree has a hart for it without a processor.
Cores whose own caches differ are of different kinds; the kind with the largest caches has no name.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from math import prod

from uncore.host.computer import Cache, Computer, Kind, Node, ranges
from uncore_lab.measure.cpu_levels import find

Key = tuple[int, ...]  # the number of a core's group at each level of the tree
Placed = tuple[Key, tuple[int, ...]]  # a core's place in the tree, and its processors


@dataclass(frozen=True)
class SharedCaches:
    """Shared caches of one size and shape, and the parts that have them."""

    level: str
    kind: str  # kind of the parts that have it; "" for all or most parts
    where: str
    cache: Cache

    @property
    def table(self) -> str:
        return f"{self.level}.{self.kind}" if self.kind else self.level


@dataclass(frozen=True)
class ComputerLayout:
    levels: tuple[str, ...]  # outermost first, "core" last
    tree: str
    cpus: str  # formula in `i`, or a list: the hart of the i-th online processor
    cores: tuple[Placed, ...]
    node: str  # level whose groups are the memory nodes
    nodeless: tuple[int, ...]  # groups of that level without memory of their own
    notes: tuple[str, ...]
    # name, cores and caches of each kind of cores; the name of the first kind is empty
    kinds: tuple[tuple[str, str, Kind], ...]
    second: tuple[SharedCaches, ...]  # second-level caches that several cores share
    last: tuple[SharedCaches, ...]  # third-level caches

    @property
    def shared(self) -> str:
        """The level whose parts share the last cache; the innermost level above the cores, if no
        cache is shared.
        """
        if self.last:
            return self.last[0].level
        clusters = {cache.level for cache in self.second} if len(self.levels) > 2 else set()
        return [level for level in self.levels if level not in ("core", *clusters)][-1]

    @property
    def outside(self) -> tuple[str, ...]:
        """The levels outside of `shared`, innermost first, with the system as the last."""
        return (*reversed(self.levels[: self.levels.index(self.shared)]), "system")

    def max_members(self, level: str) -> int:
        """Returns the largest number of members of a group of this level. The members of "system"
        are the sockets.
        """
        depth = 0 if level == "system" else self.levels.index(level) + 1
        members = {key[: depth + 1] for key, _ in self.cores}
        return max(
            sum(m[:depth] == parent for m in members) for parent in {m[:depth] for m in members}
        )


def lay_out(computer: Computer, needs: Collection[str] = ()) -> ComputerLayout:
    cpu_levels = find(computer, needs)
    places = sorted(
        (tuple(parts[core] for parts in cpu_levels.parts), core) for core in cpu_levels.parts[0]
    )
    cores = tuple(_renumbered(places))
    levels = (*cpu_levels.names, "core")
    kinds = computer.kinds()
    threads = _threads(computer, kinds, cores)
    harts = _harts(computer, cores, threads)
    counts = [*_counts(cores, len(cpu_levels.names)), threads]
    node, nodeless, notes = _nodes(computer, levels, cores)
    second, last = (
        list(_shared_caches(computer, levels, cores, level, number))
        for level, number in ((cpu_levels.second, 2), (cpu_levels.last, 3))
    )
    parts_with_cache_kinds = {
        part for cache in (*second, *last) for part in cache.where.split() if cache.kind
    }
    named_kinds = list(_named_kinds(kinds, levels, cores, parts_with_cache_kinds))
    return ComputerLayout(
        levels=levels,
        tree=" ".join(
            f"{n}:{_counts_text(c)}" for n, c in zip((*levels, "thread"), counts, strict=True)
        ),
        cpus=expression(harts, [c[0] for c in counts if len(set(c)) == 1]),
        cores=cores,
        node=node,
        nodeless=nodeless,
        notes=(*cpu_levels.notes, *notes),
        kinds=tuple(named_kinds),
        second=tuple(_named_after_cores(cache, named_kinds) for cache in second),
        last=tuple(_named_after_cores(cache, named_kinds) for cache in last),
    )


def _renumbered(
    places: Sequence[Placed],
) -> Iterator[Placed]:
    """Numbers each group from 0 within its parent, because the operating system's numbers have
    gaps.
    """
    for key, core in places:
        renumbered_key = []
        for depth in range(len(key)):
            peers = sorted({k[depth] for k, _ in places if k[:depth] == key[:depth]})
            renumbered_key.append(peers.index(key[depth]))
        siblings = [c for k, c in places if k == key]
        yield (*renumbered_key, siblings.index(core)), core


def _threads(computer: Computer, kinds: Sequence[Kind], cores: Sequence[Placed]) -> list[int]:
    """Returns the number of hardware threads of each core, offline siblings included."""
    threads_of = {core: max(map(len, kind.cores)) for kind in kinds for core in kind.cores}
    return [threads_of[core] if computer.offline else len(core) for _, core in cores]


def _named_kinds(
    kinds: Sequence[Kind],
    levels: Sequence[str],
    cores: Sequence[Placed],
    parts_with_cache_kinds: Collection[str],
) -> Iterator[tuple[str, str, Kind]]:
    """Yields the name, the cores (paths of parts, as text) and the Kind of each kind of cores. The
    first kind is the default, so its name and its cores are empty. `parts_with_cache_kinds` are the
    parts that already have a kind because of their shared caches.
    """
    yield "", "", kinds[0]
    used: list[str] = []
    for kind in kinds[1:]:
        name = "small" if kind.size < kinds[0].size else "other"
        used.append(name)
        number = str(used.count(name)) if used.count(name) > 1 else ""
        where = list(_paths_of_kind(kind, levels, cores))
        # A part has a single kind, so a kind that covers only some of these parts is not possible.
        if set(where) & set(parts_with_cache_kinds) and set(where) != set(parts_with_cache_kinds):
            where = list(_runs(levels, [key for key, core in cores if core in kind.cores]))
        yield name + number, " ".join(where), kind


def _shared_caches(
    computer: Computer, levels: Sequence[str], cores: Sequence[Placed], level: str, number: int
) -> Iterator[SharedCaches]:
    """Yields the shared caches of a level's parts, beginning with the most frequent size."""
    if not level:
        return
    depth, caches = levels.index(level) + 1, computer.shared(number)
    by_size: dict[tuple[int, int], list[tuple[Key, Cache]]] = {}
    parts = {key[:depth]: core for key, core in reversed(cores)}
    for key, core in sorted(parts.items()):
        cache = caches.get(core[0])
        if cache and (number > 2 or set(cache.cpus) - set(core)):
            by_size.setdefault((cache.size, cache.ways), []).append((key, cache))
    lacking = sum(map(len, by_size.values())) < len(parts)
    for rank, kind in enumerate(sorted(by_size, key=lambda kind: -len(by_size[kind]))):
        where = " ".join(_path(levels, key) for key, _ in by_size[kind])
        name = f"l{number}-{kind[0] >> 10}KiB-{kind[1]}" if rank or lacking else ""
        yield SharedCaches(level, name, where, by_size[kind][0][1])


def _named_after_cores(cache: SharedCaches, kinds: Sequence[tuple[str, str, Kind]]) -> SharedCaches:
    """Names the cache after the kind of cores in the same parts, if there is one."""
    names = [name for name, where, _ in kinds if where == cache.where and name]
    return replace(cache, kind=names[0]) if cache.kind and names else cache


def _runs(levels: Sequence[str], keys: Sequence[Key]) -> Iterator[str]:
    """Yields the paths of the cores as text; consecutive cores of a part become a range."""
    runs: list[list[Key]] = []
    for key in keys:
        if runs and runs[-1][-1] == (*key[:-1], key[-1] - 1):
            runs[-1].append(key)
        else:
            runs.append([key])
    for run in runs:
        yield _path(levels, run[0]) + (f"-{run[-1][-1]}" if len(run) > 1 else "")


def _path(levels: Sequence[str], key: Key) -> str:
    return ".".join(f"{level}{n}" for level, n in zip(levels, key, strict=False))


def _paths_of_kind(kind: Kind, levels: Sequence[str], cores: Sequence[Placed]) -> Iterator[str]:
    """Yields the paths of the cores of a kind: one path for each group that consists of such cores
    only, otherwise one path for each run of cores.
    """
    groups: dict[Key, list[Placed]] = {}
    for key, core in cores:
        groups.setdefault(key[:-1], []).append((key, core))
    for group, members in groups.items():
        cores_of_kind = [key for key, core in members if core in kind.cores]
        if len(cores_of_kind) == len(members):
            yield _path(levels, group)
        else:
            yield from _runs(levels, cores_of_kind)


def _harts(computer: Computer, cores: Sequence[Placed], threads: Sequence[int]) -> list[int | None]:
    hart_of: dict[int, int] = {}
    first = 0
    for (_, core), thread_count in zip(cores, threads, strict=True):
        hart_of |= {cpu: first + i for i, cpu in enumerate(core)}
        first += thread_count
    return [hart_of.get(number) for number in computer.numbers]


def _counts(cores: Sequence[Placed], depths: int) -> Iterator[list[int]]:
    """Yields for each level the number of members that each group of the next outer level has."""
    for depth in range(depths + 1):
        parents = dict.fromkeys(key[:depth] for key, _ in cores)
        members = {key[: depth + 1] for key, _ in cores}
        yield [sum(m[:depth] == parent for m in members) for parent in parents]


def _counts_text(counts: list[int]) -> str:
    return str(counts[0]) if len(set(counts)) == 1 else ",".join(map(str, counts))


def _nodes(
    computer: Computer, levels: Sequence[str], cores: Sequence[Placed]
) -> tuple[str, tuple[int, ...], list[str]]:
    """Returns the level whose groups are the memory nodes, the groups without memory, and notes."""
    alone = [node for node in computer.nodes if not node.cpus and node.memory]
    notes = [
        f"memory node {node.number} has no processors: left out, for a machine file's nodes belong"
        " to a level"
        for node in alone
    ]
    with_cpus = [node for node in computer.nodes if node.cpus]
    untold = not any(node.memory for node in computer.nodes)
    if untold and len(computer.nodes) > 1:
        notes.append("the sizes of memory nodes are not told: each has the usual one")
    parts = {frozenset(node.cpus) for node in with_cpus}
    for depth, level in enumerate(levels[:-1], start=1):
        groups = list(dict.fromkeys(key[:depth] for key, _ in cores))
        of_group = [_cpus(cores, group) for group in groups]
        if parts and parts <= set(of_group):
            poor = {frozenset(n.cpus) for n in with_cpus if not n.memory and not untold}
            # if the computer reports no memory in any part, each part may have some
            rich = (parts - poor) or parts
            return level, tuple(i for i, cpus in enumerate(of_group) if cpus not in rich), notes
    if len(with_cpus) > 1:
        notes.append(f"{_node_note(with_cpus)} match no level: described as one memory")
    return ("system" if len({key[0] for key, _ in cores}) > 1 else levels[0]), (), notes


def _cpus(cores: Sequence[Placed], group: Key) -> frozenset[int]:
    return frozenset(cpu for key, core in cores if key[: len(group)] == group for cpu in core)


def _node_note(nodes: Sequence[Node]) -> str:
    return ", ".join(f"node {node.number} (processors {ranges(node.cpus)})" for node in nodes)


# ---- From the operating system's numbers to harts ------------------------------------------------


def expression(harts: Sequence[int | None], sizes: Sequence[int]) -> str:
    """Writes the harts as an expression of i, if the numbers count through the levels in some
    order; otherwise as a list.

    Some systems number all first threads before all second ones; others go socket by socket, or
    alternate between sockets.  In all these orders, the digits of the hart, in the mixed radix of
    the levels' sizes, are the digits of i in another order.
    """
    if harts == list(range(len(harts))):
        return "i"
    sizes_above_1 = [size for size in sizes if size > 1]
    if prod(sizes_above_1) == len(harts):
        for order in permutations(range(len(sizes_above_1))):
            terms = list(_digits(order, sizes_above_1))
            if all(
                sum(i // s % n * w for s, n, w in terms) == hart for i, hart in enumerate(harts)
            ):
                return " + ".join(_term(*term, len(harts)) for term in terms)
    return " ".join("-" if hart is None else str(hart) for hart in harts)


def _digits(order: Sequence[int], sizes: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    """Yields (stride, size, weight) for each run of levels that are neighbours both in the machine
    and in `order`. `order` lists the levels as the operating system counts, beginning with the one
    that changes slowest.
    """
    begin = 0
    while begin < len(order):
        end = begin + 1
        while end < len(order) and order[end] == order[end - 1] + 1:
            end += 1
        stride = prod(sizes[level] for level in order[end:])
        size = prod(sizes[level] for level in order[begin:end])
        yield stride, size, prod(sizes[order[end - 1] + 1 :])
        begin = end


def _term(stride: int, size: int, weight: int, harts: int) -> str:
    text = f"i//{stride}" if stride > 1 else "i"
    if stride * size < harts:
        text += f"%{size}"
    return text if weight == 1 else f"({text})*{weight}"

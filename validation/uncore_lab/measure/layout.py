"""A computer's processors as the tree of a machine file, and their numbers as harts.

    lay_out(computer, needs) -> Layout

Levels are what the processors really share: sockets; dies, where a package has several or is
several memory nodes; complexes (`ccx`), where there are several third-level caches; clusters, where
several cores share a second-level cache.  A level that divides nothing is left out,
unless a family `needs` it.

A core that lacks a sibling because it is offline keeps the hart, without a processor.  Cores whose
own caches differ are of different kinds; the largest have no name.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations
from math import prod

from uncore.host.computer import Computer, Kind, Node, ranges

Key = tuple[int, ...]  # a core's place in the tree, level by level
Placed = tuple[Key, tuple[int, ...]]  # and its processors


@dataclass(frozen=True)
class Layout:
    levels: tuple[str, ...]  # outermost first, "core" last
    tree: str
    cpus: str  # from the i-th processor that is online to its hart
    cores: tuple[Placed, ...]
    node: str  # the level a memory node belongs to
    nodeless: tuple[int, ...]  # groups of that level without memory of their own
    notes: tuple[str, ...]
    kinds: tuple[tuple[str, str, Kind], ...]  # name, where, and what; the first has neither

    @property
    def shared(self) -> str:
        """The level of the cache that several cores share last: an L3's."""
        return [level for level in self.levels if level not in ("core", "cluster")][-1]

    def most(self, level: str) -> int:
        """The most members that a group of this level has; "system" has the sockets."""
        depth = 0 if level == "system" else self.levels.index(level) + 1
        members = {key[: depth + 1] for key, _ in self.cores}
        return max(
            sum(m[:depth] == parent for m in members) for parent in {m[:depth] for m in members}
        )


def lay_out(computer: Computer, needs: Collection[str] = ()) -> Layout:
    keys = {core: _full_key(computer, core) for core in computer.cores()}
    named = ("socket", "die", "ccx", "cluster")
    kept = [
        depth
        for depth, name in enumerate(named)
        if depth == 0 or name in needs or _divides(keys.values(), depth)
    ]
    places = sorted((tuple(key[d] for d in kept), core) for core, key in keys.items())
    cores = tuple(_renumbered(places))
    levels = (*(named[d] for d in kept), "core")
    kinds = computer.kinds()
    threads = _threads(computer, kinds, cores)
    harts = _harts(computer, cores, threads)
    counts = [*_counts(cores, len(kept)), threads]
    node, nodeless, notes = _nodes(computer, levels, cores)
    return Layout(
        levels=levels,
        tree=" ".join(f"{n}:{_count(c)}" for n, c in zip((*levels, "thread"), counts, strict=True)),
        cpus=expression(harts, [c[0] for c in counts if len(set(c)) == 1]),
        cores=cores,
        node=node,
        nodeless=nodeless,
        notes=tuple(notes),
        kinds=tuple(_named(kinds, levels, cores)),
    )


def _full_key(computer: Computer, core: tuple[int, ...]) -> Key:
    """Package, die (or memory node), third-level and second-level cache."""
    cpu = next(c for c in computer.cpus if c.number == core[0])
    part = computer.node_of().get(cpu.number, 0) if _nodes_divide(computer) else cpu.die
    own = [computer.shared(level).get(cpu.number) for level in (3, 2)]
    clustered = bool(own[1] and set(own[1].cpus) - set(core))
    last, second = (cache.cpus[0] if cache else -1 for cache in own)
    return cpu.package, part, last, second if clustered else -1


def _nodes_divide(computer: Computer) -> bool:
    """Whether a package is several memory nodes."""
    package = {cpu.number: cpu.package for cpu in computer.cpus}
    owners = [package[node.cpus[0]] for node in computer.nodes if node.cpus]
    return len(owners) > len(set(owners))


def _divides(keys: Collection[Key], depth: int) -> bool:
    return len({k[: depth + 1] for k in keys}) > len({k[:depth] for k in keys})


def _renumbered(
    places: Sequence[Placed],
) -> Iterator[Placed]:
    """The systems' own numbers have holes; a tree counts, each group within its parent."""
    for key, core in places:
        at = []
        for depth in range(len(key)):
            peers = sorted({k[depth] for k, _ in places if k[:depth] == key[:depth]})
            at.append(peers.index(key[depth]))
        siblings = [c for k, c in places if k == key]
        yield (*at, siblings.index(core)), core


def _threads(computer: Computer, kinds: Sequence[Kind], cores: Sequence[Placed]) -> list[int]:
    """Of each core; siblings that are offline count."""
    most = {core: max(map(len, kind.cores)) for kind in kinds for core in kind.cores}
    return [most[core] if computer.offline else len(core) for _, core in cores]


def _named(
    kinds: Sequence[Kind], levels: Sequence[str], cores: Sequence[Placed]
) -> Iterator[tuple[str, str, Kind]]:
    yield "", "", kinds[0]
    used: list[str] = []
    for kind in kinds[1:]:
        name = "small" if kind.size < kinds[0].size else "other"
        used.append(name)
        number = str(used.count(name)) if used.count(name) > 1 else ""
        yield name + number, " ".join(_where(kind, levels, cores)), kind


def _where(kind: Kind, levels: Sequence[str], cores: Sequence[Placed]) -> Iterator[str]:
    """Parts of the tree: whole groups of cores, or else the cores."""
    groups: dict[Key, list[Placed]] = {}
    for key, core in cores:
        groups.setdefault(key[:-1], []).append((key, core))
    for group, members in groups.items():
        mine = [key for key, core in members if core in kind.cores]
        for key in [group] if len(mine) == len(members) else mine:
            yield ".".join(f"{level}{n}" for level, n in zip(levels, key, strict=False))


def _harts(computer: Computer, cores: Sequence[Placed], threads: Sequence[int]) -> list[int | None]:
    at: dict[int, int] = {}
    first = 0
    for (_, core), many in zip(cores, threads, strict=True):
        at |= {cpu: first + i for i, cpu in enumerate(core)}
        first += many
    return [at.get(number) for number in computer.numbers]


def _counts(cores: Sequence[Placed], depths: int) -> Iterator[list[int]]:
    """Of each level, members a parent, parent by parent."""
    for depth in range(depths + 1):
        parents = dict.fromkeys(key[:depth] for key, _ in cores)
        members = {key[: depth + 1] for key, _ in cores}
        yield [sum(m[:depth] == parent for m in members) for parent in parents]


def _count(counts: list[int]) -> str:
    return str(counts[0]) if len(set(counts)) == 1 else ",".join(map(str, counts))


def _nodes(
    computer: Computer, levels: Sequence[str], cores: Sequence[Placed]
) -> tuple[str, tuple[int, ...], list[str]]:
    """The level whose groups are the memory nodes, and which of them have no memory."""
    alone = [node for node in computer.nodes if not node.cpus and node.memory]
    notes = [
        f"memory node {node.number} has no processors: left out, for a machine file's nodes belong"
        " to a level"
        for node in alone
    ]
    with_cpus = [node for node in computer.nodes if node.cpus]
    untold = not any(node.memory for node in computer.nodes)
    if untold:
        notes.append("the sizes of memory nodes are not told: each has the usual one")
    for depth, level in enumerate(levels[:-1], start=1):
        groups = list(dict.fromkeys(key[:depth] for key, _ in cores))
        if len(groups) == len(with_cpus):
            poor = {node.cpus[0] for node in with_cpus if not node.memory and not untold}
            owner = {cpu: groups.index(key[:depth]) for key, core in cores for cpu in core}
            return level, tuple(sorted(owner[cpu] for cpu in poor)), notes
    if len(with_cpus) > 1:
        notes.append(f"{_told(with_cpus)} match no level: described as one memory")
    return ("system" if computer_sockets(cores) > 1 else "socket"), (), notes


def computer_sockets(cores: Sequence[Placed]) -> int:
    return len({key[0] for key, _ in cores})


def _told(nodes: Sequence[Node]) -> str:
    return ", ".join(f"node {node.number} (processors {ranges(node.cpus)})" for node in nodes)


# ---- From the operating system's numbers to harts ------------------------------------------------


def expression(harts: Sequence[int | None], sizes: Sequence[int]) -> str:
    """An expression of i where the numbers follow the levels in some order; else the list itself.

    Systems count through the levels in one order or another: all first threads before all second
    ones, socket after socket or in turn.  So the hart's digits, in the mixed radix of the level's
    sizes, are the number's digits in another order.
    """
    if harts == list(range(len(harts))):
        return "i"
    real = [size for size in sizes if size > 1]
    if prod(real) == len(harts):
        for order in permutations(range(len(real))):
            terms = list(_digits(order, real))
            if all(
                sum(i // s % n * w for s, n, w in terms) == hart for i, hart in enumerate(harts)
            ):
                return " + ".join(_term(*term, len(harts)) for term in terms)
    return " ".join("-" if hart is None else str(hart) for hart in harts)


def _digits(order: Sequence[int], sizes: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    """(stride, size, weight) of each run of levels that follow one another in both orders; `order`
    is the system's, slowest first."""
    at = 0
    while at < len(order):
        end = at + 1
        while end < len(order) and order[end] == order[end - 1] + 1:
            end += 1
        stride = prod(sizes[level] for level in order[end:])
        size = prod(sizes[level] for level in order[at:end])
        yield stride, size, prod(sizes[order[end - 1] + 1 :])
        at = end


def _term(stride: int, size: int, weight: int, harts: int) -> str:
    text = f"i//{stride}" if stride > 1 else "i"
    if stride * size < harts:
        text += f"%{size}"
    return text if weight == 1 else f"({text})*{weight}"

"""Describes a real computer as its operating system sees it: processors, caches, memory nodes.

`sysfs.read` and `hwloc.read` make a `Computer`. `describe` makes a machine file from it, and the
measuring commands choose processors by it. Invariants: `cpus` are the processors that are online,
in ascending order of their numbers, which may have gaps; caches and nodes name only online
processors; every processor is in exactly one core.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Annotated, Any

from msgspec import Meta, Struct
from msgspec.structs import replace

from uncore.topology.schema import DEFAULT_LINE_BYTES, LINE_SIZES


class Cpu(Struct, frozen=True, forbid_unknown_fields=True):
    """One processor: a hardware thread."""

    number: Annotated[int, Meta(description="the operating system's")]
    package: Annotated[int, Meta(description="physical package: a socket")]
    die: Annotated[int, Meta(description="die within the package; 0 if unknown")]
    core: Annotated[
        tuple[int, ...], Meta(description="processors of the same core, including itself")
    ]
    mhz: Annotated[float, Meta(description="highest clock in MHz; 0 if unknown")] = 0


class Cache(Struct, frozen=True, forbid_unknown_fields=True):
    """A cache of data, or of data and instructions."""

    level: Annotated[int, Meta(description="1 is nearest to the core")]
    size: Annotated[int, Meta(description="bytes")]
    ways: Annotated[int, Meta(description="associativity; 0 if unknown")]
    cpus: Annotated[tuple[int, ...], Meta(description="processors that share it")]
    line: Annotated[int, Meta(description="size of a line in bytes; 0 if unknown")] = (
        DEFAULT_LINE_BYTES
    )


def of_one_line(caches: Iterable[Cache]) -> tuple[Cache, ...]:
    """Sorts caches from the innermost to the outermost, and gives all of them the line size of the
    innermost one, because a simulated machine has a single line size.
    """
    inner_first = sorted(caches, key=lambda cache: (cache.level, cache.cpus))
    line = next(
        (cache.line for cache in inner_first if cache.line in LINE_SIZES), DEFAULT_LINE_BYTES
    )
    return tuple(replace(cache, line=line) for cache in inner_first)


class Node(Struct, frozen=True, forbid_unknown_fields=True):
    """A memory node."""

    number: Annotated[int, Meta(description="the operating system's")]
    cpus: Annotated[
        tuple[int, ...],
        Meta(description="nearest processors; empty for a node that has only memory"),
    ]
    memory: Annotated[
        int, Meta(description="size of its memory in bytes; 0 for a node that has only processors")
    ]
    cache: Annotated[Cache | None, Meta(description="before its memory")] = None


class Group(Struct, frozen=True, forbid_unknown_fields=True):
    """Processors that form a group other than those of a cache, a node or a package."""

    name: Annotated[str, Meta(description="name of all groups of this kind")]
    cpus: Annotated[tuple[int, ...], Meta(description="its processors")]


class Distances(Struct, frozen=True, forbid_unknown_fields=True):
    """Latencies of reads from memory node to memory node."""

    nodes: Annotated[tuple[int, ...], Meta(description="their numbers")]
    values: Annotated[tuple[int, ...], Meta(description="row by row")]
    ns: Annotated[
        bool, Meta(description="true: values are in ns; false: in tenths of a node's own latency")
    ]


class Kind(Struct, frozen=True):
    """Cores with equal clocks and caches."""

    cores: tuple[tuple[int, ...], ...]
    mhz: float
    l1: Cache | None
    l2: Cache | None
    shares: bool  # True if the second-level cache is shared with other cores

    @property
    def size(self) -> tuple[float, int]:
        return self.mhz, self.l1.size if self.l1 else 0


class Computer(Struct, frozen=True, forbid_unknown_fields=True):
    """A computer as its operating system, or hwloc, describes it."""

    vendor: Annotated[str, Meta(description='as CPUID reports it: "AuthenticAMD", "GenuineIntel"')]
    family: Annotated[int, Meta(description="as CPUID reports it")]
    model: Annotated[int, Meta(description="as CPUID reports it")]
    name: Annotated[str, Meta(description="of the processor")]
    mhz: Annotated[float, Meta(description="a clock in MHz; 0 if none is known")]
    clock: Annotated[str, Meta(description="description of that clock")]
    cpus: Annotated[tuple[Cpu, ...], Meta(description="processors, in ascending order")]
    offline: Annotated[tuple[int, ...], Meta(description="processors that are present but off")]
    caches: Annotated[tuple[Cache, ...], Meta(description="each once")]
    nodes: Annotated[tuple[Node, ...], Meta(description="memory nodes")]
    source: Annotated[str, Meta(description="who described it")]
    groups: Annotated[tuple[Group, ...], Meta(description="other parts")] = ()
    distances: Annotated[Distances | None, Meta(description="between memory nodes")] = None
    notes: Annotated[
        tuple[str, ...], Meta(description="sentences about facts that are missing here")
    ] = ()

    @property
    def line(self) -> int:
        return self.caches[0].line if self.caches else DEFAULT_LINE_BYTES

    @property
    def numbers(self) -> list[int]:
        return [cpu.number for cpu in self.cpus]

    def cores(self) -> list[tuple[int, ...]]:
        return sorted({cpu.core for cpu in self.cpus})

    def kinds(self) -> list[Kind]:
        """Returns the kinds of cores, the largest first: by clock, then by first-level cache."""
        cores_by_kind: dict[Any, list[tuple[int, ...]]] = {}
        caches, mhz = [self.shared(level) for level in (1, 2)], self.clocks()
        for core in self.cores():
            l1, l2 = (cache.get(core[0]) for cache in caches)
            shares = bool(l2 and set(l2.cpus) - set(core))
            sizes = tuple((c.size, c.ways) if c else () for c in (l1, None if shares else l2))
            cores_by_kind.setdefault((sizes, shares, mhz[core[0]]), []).append(core)
        kinds = []
        for (_, shares, clock), cores in cores_by_kind.items():
            l1, l2 = (cache.get(cores[0][0]) for cache in caches)
            kinds.append(Kind(tuple(cores), clock, l1, l2, shares))
        return sorted(kinds, key=lambda kind: (kind.size, len(kind.cores)), reverse=True)

    def clocks(self) -> dict[int, float]:
        """Returns each processor's clock in MHz; clocks within a tenth of each other count as
        equal.
        """
        distinct_mhz: list[float] = []
        for mhz in sorted({cpu.mhz for cpu in self.cpus}, reverse=True):
            if not distinct_mhz or mhz < 0.9 * distinct_mhz[-1]:
                distinct_mhz.append(mhz)
        return {cpu.number: min(mhz for mhz in distinct_mhz if mhz >= cpu.mhz) for cpu in self.cpus}

    def shared(self, level: int) -> dict[int, Cache]:
        """Returns the cache of this level for each processor."""
        return {cpu: c for c in self.caches if c.level == level for cpu in c.cpus}

    def node_of(self) -> dict[int, int]:
        return {cpu: node.number for node in self.nodes for cpu in node.cpus}

    def typical(self, level: int) -> Cache | None:
        """Returns the cache of this level that most processors have."""
        kinds = Counter((c.size, c.ways, len(c.cpus)) for c in self.shared(level).values())
        if not kinds:
            return None
        kind = kinds.most_common(1)[0][0]
        return next(c for c in self.shared(level).values() if (c.size, c.ways, len(c.cpus)) == kind)

    def distance(self, a: int, b: int) -> str:
        """Returns the innermost level that two processors share."""
        cpu_of = {cpu.number: cpu for cpu in self.cpus}
        if b in cpu_of[a].core:
            return "core"
        for level in (2, 3):
            cache = self.shared(level).get(a)
            if cache and b in cache.cpus:
                return f"L{level}"
        nodes = self.node_of()
        if cpu_of[a].package != cpu_of[b].package:
            return "system"
        return "node" if nodes.get(a) == nodes.get(b) else "package"

    def compact(self) -> list[int]:
        """Returns processors in the order of the default placement: first one processor of each
        core, package after package, and then their siblings.
        """
        package = {cpu.number: cpu.package for cpu in self.cpus}
        rank = {n: (i, core) for core in self.cores() for i, n in enumerate(core)}
        return sorted(self.numbers, key=lambda n: (rank[n][0], package[n], rank[n][1]))


def cpu_list(text: str) -> tuple[int, ...]:
    """Parses the kernel's lists, such as "0-3,8,10-11", or "0-62:2" with a stride."""
    cpus: list[int] = []
    for part in filter(None, text.strip().split(",")):
        span, _, stride = part.partition(":")
        first, _, last = span.partition("-")
        cpus += range(int(first), int(last or first) + 1, int(stride.split("/")[-1] or 1))
    return tuple(cpus)


def ranges(numbers: Iterable[int]) -> str:
    """Formats numbers like the lists that cpu_list() parses."""
    spans: list[list[int]] = []
    for n in sorted(numbers):
        if spans and n == spans[-1][1] + 1:
            spans[-1][1] = n
        else:
            spans.append([n, n])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in spans)

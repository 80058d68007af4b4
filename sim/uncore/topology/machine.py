"""Defines Machine, the resolved machine with all numbers that an engine reads.

`topology.load` returns a `Machine`, a frozen value in integers (picoseconds, bytes, counts).
Policies, defaults, units, families and names of clock domains are already applied. Engines execute
these numbers and treat no machine specially.

Agents are numbered once: core c is agent c, resolver r is agent `len(cores) + r`. The fabric is one
flat directed graph of stops and links. Every agent is at a stop; a resolver is at one stop for each
slice. A route is the path of least summed `control` latency. If several links are equal at a stop,
the lowest-numbered one is taken, so the numbers of the links break ties: x before y in a mesh,
which is dimension-order routing, and clockwise first in a ring. If `routes` are hashed, lines are
spread over all equal routes (F1.1).

Each number is declared once, here, in parts.py or in link.py: its range, its meaning, and the keys
of a machine file that decide it. schema.py explains the declarations and lists what is generated
from them.

Invariants: parts refer to parts that exist; every stop can reach every other; every core has a
chain of resolvers that ends at a root; an agent has one parent, or one for each memory, and is a
child of each of them; exactly the resolvers of the root level have no parent; a core is of one
kind. Machines come from topology files, from saved results and from Python. All of them are checked
here, and `resolve` rewords these errors for users.
"""

from bisect import bisect
from collections.abc import Iterable, Iterator
from itertools import accumulate

from uncore.protocol.table_shapes import PROTOCOLS
from uncore.topology.link import Link
from uncore.topology.parts import Chance, Core, Interrupt, Kind, Memory, Resolver, System
from uncore.topology.schema import (
    DEFAULT_LINE_BYTES,
    LINE_SIZES,
    MOST_HARTS,
    Clock,
    Line,
    Place,
    Positive,
    Size,
    Text,
    Word,
    field,
    part,
)

__all__ = [
    "Chance",
    "Core",
    "Interrupt",
    "Kind",
    "Link",
    "Machine",
    "Memory",
    "Number",
    "Resolver",
    "System",
]


@part
class Number:
    """A number as its file writes it, with its source, for `uncore show` and the count of fitted
    numbers.
    """

    key: str = field('key, such as "socket.join.latency"')
    text: str = field('value as written, such as "32ns"')
    source: str = field(
        '"fitted", "specification", a citation, "family zen1" or "--with"',
        Text("source", "source of every number below it, in any table", absent="unstated"),
    )
    file: str = field("file that states it")
    line: int = field("its line there")
    interval: tuple[str, str] | None = field(
        "interval in which the real machine's number is", default=None
    )


@part
class Machine:
    """A machine with all its numbers; see the module's head for the invariants."""

    id: str = field("name of its file")
    name: str = field("title", "name")
    protocol: str = field(
        "name of its tables",
        Word("protocol", "coherence protocol; or a folder of tables, like ./mine", words=PROTOCOLS),
    )
    levels: tuple[str, ...] = field(
        'levels, outermost first; the last are "core" and "thread"',
        Text("tree", "levels and their counts, outermost first"),
    )
    shape: tuple[tuple[Place, ...], ...] = field(
        "for each core: the index of its ancestor at each level except thread",
        Text(
            "part",
            "part of the tree that is simulated alone, like `socket0.die0`",
            absent="all of it",
        ),
    )
    threads_per_core: Positive = field("largest number of threads of a core")
    core: Core = field(
        "costs of each core that is of no special kind; its clock is the machine's", native=False
    )
    core_stops: tuple[Place, ...] = field("stop of each core")
    resolvers: tuple[Resolver, ...] = field("resolvers, inner levels first")
    memories: tuple[Memory, ...] = field("memory nodes")
    interrupt: Interrupt = field("costs of interrupts")
    stops: tuple[str, ...] = field("names of stops, for drawings and link statistics")
    links: tuple[Link, ...] = field("links, in the order that breaks ties between routes")
    cpus: str = field(
        "hart of the system's CPU i: an expression of i, or the list of harts", "cpus", default="i"
    )
    numbers: tuple[Number, ...] = field(
        "numbers as its files state them, with sources", default=(), compare=False, native=False
    )
    protocol_source: str = field("source of the protocol", default="", compare=False, native=False)
    alternative_protocol: str = field(
        "protocol that the real machine may have instead, if that is not known",
        Word("alternative_protocol", words=(*PROTOCOLS, "none"), default="none"),
        default="none",
        compare=False,
        native=False,
    )
    unknowns: tuple[tuple[str, str], ...] = field(
        "unknown properties of the real machine",
        Text(
            "unknowns.NAME",
            "unknown property of the real machine, such as its `home`, `slice` or `order`",
            absent="none",
        ),
        default=(),
    )
    kinds: tuple[Kind, ...] = field("special kinds of cores", default=(), native=False)
    threads: tuple[Positive, ...] = field(
        "threads of each core; empty: all cores have equally many", default=(), native=False
    )

    tables: tuple[tuple[str, str], ...] = field(
        "a user's own protocol: its files, each with its text", default=(), native=False
    )
    chance: Chance = field(
        "limits of the random draws of a job with a seed", default=Chance(), native=False
    )

    os: System = field(
        "costs of an operating system, for programs that use one", default=System(), native=False
    )

    line: Line = field(
        "bytes of a cache line",
        Size("line", "bytes of a cache line: 64B, 128B or 256B", f"{DEFAULT_LINE_BYTES}B"),
        default=DEFAULT_LINE_BYTES,
    )

    hashed_routes: bool = field(
        "whether a hash spreads lines over equal routes, or all take the lowest-numbered links",
        "routes",
        words=("hashed", "fixed"),
        default=False,
    )

    def __post_init__(self) -> None:
        refuse_unsound(self)

    def __repr__(self) -> str:
        return f"<{self.id}: {self.cores} cores, {self.harts} harts, {self.protocol}>"

    @property
    def cores(self) -> int:
        return len(self.core_stops)

    @property
    def stop_count(self) -> Positive:
        return len(self.stops)

    @property
    def node_span(self) -> int:
        """The size of the address range of each memory node, in bytes (A4.1)."""
        return max(memory.size for memory in self.memories)

    @property
    def ram(self) -> int:
        """The size of the address range of RAM, in bytes."""
        return len(self.memories) * self.node_span

    @property
    def harts(self) -> int:
        return sum(self.threads) or self.cores * self.threads_per_core

    def harts_of(self, core: int) -> range:
        if not self.threads:
            return range(core * self.threads_per_core, (core + 1) * self.threads_per_core)
        first = sum(self.threads[:core])
        return range(first, first + self.threads[core])

    def core_of(self, hart: int) -> int:
        if not self.threads:
            return hart // self.threads_per_core
        return bisect(tuple(accumulate(self.threads)), hart)

    @property
    def hart_cores(self) -> tuple[Place, ...]:
        """The core of each hart."""
        threads = self.threads or (self.threads_per_core,) * self.cores
        return tuple(core for core, count in enumerate(threads) for _ in range(count))

    @property
    def core_kinds(self) -> tuple[str, ...]:
        """The name of each core's kind; "core" if it is of no special kind."""
        names = {core: kind.name for kind in self.kinds for core in kind.cores}
        return tuple(names.get(core, "core") for core in range(self.cores))

    @property
    def memory_kinds(self) -> tuple[str, ...]:
        """The kinds of memory other than the machine's default one."""
        return tuple(dict.fromkeys(memory.kind for memory in self.memories if memory.kind))

    def nodes_of(self, kind: str) -> list[int]:
        """Returns the memory nodes of a kind; "" is the default kind."""
        return [node for node, memory in enumerate(self.memories) if memory.kind == kind]

    @property
    def kind_names(self) -> tuple[str, ...]:
        """The names of the kinds that some core has, "core" first."""
        names = ("core", *(kind.name for kind in self.kinds))
        return tuple(name for name in names if name in self.core_kinds)

    @property
    def each_core(self) -> tuple[Core, ...]:
        """The costs of each core."""
        costs = {"core": self.core} | {kind.name: kind.core for kind in self.kinds}
        return tuple(costs[name] for name in self.core_kinds)


PARTS: tuple[type, ...] = (
    Machine,
    Kind,
    Core,
    Link,
    Resolver,
    Memory,
    Interrupt,
    Chance,
    System,
    Number,
)

# Keys of a machine file that do not decide a number by themselves.
INDIRECT_KEYS = (
    Text("extends", "file, or list of files, from which this file inherits", absent="none"),
    Clock("clocks.NAME", "clock to which cycles can refer, as in `9cy@NAME`", absent="none"),
    *(
        Clock(
            f"{table}.clock",
            "clock of the cycles in this table, or its name",
            absent="the clock with the table's name, else the core's",
        )
        for table in ("core", "LEVEL", "memory", "interrupt")
    ),
    Clock(
        "core.measured_clock",
        "clock of the cores when the host was measured, used in comparisons with these figures",
        absent="`clock`",
    ),
    Text(
        "lineage.LEVEL",
        "ancestry of its parts, from the general to the special: `amd io-die rome`",
        absent="none",
    ),
    Text(
        "lineage.year",
        "year of its sale; for a prediction, machines near in time count more",
        absent="the year of its parts",
    ),
)


# ---- Soundness: parts fit each other ------------------------------------------------------------


def refuse_unsound(machine: Machine) -> None:
    """Raises a ValueError about the first part that does not fit the others."""
    for check in (_sizes, _kinds, _references, _ownership, _reachability):
        for fault in check(machine):
            raise ValueError(fault)


def _sizes(machine: Machine) -> Iterator[str]:
    cores = len(machine.core_stops)
    if machine.threads and len(machine.threads) != cores:
        yield f"threads: {len(machine.threads)} numbers; expected one for each of {cores} cores"
    if machine.threads and max(machine.threads) != machine.threads_per_core:
        yield f"threads: at most {max(machine.threads)}; expected {machine.threads_per_core}"
    if not 1 <= cores * machine.threads_per_core <= MOST_HARTS:
        yield (
            f"core_stops, threads_per_core: {cores} cores of {machine.threads_per_core} threads;"
            f" expected 1 to {MOST_HARTS} harts"
        )
    if len(machine.shape) != cores:
        yield f"shape: {len(machine.shape)} rows; expected one for each of {cores} cores"
    depth = len(machine.levels) - 1
    for core, row in enumerate(machine.shape):
        if len(row) != depth:
            yield f"shape[{core}]: {len(row)} numbers; expected {depth}, one for each level"
    if machine.line not in LINE_SIZES:
        yield f"line: {machine.line}; expected one of {LINE_SIZES}"
    if not machine.memories:
        yield "memories: expected at least one"
    kinds = (("core", machine.core), *((kind.name, kind.core) for kind in machine.kinds))
    for name, core_costs in kinds:
        if core_costs.l2_sets and not core_costs.l2_ways:
            yield f"{name}.l2_ways: an L2 with sets but without ways"
    for node, memory in enumerate(machine.memories):
        if memory.cache_sets and not memory.cache_ways:
            yield f"memories[{node}].cache_ways: a cache with sets but without ways"


def _kinds(machine: Machine) -> Iterator[str]:
    names, used = {"core"}, set[int]()
    for number, kind in enumerate(machine.kinds):
        if kind.name in names:
            yield f"kinds[{number}].name: a second '{kind.name}'"
        names.add(kind.name)
        for core in kind.cores:
            if core >= machine.cores or core in used:
                yield f"kinds[{number}].cores: {core} is no core, or of two kinds"
            used.add(core)


def _references(machine: Machine) -> Iterator[str]:
    stop_lists: list[tuple[str, Iterable[int]]] = [
        ("core_stops", machine.core_stops),
        ("memories", (memory.stop for memory in machine.memories)),
        ("links: source", (link.source for link in machine.links)),
        ("links: target", (link.target for link in machine.links)),
    ]
    channels = {link.channel for link in machine.links} - {-1}
    if channels != set(range(len(channels))):
        yield f"links: channels {sorted(channels)[:3]} ...; expected each number from 0"
    stop_lists += [
        (f"resolvers[{n}].slices", resolver.slices) for n, resolver in enumerate(machine.resolvers)
    ]
    stops = range(len(machine.stops))
    for name, numbers in stop_lists:
        for number in numbers:
            if number not in stops:
                yield f"{name}: {number} is no stop; expected 0 to {len(stops) - 1}"


def _ownership(machine: Machine) -> Iterator[str]:
    cores, memories = machine.cores, len(machine.memories)
    parents: list[list[int]] = [[] for _ in range(cores + len(machine.resolvers))]
    # position of each child in its parents' lists, which must be the same in all of them
    position_of_child: dict[int, int] = {}
    for number, resolver in enumerate(machine.resolvers):
        name, agent = f"resolvers[{number}]", cores + number
        if not resolver.slices:
            yield f"{name}.slices: expected at least one stop"
        if not -1 <= resolver.memory < memories:
            yield f"{name}.memory: {resolver.memory} is no memory; expected -1 to {memories - 1}"
        for position, child in enumerate(resolver.children):
            if not 0 <= child < agent:
                yield f"{name}.children: {child} is no core and no resolver before this one"
            if position_of_child.setdefault(child, position) != position:
                yield f"{name}.children: {child} stands at another place than in its other parents"
            parents[child].append(agent)
    for agent, actual_parents in enumerate(parents):
        name = f"resolvers[{agent - cores}]" if agent >= cores else f"core {agent}"
        if agent >= cores and list(machine.resolvers[agent - cores].parents) != actual_parents:
            yield f"{name}.parents: expected {actual_parents}, whose child it is"
        if len(actual_parents) not in ((0, 1, memories) if agent >= cores else (1, memories)):
            yield f"{name}: {len(actual_parents)} parents; expected one, or one for each memory"
    if len({resolver.level for resolver in machine.resolvers if not resolver.parents}) != 1:
        yield "resolvers: expected one level without parents, the root"
    roots = [root for root in machine.resolvers if not root.parents]
    if len(roots) > 1 and any(root.memory < 0 for root in roots):
        yield f"resolvers: {len(roots)} roots; expected one, or one for each memory"


def _reachability(machine: Machine) -> Iterator[str]:
    """Checks that the first stop can be reached from every stop, and every stop from the first."""
    for from_end, to_end in (("source", "target"), ("target", "source")):
        neighbours: list[list[int]] = [[] for _ in machine.stops]
        for link in machine.links:
            neighbours[getattr(link, from_end)].append(getattr(link, to_end))
        reached, waiting = {0}, [0]
        while waiting:
            new_stops = set(neighbours[waiting.pop()]) - reached
            reached |= new_stops
            waiting.extend(new_stops)
        if len(reached) < len(machine.stops):
            yield "links: not every stop can be reached from every other"

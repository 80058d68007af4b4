"""The resolved machine: every number an engine may read, and nothing left to decide.

A `Machine` is what `topology.load` returns: a frozen value in integers (picoseconds, bytes,
counts). Policy, defaults, units, families and names of clock domains are gone; engines execute
these numbers and know no machine by name.

Agents are numbered once: core c is agent c, resolver r is agent `len(cores) + r`. The fabric is one
flat directed graph: stops joined by links. Every agent sits at a stop (a resolver: one for each
slice). A route is the path of least summed `control` latency; among equal ones each stop takes the
lowest-numbered link, so the numbering of links *is* the tie-break (x before y in a mesh gives
dimension order, clockwise first in a ring).

A number is named here (or for wires in link.py) and nowhere else: its range, what it is, and the
keys of a machine file that decide it. How that is written, and what comes from it: schema.py.

Invariants: those of `sound.py`; `resolve` words what a user can do about them.
"""

from bisect import bisect
from itertools import accumulate
from typing import Annotated

from msgspec import Meta

from uncore.topology.link import PLANNED
from uncore.topology.link import Link as Link
from uncore.topology.schema import (
    Bytes,
    Clock,
    Count,
    Duration,
    MaybePlace,
    Place,
    Ps,
    Rate,
    Share,
    Size,
    Some,
    SomePs,
    Text,
    Whole,
    Word,
    field,
    one_of,
    part,
)
from uncore.topology.sound import refuse_unsound

PROTOCOLS = ("msi", "mesi", "mesif", "moesi")
KNOWS = ("snoop", "shadow-tags", "directory", "inclusive")
REPLIES = ("direct", "via")
UNBLOCKS = ("response", "completion")
DATA = ("none", "victim", "inclusive")
PLACES = ("slices", "hub", "home")  # of a resolver
MOST_GRANTS = 1 << 16
MOST_WAYS = 1 << 20

Grants = Annotated[int, Meta(ge=0, le=MOST_GRANTS)]
Stores = Annotated[int, Meta(ge=0, le=4096)]
Ways = Annotated[int, Meta(ge=1, le=MOST_WAYS)]
Knows = Annotated[str, one_of(KNOWS)]
Reply = Annotated[str, one_of(REPLIES)]
Unblock = Annotated[str, one_of(UNBLOCKS)]
Data = Annotated[str, one_of(DATA)]


@part
class Core:
    """Costs of one core and its private caches (L1 and L2 are one coherence controller)."""

    instruction: SomePs = field("an instruction; 0 would let time stand still", "core.instruction")
    mispredict: Ps = field("a branch that was not foreseen", "core.mispredict")
    pause: Ps = field("the instruction PAUSE", "core.pause")
    l1_hit: Ps = field("a load that hits L1; a store costs an instruction", "core.l1.latency")
    l2_hit: Ps = field("an access that hits L2", "core.l2.latency")
    l1_sets: Some = field("of L1", Size("core.l1.size"))
    l1_ways: Ways = field("of L1", "core.l1.ways")
    l2_sets: Count = field("of L2; 0: none", Size("core.l2.size", "of L2; `none`: there is none"))
    l2_ways: Count = field("of L2", Whole("core.l2.ways", low=1, high=MOST_WAYS))
    atomic: Ps = field("an AMO, or LR with SC, that hits with sufficient rights", "core.atomic")
    hold: Ps = field("least time that a line just won exclusively stays", "core.hold")
    store_buffer: Stores = field("entries, divided by the core's harts", "core.store_buffer")
    smt_share: Share = field("speed of a hart whose siblings are active", "core.smt_share")
    lr_exclusive: bool = field(
        "whether LR asks for ownership (as on x86) or a copy",
        "core.lr",
        words=("exclusive", "shared"),
    )
    far_atomics: bool = field(
        "whether AMOs are done at the resolver or in the core",
        "core.atomics",
        words=("far", "near"),
    )


@part
class Kind:
    """Cores that differ from the others."""

    name: str = field(
        "as machine files call it",
        Text("kinds.NAME", "the parts that are of this kind, by the ends of their paths"),
    )
    cores: tuple[Place, ...] = field("those that are of it")
    core: Core = field("their costs")


@part
class Resolver:
    """One point of ownership: a cache slice group, a snoop point or a home directory."""

    name: str = field('such as "ccx3" or "home0"')
    level: str = field("the level it stands at")
    knows: Knows = field("what it knows of the copies below", "LEVEL.resolver.knows")
    children: tuple[Place, ...] = field("agents")
    parents: tuple[Place, ...] = field(
        "agents; one: the tree's; several: by home node of the line; none: root"
    )
    slices: tuple[Place, ...] = field(
        "stops; a line hashes to one of them",
        Word("LEVEL.resolver.at", "where it stands; only a root at `home`", words=PLACES),
        Whole("LEVEL.resolver.slices", "how many", absent="as the join has", low=1, high=1024),
        Word(
            "LEVEL.join.slices",
            "where slices stand",
            "hub",
            words=("hub", "ports"),
            joins=("crossbar",),
        ),
    )
    reply: Reply = field("how an owner's data go to the requester", "LEVEL.resolver.reply")
    unblock: Unblock = field("what closes a transaction", "LEVEL.resolver.unblock")
    service: Ps = field("a slice is busy with a request before it acts", "LEVEL.resolver.service")
    grants: Grants = field(
        "children served before a waiting probe from above",
        Whole(
            "LEVEL.resolver.grants",
            "children served before a waiting probe from above; or, as `1us`, the age from which"
            " the request behind the probe goes first",
            low=1,
            high=MOST_GRANTS,
        ),
    )
    entries: Count = field(
        "of its directory; 0: no limit",
        Whole("LEVEL.resolver.entries", absent="no limit; `inclusive`: one for each line of data"),
    )
    ways: Count = field(
        "of its directory",
        Whole("LEVEL.resolver.ways", absent="no sets; `inclusive`: as the data", high=1 << 16),
    )
    data: Data = field("what it keeps of lines", Word("LEVEL.data.policy", words=DATA))
    data_sets: Count = field("of all slices together", Size("LEVEL.data.size"))
    data_ways: Count = field("of data", Whole("LEVEL.data.ways", low=1, high=MOST_WAYS))
    data_hit: Ps = field("from decision to the data leaving", Duration("LEVEL.data.latency"))
    memory: MaybePlace = field("the node that a root at home homes; -1: by the line's home")
    grants_until: Ps = field(
        "age of the request behind a probe until which children are served", default=0
    )
    lookup: Ps = field(
        "to read from memory which child away from its node owns a line; 0: at hand",
        "LEVEL.resolver.lookup",
        default=0,
    )
    near: tuple[Place, ...] = field("children at its own node, whom it always knows", default=())


@part
class Memory:
    """One memory node: `size` bytes at RAM base + index * size."""

    stop: Place = field(
        "of its port",
        Text("memory.node", "the level whose parts have memory"),
        Text("memory.groups", "only these parts of the level, `0 2`", absent="all"),
        Text(
            "LEVEL.join.memory",
            "the stop of the memory's port",
            absent="`m` of the map, else the first",
            joins=PLANNED,
        ),
    )
    latency: Ps = field("from the channel taken to the data leaving", "memory.latency")
    busy: Ps = field("a line keeps the channel", Rate("memory.bandwidth", "of a node's channel"))
    size: Bytes = field("of a node", "memory.size")


@part
class Interrupt:
    """Costs of an inter-processor interrupt."""

    send: Ps = field("the sender is busy", "interrupt.send")
    accept: Ps = field("the receiver's controller is", "interrupt.accept")
    entry: Ps = field("entering the trap", "interrupt.entry")
    exit: Ps = field("leaving the trap", "interrupt.exit")
    multicast: bool = field("whether one message reaches a set of harts", "interrupt.multicast")


@part
class Number:
    """Where a resolved number came from: for `uncore show` and the count of fitted numbers."""

    key: str = field('"socket.join.latency"')
    text: str = field('"32ns"')
    source: str = field(
        '"fitted", "specification", a citation, "family zen1", "--with"',
        Text("source", "of every number below it; in any table", absent="unstated"),
    )
    file: str = field("that states it")
    line: int = field("in the file")
    interval: tuple[str, str] | None = field("that surely holds the real one's", default=None)


@part
class Machine:
    """A machine with all its numbers; see the module's head for the invariants."""

    id: str = field("the name of its file")
    name: str = field("for people", "name")
    protocol: str = field("by its tables", Word("protocol", "of coherence", words=PROTOCOLS))
    levels: tuple[str, ...] = field(
        'outermost first, ends ("core", "thread")',
        Text("tree", "the levels and their counts, outermost first"),
    )
    shape: tuple[tuple[Place, ...], ...] = field(
        "per core: index of its ancestor at each level but thread",
        Text("part", "that part of the machine alone, like `socket0.die0`", absent="all of it"),
    )
    threads_per_core: Some = field("the most of any")
    core: Core = field(
        "each of the cores, but for those of `kinds`; the machine's clock is theirs", native=False
    )
    core_stops: tuple[Place, ...] = field("of each core")
    resolvers: tuple[Resolver, ...] = field("inner levels first")
    memories: tuple[Memory, ...] = field("by node")
    interrupt: Interrupt = field("the same at each hart")
    stops: tuple[str, ...] = field("names, for drawings and link statistics")
    links: tuple[Link, ...] = field("in the order that breaks ties")
    cpus: str = field("from OS CPU number i to hart: an expression, or a list", "cpus", default="i")
    numbers: tuple[Number, ...] = field(
        "and their sources", default=(), compare=False, native=False
    )
    unknowns: tuple[tuple[str, str], ...] = field(
        "of the real machine, for validation",
        Text(
            "unknowns.NAME",
            "what is not known of the real one: `home`, `slice`, `order`",
            absent="none",
        ),
        default=(),
    )
    kinds: tuple[Kind, ...] = field("of cores that differ", default=(), native=False)
    threads: tuple[Some, ...] = field(
        "of each core, where they have not all as many", default=(), native=False
    )

    def __post_init__(self) -> None:
        refuse_unsound(self)

    @property
    def cores(self) -> int:
        return len(self.core_stops)

    @property
    def stop_count(self) -> Some:
        """How many stops there are."""
        return len(self.stops)

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
        return tuple(core for core, many in enumerate(threads) for _ in range(many))

    @property
    def core_kinds(self) -> tuple[str, ...]:
        """The name of each core's kind; "core" where that is `core`."""
        names = {core: kind.name for kind in self.kinds for core in kind.cores}
        return tuple(names.get(core, "core") for core in range(self.cores))

    @property
    def kind_names(self) -> tuple[str, ...]:
        """The names of the kinds that there are, "core" first."""
        names = ("core", *(kind.name for kind in self.kinds))
        return tuple(name for name in names if name in self.core_kinds)

    @property
    def each_core(self) -> tuple[Core, ...]:
        """The costs of each core."""
        costs = {"core": self.core} | {kind.name: kind.core for kind in self.kinds}
        return tuple(costs[name] for name in self.core_kinds)


PARTS = (Machine, Kind, Core, Link, Resolver, Memory, Interrupt, Number)

# Keys of a machine file that decide no number by themselves.
BESIDE = (
    Text("extends", "the file, or files, that say what this one does not", absent="none"),
    Clock("clocks.NAME", "of a clock that cycles may name, `9cy@NAME`", absent="none"),
    *(
        Clock(
            f"{table}.clock",
            "of the cycles in this table, or the name of a clock",
            absent="the clock called as the table, else the core's",
        )
        for table in ("core", "LEVEL", "memory", "interrupt")
    ),
    Text("lineage.LEVEL", "what its parts descend from, the general first", absent="none"),
)

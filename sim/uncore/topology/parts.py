"""Parts of a machine other than wires: cores, resolvers, memories, interrupts.

schema.py explains how a field states its meaning and the keys of a machine file that decide it.
"""

from typing import Annotated

from msgspec import Meta

from uncore.topology.link import JOINS_WITH_PLAN
from uncore.topology.schema import (
    Bytes,
    Count,
    Duration,
    Place,
    PlaceOrNone,
    Positive,
    PositivePs,
    Ps,
    Rate,
    Share,
    ShareOrZero,
    Size,
    Text,
    Whole,
    Word,
    field,
    one_of,
    part,
)

KNOWS = ("snoop", "shadow-tags", "directory", "inclusive")
REPLIES = ("direct", "via")
UNBLOCKS = ("response", "completion")
DATA = ("none", "victim", "inclusive")
ORDERS = ("tso", "weak")
ATOMICS = ("near", "far", "far-unless-owned")
PREFETCHES = ("none", "adjacent")
OVERFLOWS = ("broadcast", "coarse", "evict")
RESOLVER_POSITIONS = ("slices", "hub", "home")  # positions that a resolver can have
MAX_CONSECUTIVE_GRANTS = 1 << 16
MAX_CACHE_WAYS = 1 << 20

Grants = Annotated[int, Meta(ge=0, le=MAX_CONSECUTIVE_GRANTS)]
Stores = Annotated[int, Meta(ge=0, le=4096)]
Ways = Annotated[int, Meta(ge=1, le=MAX_CACHE_WAYS)]
Entries = Annotated[int, Meta(ge=4, le=1 << 16)]
Knows = Annotated[str, one_of(KNOWS)]
Reply = Annotated[str, one_of(REPLIES)]
Unblock = Annotated[str, one_of(UNBLOCKS)]
Data = Annotated[str, one_of(DATA)]
Overflow = Annotated[str, one_of(OVERFLOWS)]
Order = Annotated[str, one_of(ORDERS)]
Prefetch = Annotated[str, one_of(PREFETCHES)]


@part
class Core:
    """Costs of one core and its private caches (L1 and L2 are one coherence controller)."""

    instruction: PositivePs = field(
        "time of an instruction; 0 would let time stand still", "core.instruction"
    )
    mispredict: Ps = field(
        "cost of a branch that was not foreseen, and of a load that is done anew",
        "core.mispredict",
    )
    pause: Ps = field("time of PAUSE", "core.pause")
    l1_hit: Ps = field("time of a load that hits L1", "core.l1.latency")
    l2_hit: Ps = field("time of an access that hits L2", "core.l2.latency")
    l1_sets: Positive = field("sets of L1", Size("core.l1.size", "size of L1"))
    l1_ways: Ways = field("ways of L1", "core.l1.ways")
    l2_sets: Count = field("sets of L2; 0: none", Size("core.l2.size", "size of L2, or `none`"))
    l2_ways: Count = field("ways of L2", Whole("core.l2.ways", low=1, high=MAX_CACHE_WAYS))
    atomic: Ps = field(
        "time of an AMO, or LR and SC, that hits with sufficient rights", "core.atomic"
    )
    hold: Ps = field("least time that a line just won exclusively stays", "core.hold")
    store_buffer: Stores = field(
        "stores it holds, divided by the core's harts", "core.store_buffer"
    )
    smt_share: Share = field(
        "share of its speed that a hart has beside active siblings", "core.smt_share"
    )
    lr_exclusive: bool = field(
        "whether LR asks for ownership, as on x86, or for a copy",
        "core.lr",
        words=("exclusive", "shared"),
    )
    far_atomics: bool = field(
        "whether AMOs are done at the resolver or in the core",
        Word("core.atomics", words=ATOMICS),
    )
    restart: Ps = field(
        "what an atomic takes longer that met another hart's", "core.restart", default=0
    )
    fence: Ps = field(
        "time of a fence that drains the store buffer (MFENCE, DMB), beyond the draining",
        "core.fence",
        default=0,
    )
    window: Count = field(
        "instructions that a hart pre-executes behind a load that waits; 0: none",
        "core.window",
        default=0,
    )
    misses: Count = field(
        "lines under way from which on pre-execution asks for no more",
        "core.misses",
        default=0,
    )
    prefetch: Prefetch = field(
        "what is asked for with a line of which the core has no copy: nothing, or its neighbour",
        "core.prefetch",
        default="none",
    )
    store_ahead: bool = field(
        "whether a store asks for its line when it enters the store buffer, or as its oldest",
        "core.store_ahead",
        default=False,
    )
    order: Order = field(
        "order in which its accesses may be seen: total store order, or as weak as RVWMO allows",
        "core.order",
        default="tso",
    )
    tlb_first: Entries = field(
        "entries of a hart's first-level TLB for data, for pages of 4 KiB",
        "core.tlb.first",
        default=64,
    )
    tlb_second: Entries = field(
        "entries of a hart's second-level TLB, for pages of 4 KiB", "core.tlb.second", default=1536
    )
    tlb_latency: Ps = field(
        "time of a translation that only the second level has", "core.tlb.latency", default=2500
    )
    tlb_ways: Ways = field("ways of both levels of a hart's TLB", "core.tlb.ways", default=4)
    tlb_large: Entries = field(
        "entries of each level of a hart's TLB for each larger size of page",
        "core.tlb.large",
        default=32,
    )
    far_owned: bool = field(
        "whether AMOs are done at the resolver even where the core holds the line alone",
        default=False,
    )


@part
class Kind:
    """Cores that differ from the others."""

    name: str = field(
        "name in machine files",
        Text("kinds.NAME", "parts that are of this kind, by the ends of their paths: `module8-9`"),
    )
    cores: tuple[Place, ...] = field("cores of this kind")
    core: Core = field("costs of each")


@part
class Resolver:
    """One point of ownership: a cache slice group, a snoop point or a home directory."""

    name: str = field('name, such as "ccx3" or "home0"')
    level: str = field("level it stands at")
    knows: Knows = field("what it knows of the copies below it", "LEVEL.resolver.knows")
    children: tuple[Place, ...] = field("agents below it")
    parents: tuple[Place, ...] = field(
        "agents above it; one: the tree's; several: by home node of the line; none: root"
    )
    slices: tuple[Place, ...] = field(
        "stops of its slices; a line hashes to one of them",
        Word(
            "LEVEL.resolver.at",
            "where it stands; only the root at `home`",
            words=RESOLVER_POSITIONS,
        ),
        Whole(
            "LEVEL.resolver.slices", "number of slices", absent="as the join has", low=1, high=1024
        ),
        Word(
            "LEVEL.join.slices",
            "where the slices of a crossbar stand",
            "hub",
            words=("hub", "ports"),
            joins=("crossbar",),
        ),
    )
    reply: Reply = field("way of an owner's data to the requester", "LEVEL.resolver.reply")
    unblock: Unblock = field("what closes a transaction", "LEVEL.resolver.unblock")
    service: Ps = field(
        "time a slice is busy with a request before it acts", "LEVEL.resolver.service"
    )
    grants: Grants = field(
        "children served before a waiting probe from above",
        Whole(
            "LEVEL.resolver.grants",
            "children served before a waiting probe from above; or, as `1us`, the age from which"
            " the request behind the probe goes first",
            low=1,
            high=MAX_CONSECUTIVE_GRANTS,
        ),
    )
    entries: Count = field(
        "entries of its directory; 0: no limit",
        Whole("LEVEL.resolver.entries", absent="no limit; `inclusive`: one for each line of data"),
    )
    ways: Count = field(
        "ways of its directory",
        Whole("LEVEL.resolver.ways", absent="no sets; `inclusive`: as the data", high=1 << 16),
    )
    data: Data = field("which data it keeps", Word("LEVEL.data.policy", words=DATA))
    data_sets: Count = field(
        "sets of data in all slices", Size("LEVEL.data.size", "size of the data in all slices")
    )
    data_ways: Count = field(
        "ways of the data", Whole("LEVEL.data.ways", low=1, high=MAX_CACHE_WAYS)
    )
    data_hit: Ps = field("time from decision to the data leaving", Duration("LEVEL.data.latency"))
    memory: PlaceOrNone = field("node that a root at home homes; -1: by the line's home")
    grants_until: Ps = field(
        "age of the request behind a probe until which children are served", default=0
    )
    lookup: Ps = field(
        "time to read from memory which child away from its node owns a line; 0: at hand",
        "LEVEL.resolver.lookup",
        default=0,
    )
    turn: Ps = field(
        "time from the completion of a transaction to the next one that waits for it",
        "LEVEL.resolver.turn",
        default=0,
    )
    near: tuple[Place, ...] = field("children at its own node, whom it always knows", default=())
    forwarder: bool = field(
        "whether it makes a reader the forwarder (F), where the protocol has one",
        "LEVEL.resolver.forwarder",
        default=True,
    )
    pointers: Count = field(
        "sharers of a line that its directory can name; 0: all; more are children it asks all",
        Whole("LEVEL.resolver.pointers", absent="all", low=1),
        default=0,
    )
    overflow: Overflow = field(
        "what it does with more sharers than pointers: asks all children, asks the regions of a"
        " coarse vector, or takes a copy away",
        "LEVEL.resolver.overflow",
        default="broadcast",
    )
    data_repeat: Ps = field(
        "time between two copies of one line of its data",
        Duration("LEVEL.data.repeat", default="0ns"),
        default=0,
    )


@part
class Memory:
    """One memory node: `size` bytes at RAM base + index * the largest node's size."""

    stop: Place = field(
        "stop of its channel",
        Text("memory.node", "level whose parts have memory"),
        Text("memory.groups", "only these parts of the level, `0 2`", absent="all"),
        Duration(
            "memory.link",
            "time of a link, such as CXL's, from the part's port to the memory, and back",
            absent="it stands at the port",
        ),
        Text(
            "LEVEL.join.memory",
            "stop of the memory's port",
            absent="`m` of the map, else the first",
            joins=JOINS_WITH_PLAN,
        ),
    )
    latency: Ps = field("time from taking the channel to the data leaving", "memory.latency")
    busy: Ps = field(
        "time a line keeps the channel", Rate("memory.bandwidth", "bandwidth of a node")
    )
    size: Bytes = field("bytes of a node", "memory.size")
    kind: str = field(
        "kind of memory that differs, as `[memory.NAME]` says", default="", native=False
    )
    cache_sets: Count = field(
        "sets of its memory-side cache; 0: none",
        Size("memory.cache.size", "size of a memory-side cache of a node", absent="none"),
        default=0,
    )
    cache_ways: Count = field(
        "ways of that cache",
        Whole("memory.cache.ways", low=1, high=MAX_CACHE_WAYS),
        default=0,
    )
    cache_hit: Ps = field(
        "time from taking its channel to the data leaving, or to memory being asked",
        Duration("memory.cache.latency"),
        default=0,
    )
    cache_busy: Ps = field(
        "time a line keeps its channel",
        Rate("memory.cache.bandwidth", "bandwidth of that cache", absent="without limit"),
        default=0,
    )

    @property
    def hit(self) -> int:
        """Time in ps of the fastest read that the node can answer."""
        return self.cache_hit if self.cache_sets else self.latency


@part
class Chance:
    """Limits of the random draws of a job with seeds: the largest value of each."""

    start: Ps = field(
        "longest time that a hart starts late, for each hart of the job", "chance.start", default=0
    )
    request: Ps = field(
        "longest time that a core's request leaves late", "chance.request", default=0
    )
    hold: ShareOrZero = field(
        "part of `core.hold` by which a line may stay shorter or longer", "chance.hold", default=0
    )
    load: Ps = field(
        "longest time that a load looks back, where `core.order` is `weak`",
        "chance.load",
        default=0,
    )
    store: Ps = field(
        "longest time that a store stays in its buffer, where `core.order` is `weak`",
        "chance.store",
        default=0,
    )
    slice: Count = field(
        "most lines by which a line may lie further on than its address says, for the slice that"
        " owns it",
        "chance.slice",
        default=0,
    )


@part
class System:
    """Costs of an operating system's calls and services for a program."""

    syscall: Ps = field("time of a system call beside what it does", "os.syscall", default=0)
    switching: Ps = field("time to go from one thread to another", "os.switch", default=0)
    fault: Ps = field("time until a page is there that is touched first", "os.fault", default=0)
    quantum: PositivePs = field(
        "longest time of a thread while others wait for its hart", "os.quantum", default=10**9
    )


@part
class Interrupt:
    """Costs of an inter-processor interrupt."""

    send: Ps = field("time the sender is busy", "interrupt.send")
    accept: Ps = field("time the receiver's controller is busy", "interrupt.accept")
    entry: Ps = field("time to enter the trap", "interrupt.entry")
    exit: Ps = field("time to leave the trap", "interrupt.exit")
    multicast: bool = field("whether one message reaches a set of harts", "interrupt.multicast")
    harts_per_message: Count = field(
        "harts that one message can reach: a group of so many consecutive numbers; 0: all",
        "interrupt.harts_per_message",
        default=0,
        native=False,  # the program sends one message for each group
    )

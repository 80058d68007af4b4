"""The parts of a machine other than links: cores, resolvers, memories, interrupts.

schema.py explains the declarations of fields.
"""

from typing import Annotated

from msgspec import Meta

from uncore.topology.link import JOINS_WITH_MAP
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

# allowed values of each key
KNOWS_VALUES = ("snoop", "shadow-tags", "directory", "inclusive")
REPLY_VALUES = ("direct", "via")
UNBLOCK_VALUES = ("response", "completion")
DATA_POLICIES = ("none", "victim", "inclusive")
ORDER_VALUES = ("tso", "weak")
ATOMICS_VALUES = ("near", "far", "far-unless-owned")
PREFETCH_VALUES = ("none", "adjacent")
OVERFLOW_VALUES = ("broadcast", "coarse", "evict")
RESOLVER_POSITIONS = ("slices", "hub", "home")
MAX_CONSECUTIVE_GRANTS = 1 << 16
MAX_CACHE_WAYS = 1 << 20

Grants = Annotated[int, Meta(ge=0, le=MAX_CONSECUTIVE_GRANTS)]
Stores = Annotated[int, Meta(ge=0, le=4096)]
Ways = Annotated[int, Meta(ge=1, le=MAX_CACHE_WAYS)]
Entries = Annotated[int, Meta(ge=4, le=1 << 16)]
Knows = Annotated[str, one_of(KNOWS_VALUES)]
Reply = Annotated[str, one_of(REPLY_VALUES)]
Unblock = Annotated[str, one_of(UNBLOCK_VALUES)]
Data = Annotated[str, one_of(DATA_POLICIES)]
Overflow = Annotated[str, one_of(OVERFLOW_VALUES)]
Order = Annotated[str, one_of(ORDER_VALUES)]
Prefetch = Annotated[str, one_of(PREFETCH_VALUES)]


@part
class Core:
    """The costs of one core and its private caches. L1 and L2 are one client of the protocol."""

    instruction: PositivePs = field(
        "time of an instruction; not 0, or time would not advance", "core.instruction"
    )
    mispredict: Ps = field(
        "cost of a mispredicted branch, and of a load that is executed again",
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
        "time of an AMO, or of LR and SC, if the core already holds the line exclusively",
        "core.atomic",
    )
    hold: Ps = field(
        "least time for which a core keeps a line that it has just obtained exclusively",
        "core.hold",
    )
    store_buffer: Stores = field(
        "entries of the store buffer, divided among the core's harts", "core.store_buffer"
    )
    smt_share: Share = field(
        "share of its full speed that a hart has while a sibling is active", "core.smt_share"
    )
    lr_exclusive: bool = field(
        "whether LR requests the line exclusively, as on x86, or a shared copy",
        "core.lr",
        words=("exclusive", "shared"),
    )
    far_atomics: bool = field(
        "whether AMOs are performed at the resolver (far) or in the core (near)",
        Word("core.atomics", words=ATOMICS_VALUES),
    )
    restart: Ps = field(
        "additional time of an atomic that has waited for another hart's atomic",
        "core.restart",
        default=0,
    )
    fence: Ps = field(
        "time of a fence that drains the store buffer (MFENCE, DMB), beyond the draining",
        "core.fence",
        default=0,
    )
    window: Count = field(
        "instructions that a hart pre-executes after a load that waits; 0: none",
        "core.window",
        default=0,
    )
    misses: Count = field(
        "lines that a core can have requested at a time before pre-execution requests no more",
        "core.misses",
        default=0,
    )
    stall_on_use: bool = field(
        "whether a load that hits delays its hart at the first use of its value, or at once",
        "core.stall",
        words=("use", "load"),
        default=False,
    )
    prefetch: Prefetch = field(
        "line that is requested with a missing line: none, or its neighbour",
        "core.prefetch",
        default="none",
    )
    store_ahead: bool = field(
        "whether a store requests its line when it enters the store buffer, or when it is oldest",
        "core.store_ahead",
        default=False,
    )
    order: Order = field(
        "memory order of its accesses: total store order, or as weak as RVWMO allows",
        "core.order",
        default="tso",
    )
    tlb_first: Entries = field(
        "entries of a hart's first-level data TLB for pages of 4 KiB",
        "core.tlb.first",
        default=64,
    )
    tlb_second: Entries = field(
        "entries of a hart's second-level TLB for pages of 4 KiB", "core.tlb.second", default=1536
    )
    tlb_latency: Ps = field(
        "time of a translation that misses the first level and hits the second",
        "core.tlb.latency",
        default=2500,
    )
    tlb_ways: Ways = field("ways of both levels of a hart's TLB", "core.tlb.ways", default=4)
    tlb_large: Entries = field(
        "entries of each level of a hart's TLB for each larger page size",
        "core.tlb.large",
        default=32,
    )
    far_owned: bool = field(
        "whether AMOs are performed at the resolver even if the core holds the line exclusively",
        default=False,
    )


@part
class Kind:
    """Cores that differ from the others."""

    name: str = field(
        "name in machine files",
        Text("kinds.NAME", "parts of this kind, by the ends of their paths: `module8-9`"),
    )
    cores: tuple[Place, ...] = field("cores of this kind")
    core: Core = field("costs of each")


@part
class Resolver:
    """A resolver, which orders the requests for a line: the slices of a shared cache, a snooping
    bus or a home directory.
    """

    name: str = field('name, such as "ccx3" or "home0"')
    level: str = field("level at which it is")
    knows: Knows = field(
        "knowledge of the copies below it: none (snoop), all, or as many as its entries hold",
        "LEVEL.resolver.knows",
    )
    children: tuple[Place, ...] = field("agents below it")
    parents: tuple[Place, ...] = field(
        "agents above it: none at the root, one, or one for each home node"
    )
    slices: tuple[Place, ...] = field(
        "stops of its slices; a hash of the line selects one",
        Word(
            "LEVEL.resolver.at",
            "position; only the root may be at `home`",
            words=RESOLVER_POSITIONS,
        ),
        Whole(
            "LEVEL.resolver.slices", "number of slices", absent="as the join has", low=1, high=1024
        ),
        Word(
            "LEVEL.join.slices",
            "position of the slices at a crossbar",
            "hub",
            words=("hub", "ports"),
            joins=("crossbar",),
        ),
    )
    reply: Reply = field(
        "path of an owner's data to the requester: direct, or via the resolver",
        "LEVEL.resolver.reply",
    )
    unblock: Unblock = field(
        "message that closes a transaction: the owner's response, or the requester's completion",
        "LEVEL.resolver.unblock",
    )
    service: Ps = field(
        "time for which a request occupies a slice before it takes effect", "LEVEL.resolver.service"
    )
    grants: Grants = field(
        "children's requests that are served before a waiting probe from above",
        Whole(
            "LEVEL.resolver.grants",
            "children's requests that are served before a waiting probe from above; or a time like"
            " `1us`: the age of the request behind the probe from which the probe goes first",
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
    data: Data = field(
        "data that it stores: none, evicted lines (victim), or all lines below it (inclusive)",
        Word("LEVEL.data.policy", words=DATA_POLICIES),
    )
    data_sets: Count = field(
        "sets of data in all slices", Size("LEVEL.data.size", "size of the data in all slices")
    )
    data_ways: Count = field(
        "ways of the data", Whole("LEVEL.data.ways", low=1, high=MAX_CACHE_WAYS)
    )
    data_hit: Ps = field(
        "time from the decision until the data leave", Duration("LEVEL.data.latency")
    )
    memory: PlaceOrNone = field("memory node of a root at `home`; -1: the root serves all nodes")
    grants_until: Ps = field(
        "age of the request behind a probe up to which children are served first", default=0
    )
    lookup: Ps = field(
        "time to read a line's owner from memory, if it is not a child of the root's node",
        "LEVEL.resolver.lookup",
        default=0,
    )
    turn: Ps = field(
        "time from the end of a transaction to the next transaction of the line, if one waits",
        "LEVEL.resolver.turn",
        default=0,
    )
    near: tuple[Place, ...] = field(
        "children at its own node, for which it needs no lookup", default=()
    )
    forwarder: bool = field(
        "whether it makes a reader the forwarder (F), where the protocol has one",
        "LEVEL.resolver.forwarder",
        default=True,
    )
    pointers: Count = field(
        "sharers of a line that an entry of its directory can list; 0: no limit",
        Whole("LEVEL.resolver.pointers", absent="all", low=1),
        default=0,
    )
    overflow: Overflow = field(
        "action if there are more sharers than pointers: later invalidate all children, or the"
        " regions of a coarse vector; or evict a sharer's copy at once",
        "LEVEL.resolver.overflow",
        default="broadcast",
    )
    data_repeat: Ps = field(
        "least time between two reads of one line of its data",
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
            "time of a link, such as a CXL link, from the port to the memory, and again for the"
            " way back",
            absent="it is at the port",
        ),
        Text(
            "LEVEL.join.memory",
            "stop of the memory's port",
            absent="`m` of the map, else the first",
            joins=JOINS_WITH_MAP,
        ),
    )
    latency: Ps = field("time from getting the channel until the data leave", "memory.latency")
    busy: Ps = field(
        "time for which a line occupies the channel",
        Rate("memory.bandwidth", "bandwidth of a node"),
    )
    size: Bytes = field("bytes of a node", "memory.size")
    kind: str = field(
        "name of its kind, from `[memory.NAME]`; empty: the default kind", default="", native=False
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
        "time from getting its channel until the data leave, or memory is accessed",
        Duration("memory.cache.latency"),
        default=0,
    )
    cache_busy: Ps = field(
        "time for which a line occupies its channel",
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
        "longest delay of a hart's start, for each hart of the job", "chance.start", default=0
    )
    request: Ps = field("longest delay of a core's request", "chance.request", default=0)
    hold: ShareOrZero = field(
        "share of `core.hold` by which a hold may be shorter or longer", "chance.hold", default=0
    )
    load: Ps = field(
        "longest time back from which a load may read, if `core.order` is `weak`",
        "chance.load",
        default=0,
    )
    store: Ps = field(
        "longest time that a store stays in its buffer, if `core.order` is `weak`",
        "chance.store",
        default=0,
    )
    slice: Count = field(
        "largest offset, in lines, that is added to a line before it is hashed to a slice",
        "chance.slice",
        default=0,
    )


@part
class System:
    """Costs of an operating system's calls and services for a program."""

    syscall: Ps = field(
        "time of a system call, without the work that it does", "os.syscall", default=0
    )
    switching: Ps = field("time to switch from one thread to another", "os.switch", default=0)
    fault: Ps = field(
        "time of a page fault, by which a page that is touched first is allocated",
        "os.fault",
        default=0,
    )
    quantum: PositivePs = field(
        "longest time for which a thread runs while others wait for its hart",
        "os.quantum",
        default=10**9,
    )


@part
class Interrupt:
    """Costs of an inter-processor interrupt."""

    send: Ps = field("time for which the sender is busy", "interrupt.send")
    accept: Ps = field("time for which the receiver's controller is busy", "interrupt.accept")
    entry: Ps = field("time to enter the trap", "interrupt.entry")
    exit: Ps = field("time to leave the trap", "interrupt.exit")
    multicast: bool = field("whether one message reaches a set of harts", "interrupt.multicast")
    harts_per_message: Count = field(
        "number of consecutive harts that one message can reach; 0: all",
        "interrupt.harts_per_message",
        default=0,
        native=False,  # the program sends one message for each such group
    )

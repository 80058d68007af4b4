"""The resolved machine: every number an engine may read, and nothing left to decide.

A `Machine` is what `topology.load` returns: a frozen value in integers (picoseconds, bytes,
counts). Policy, defaults, units, families and names of clock domains are gone; engines execute
these numbers and know no machine by name.

Agents are numbered once: core c is agent c, resolver r is agent `len(cores) + r`. The fabric is one
flat directed graph: stops joined by links. Every agent sits at a stop (a resolver: one for each
slice). A route is the path of least summed `control` latency; among equal ones each stop takes the
lowest-numbered link, so the numbering of links *is* the tie-break (x before y in a mesh gives
dimension order, clockwise first in a ring).

Invariants: those of `sound.py`; `resolve` words what a user can do about them.  The ranges of the
numbers are told by their types, and hold for a machine read from a result too.
"""

from __future__ import annotations

from bisect import bisect
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Annotated

from msgspec import Meta

from uncore.topology.sound import refuse_unsound
from uncore.topology.units import LONGEST

KNOWS = ("snoop", "shadow-tags", "directory", "inclusive")
REPLIES = ("direct", "via")
UNBLOCKS = ("response", "completion")
DATA = ("none", "victim", "inclusive")
LARGEST = (1 << 32) - 1  # of what is counted
MOST_GRANTS = 1 << 16


def _one_of(words: tuple[str, ...]) -> Meta:
    return Meta(pattern=f"^({'|'.join(words)})$")


Ps = Annotated[int, Meta(ge=0, le=LONGEST)]
SomePs = Annotated[int, Meta(ge=1, le=LONGEST)]
Place = Annotated[int, Meta(ge=0, lt=1 << 31)]  # of a stop or an agent in its list
MaybePlace = Annotated[int, Meta(ge=-1, lt=1 << 20)]  # -1: none
Count = Annotated[int, Meta(ge=0, le=LARGEST)]
Some = Annotated[int, Meta(ge=1, le=LARGEST)]


@dataclass(frozen=True, slots=True)
class Link:
    """One direction of a wire between two stops.

    A message's head needs `control`, `data` or `snoop` ps to cross (by its kind; never 0, so that
    no route leads in circles) and keeps the link's `channel` busy for the `*_busy` ps of its kind.
    Links that share a channel share one medium (a bus); channel -1 has no limit. `snoop` is the
    kind of probes and of answers without data: dedicated wires on a bus (busy 0), equal to
    `control` elsewhere.
    """

    source: Place
    target: Place
    control: Ps
    data: Ps
    snoop: Ps
    control_busy: Ps
    data_busy: Ps
    snoop_busy: Ps
    channel: MaybePlace
    level: str  # the level whose join owns the link: for statistics and drawings


@dataclass(frozen=True, slots=True)
class Core:
    """Costs in ps of one core and its private caches (L1 and L2 are one coherence controller)."""

    instruction: SomePs  # or a loop would last for ever at one time
    mispredict: Ps
    pause: Ps
    l1_hit: Ps  # of a load; a store costs an instruction
    l2_hit: Ps
    l1_sets: Some
    l1_ways: Some
    l2_sets: Count
    l2_ways: Count
    atomic: Ps  # an AMO, or an LR with its SC, that hits with sufficient rights
    hold: Ps  # least time a line just won exclusively stays
    store_buffer: Count  # entries of the core, divided by its harts
    smt_share: Annotated[
        int, Meta(ge=1, le=1000)
    ]  # speed of a hart whose siblings are active, in thousandths
    lr_exclusive: bool  # LR asks for ownership (x86-like) or a shared copy
    far_atomics: bool


@dataclass(frozen=True, slots=True)
class Kind:
    """Cores that differ from the others."""

    name: str
    cores: tuple[Place, ...]
    core: Core


@dataclass(frozen=True, slots=True)
class Resolver:
    """One point of ownership: a cache slice group, a snoop point or a home directory."""

    name: str  # "ccx3", "home0"
    level: str
    knows: Annotated[str, _one_of(KNOWS)]  # snoop | shadow-tags | directory | inclusive
    children: tuple[Place, ...]  # agents
    parents: tuple[
        Place, ...
    ]  # agents; one: the tree's; several: by home node of the line; (): root
    slices: tuple[Place, ...]  # stops; a line hashes to one of them
    reply: Annotated[str, _one_of(REPLIES)]  # direct | via
    unblock: Annotated[str, _one_of(UNBLOCKS)]  # response | completion
    service: Ps  # ps a slice is busy with a request before it acts
    grants: Annotated[
        int, Meta(ge=0, le=MOST_GRANTS)
    ]  # children served before a waiting probe from above
    entries: Count  # directory entries of `directory` and `inclusive` (0: no limit)
    ways: Count
    data: Annotated[str, _one_of(DATA)]  # none | victim | inclusive
    data_sets: Count  # of all slices together
    data_ways: Count
    data_hit: Ps  # ps from decision to the data leaving
    memory: MaybePlace  # root only: the node it homes when at="home", else -1 (by the line's home)
    grants_until: Ps = 0  # any number until the request behind the probe is so old
    lookup: Ps = 0  # ps to read from memory which child away from its node owns a line; 0: at hand
    near: tuple[Place, ...] = ()  # children at its own node, of whom it always knows


@dataclass(frozen=True, slots=True)
class Memory:
    """One memory node: `size` bytes at RAM base + index * size."""

    stop: Place
    latency: Ps
    busy: Ps  # ps a 64-byte transfer keeps the channel
    size: Annotated[int, Meta(ge=1, le=1 << 50)]


@dataclass(frozen=True, slots=True)
class Interrupt:
    """IPI costs in ps: sender busy, receiver's controller, entry to and exit from the trap."""

    send: Ps
    accept: Ps
    entry: Ps
    exit: Ps
    multicast: bool


@dataclass(frozen=True, slots=True)
class Number:
    """Where a resolved number came from: for `uncore show` and the count of fitted numbers."""

    key: str  # "socket.join.latency"
    text: str  # "32ns"
    source: str  # "fitted", "specification", a citation, "family zen1", "--with"
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class Machine:
    """A machine with all its numbers; see the module's head for the invariants."""

    id: str
    name: str
    protocol: str  # msi | mesi | mesif | moesi
    levels: tuple[str, ...]  # outermost first, ends ("core", "thread")
    shape: tuple[tuple[Place, ...], ...]  # per core: index of its ancestor at each level but thread
    threads_per_core: Some  # the most of any
    core: Core  # each of the cores, but for those of `kinds`; the machine's clock is theirs
    core_stops: tuple[Place, ...]
    resolvers: tuple[Resolver, ...]
    memories: tuple[Memory, ...]
    interrupt: Interrupt
    stops: tuple[str, ...]  # names, for drawings and link statistics
    links: tuple[Link, ...]
    cpus: str = "i"  # expression from OS CPU number i to hart number
    numbers: tuple[Number, ...] = field(default=(), compare=False)
    # Declared unknowns of the real machine (home, slice, order of cores): validation uses them.
    unknowns: tuple[tuple[str, str], ...] = ()
    kinds: tuple[Kind, ...] = ()
    threads: tuple[Some, ...] = ()  # of each core, where they have not all as many

    def __post_init__(self) -> None:
        refuse_unsound(self)

    @property
    def cores(self) -> int:
        return len(self.core_stops)

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
    def hart_cores(self) -> tuple[int, ...]:
        """Of each hart the core."""
        threads = self.threads or (self.threads_per_core,) * self.cores
        return tuple(core for core, many in enumerate(threads) for _ in range(many))

    @property
    def core_kinds(self) -> tuple[str, ...]:
        """Of each core the name of its kind; "core" where that is `core`."""
        names = {core: kind.name for kind in self.kinds for core in kind.cores}
        return tuple(names.get(core, "core") for core in range(self.cores))

    @property
    def kind_names(self) -> tuple[str, ...]:
        """Of the kinds that there are, "core" first."""
        names = ("core", *(kind.name for kind in self.kinds))
        return tuple(name for name in names if name in self.core_kinds)

    @property
    def each_core(self) -> tuple[Core, ...]:
        """The costs of each."""
        costs = {"core": self.core} | {kind.name: kind.core for kind in self.kinds}
        return tuple(costs[name] for name in self.core_kinds)

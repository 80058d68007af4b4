"""The resolved machine: every number an engine may read, and nothing left to decide.

A `Machine` is what `topology.load` returns: a frozen value in integers (picoseconds, bytes,
counts). Policy, defaults, units, families and names of clock domains are gone; engines execute
these numbers and know no machine by name.

Agents are numbered once: core c is agent c, resolver r is agent `len(cores) + r`. The fabric is one
flat directed graph: stops joined by links. Every agent sits at a stop (a resolver: one for each
slice). A route is the path of least summed `control` latency; among equal ones each stop takes the
lowest-numbered link, so the numbering of links *is* the tie-break (x before y in a mesh gives
dimension order, clockwise first in a ring).

Invariants: every stop reaches every other (`resolve` checks it); every core has a chain of
resolvers that ends at a root; exactly the root level has parents == () (`Machine.__post_init__`).
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Link:
    """One direction of a wire between two stops.

    A message's head needs `control`, `data` or `snoop` ps to cross (by its kind; never 0, so that
    no route leads in circles) and keeps the link's `channel` busy for the `*_busy` ps of its kind.
    Links that share a channel share one medium (a bus); channel -1 has no limit. `snoop` is the
    kind of probes and of answers without data: dedicated wires on a bus (busy 0), equal to
    `control` elsewhere.
    """

    source: int
    target: int
    control: int
    data: int
    snoop: int
    control_busy: int
    data_busy: int
    snoop_busy: int
    channel: int
    level: str  # the level whose join owns the link: for statistics and drawings


@dataclass(frozen=True, slots=True)
class Core:
    """Costs in ps of one core and its private caches (L1 and L2 are one coherence controller)."""

    instruction: int
    mispredict: int
    pause: int
    l1_hit: int  # of a load; a store costs an instruction
    l2_hit: int
    l1_sets: int
    l1_ways: int
    l2_sets: int
    l2_ways: int
    atomic: int  # an AMO, or an LR with its SC, that hits with sufficient rights
    hold: int  # least time a line just won exclusively stays
    store_buffer: int  # entries of the core, divided by its harts
    smt_share: int  # speed of a hart whose siblings are active, in thousandths
    lr_exclusive: bool  # LR asks for ownership (x86-like) or a shared copy
    far_atomics: bool


@dataclass(frozen=True, slots=True)
class Resolver:
    """One point of ownership: a cache slice group, a snoop point or a home directory."""

    name: str  # "ccx3", "home0"
    level: str
    knows: str  # snoop | shadow-tags | directory | inclusive
    children: tuple[int, ...]  # agents
    parents: tuple[int, ...]  # agents; one: the tree's; several: by home node of the line; (): root
    slices: tuple[int, ...]  # stops; a line hashes to one of them
    reply: str  # direct | via
    unblock: str  # response | completion
    service: int  # ps a slice is busy with a request before it acts
    grants: int  # children served before a waiting probe from above
    entries: int  # directory entries of `directory` and `inclusive` (0: no limit)
    ways: int
    data: str  # none | victim | inclusive
    data_sets: int  # of all slices together
    data_ways: int
    data_hit: int  # ps from decision to the data leaving
    memory: int  # root only: the node it homes when at="home", else -1 (by the line's home)


@dataclass(frozen=True, slots=True)
class Memory:
    """One memory node: `size` bytes at RAM base + index * size."""

    stop: int
    latency: int
    busy: int  # ps a 64-byte transfer keeps the channel
    size: int


@dataclass(frozen=True, slots=True)
class Interrupt:
    """IPI costs in ps: sender busy, receiver's controller, entry to and exit from the trap."""

    send: int
    accept: int
    entry: int
    exit: int
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
    shape: tuple[tuple[int, ...], ...]  # per core: index of its ancestor at each level but thread
    threads_per_core: int
    core: Core
    core_stops: tuple[int, ...]
    resolvers: tuple[Resolver, ...]
    memories: tuple[Memory, ...]
    interrupt: Interrupt
    stops: tuple[str, ...]  # names, for drawings and link statistics
    links: tuple[Link, ...]
    cpus: str = "i"  # expression from OS CPU number i to hart number
    numbers: tuple[Number, ...] = field(default=(), compare=False)
    # Declared unknowns of the real machine (home, slice, order of cores): validation uses them.
    unknowns: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        """The invariants of the module's head; `resolve` words what a user can do about them."""
        stops = range(len(self.stops))
        seats = [*self.core_stops, *(memory.stop for memory in self.memories)]
        seats += [stop for resolver in self.resolvers for stop in resolver.slices]
        assert all(seat in stops for seat in seats)
        for agent, resolver in enumerate(self.resolvers, start=self.cores):
            assert resolver.slices and all(child < agent for child in resolver.children)
        assert len({r.level for r in self.resolvers if not r.parents}) == 1
        children = {child for resolver in self.resolvers for child in resolver.children}
        assert children.issuperset(range(self.cores))

    @property
    def cores(self) -> int:
        return len(self.core_stops)

    @property
    def harts(self) -> int:
        return self.cores * self.threads_per_core

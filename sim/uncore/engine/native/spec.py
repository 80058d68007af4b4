"""Inputs of the native engine other than the machine.

Like those of machine.py, these classes are declared here only: the engine's structs and the code
that reads them are generated from them (sim/native/spec).
"""

from typing import Annotated

from msgspec import Meta

from uncore.topology.parts import Chance, System
from uncore.topology.schema import INT32, Count, Form, field, one_of, part

NO_LIMIT = (1 << 64) - 1
WATCHED = ("begins", "ends", "operates", "first", "second", "product")
HOMES = ("addressed", "node", "interleave", "first-touch")

Address = Annotated[int, Meta(ge=0, le=NO_LIMIT)]
Wait = Annotated[int, Meta(ge=0, le=NO_LIMIT), Form.DURATION]
MaybeSlice = Annotated[int, Meta(ge=-1, lt=1 << 31), INT32]


@part
class Home:
    """Home policy of memory pages (rule A4)."""

    kind: Annotated[str, one_of(HOMES)] = field(
        "whether by address, on one node, dealt out, or as touched"
    )
    node: Count = field("node of kind `node`; the first of those that are dealt out to")
    nodes: Count = field("how many are dealt out to", default=1)


@part
class Segment:
    """A part of the guest's initial memory."""

    address: Address = field("address of its first byte")
    data: bytes = field("bytes from there")


@part
class Span:
    """A range of bytes."""

    address: Address = field("address of the first byte")
    size: Address = field("how many")


@part
class Move:
    """A range of bytes that the engine moves to another address (docs/whatif.md)."""

    address: Address = field("address of the first byte")
    size: Address = field("how many")
    to: Address = field("where the first one is")


@part
class Trace:
    """Selection of the events that are recorded (observe/trace.hh)."""

    on: bool = field("whether anything is")
    start: Wait = field("from when, ps")
    until: Wait = field("until when, ps")
    lines: tuple[Address, ...] = field("an address on each line that is traced; none: all lines")


@part
class Area:
    """Memory that is mapped when a process begins."""

    address: Address = field("address of its first byte, at a page")
    size: Address = field("whole pages, in bytes")
    rights: Count = field("sum of 1 (read), 2 (write), 4 (execute)")


@part
class File:
    """A file that a process may read."""

    path: bytes = field("path from the root")
    data: bytes = field("what is in it")


@part
class Watch:
    """A function whose calls the engine watches (sim/native/core/watches.hh)."""

    address: Address = field("of its first instruction")
    what: Annotated[str, one_of(WATCHED)] = field(
        "what is measured begins or ends, or an operation; or memory is allocated: so many bytes as"
        " its first argument says, its second, or their product"
    )


@part
class Process:
    """A Linux program's process, without its memory."""

    present: bool = field("false: the program is bare metal, and the rest says nothing")
    costs: System = field("what the system costs", default=System())
    free: bool = field("whether the system's own locks are left out too", default=False)
    areas: tuple[Area, ...] = field("its memory when it begins", default=())
    heap: Address = field("where its heap begins", default=0)
    stack: Address = field("first stack pointer", default=0)
    stack_size: Address = field("most bytes of that stack", default=0)
    returns: Address = field("where a handler of signals returns to", default=0)
    files: tuple[File, ...] = field("files", default=())
    name: bytes = field("path of the program", default=b"")
    words: bytes = field("its argv, each word with a zero behind it", default=b"")
    nodes: tuple[Count, ...] = field("memory node of each hart", default=())
    strict: bool = field("whether a call that is not there ends the run", default=False)
    strace: bool = field("whether its calls are noted", default=False)
    watches: tuple[Watch, ...] = field("functions that are watched", default=())
    unmarked: bool = field("no thread says where what is measured begins: all is", default=False)


@part
class Boot:
    """Inputs of an operating system's kernel in supervisor mode, without its memory."""

    present: bool = field("false: the program is no such kernel, and the rest says nothing")
    tree: Address = field("address of its device tree", default=0)
    files: Address = field("address of the harts' interrupt files, a page each", default=0)
    aplic: Address = field("address of the interrupt controller of devices", default=0)


@part
class Job:
    """A program with its placement and policies."""

    protocol: tuple[Count, ...] = field("tables of the machine's protocol, packed")
    placement: tuple[Count, ...] = field("hart of each thread, by its position in the machine")
    segments: tuple[Segment, ...] = field("memory that is not zero")
    entry: Address = field("address where every thread begins")
    text_begin: Address = field("address of the code")
    text_size: Address = field("bytes of code")
    stacks: Address = field("address of stacks; that of thread t is at stacks + t * stack_stride")
    stack_stride: Address = field("bytes from one stack to the next")
    stack_guard: Address = field("bytes at the bottom of each that its stack pointer may not enter")
    home: Home = field("where lines live")
    slice: MaybeSlice = field("slice that owns every line; -1: as the line hashes")
    free: tuple[Span, ...] = field("lines that cost nothing (docs/whatif.md), by address")
    moves: tuple[Move, ...] = field("bytes that are kept elsewhere (docs/whatif.md), by address")
    watchdog: Wait = field("simulated time without an operation that ends the run")
    seed: Address = field("what draws come from (V2)")
    chance: Chance = field("how large they may be; all 0 where the run has no seed")
    lookahead: Wait = field("longest time a core runs ahead; results do not depend on it")
    sleep: bool = field("whether waiting harts are passed over (S1); results do not depend on it")
    fences: bool = field("false: FENCE does nothing, so that a test sees that it is missed")
    log: bool = field("whether the transaction log (L) is kept")
    accesses: bool = field("whether it is kept what harts of weakly ordered cores saw (H8)")
    trace: Trace = field("what is traced; there are a log and an attribution then")
    process: Process = field("the program's process")
    lines: bool = field("whether every access is attributed to its line and instruction")
    boot: Boot = field("the program's firmware", default=Boot(False))

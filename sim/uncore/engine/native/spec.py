"""Declares the inputs of the native engine other than the machine.

The engine's C++ structs, and the code that reads them, are generated from these classes and from
those of machine.py (sim/native/spec).
"""

from typing import Annotated

from msgspec import Meta

from uncore.topology.parts import Chance, System
from uncore.topology.schema import INT32, Count, Form, field, one_of, part

NO_LIMIT = (1 << 64) - 1
WATCH_KINDS = ("begins", "ends", "operates", "first", "second", "product")
HOME_KINDS = ("addressed", "node", "interleave", "first-touch")

Address = Annotated[int, Meta(ge=0, le=NO_LIMIT)]
Wait = Annotated[int, Meta(ge=0, le=NO_LIMIT), Form.DURATION]
MaybeSlice = Annotated[int, Meta(ge=-1, lt=1 << 31), INT32]


@part
class Home:
    """Home policy of memory pages (rule A4)."""

    kind: Annotated[str, one_of(HOME_KINDS)] = field(
        "policy: by address, on one node, interleaved over nodes, or by first touch"
    )
    node: Count = field("the node of kind `node`; the first node of kind `interleave`")
    nodes: Count = field("number of nodes that pages are interleaved over", default=1)


@part
class Segment:
    """A part of the guest's initial memory."""

    address: Address = field("address of its first byte")
    data: bytes = field("its contents")


@part
class Span:
    """A range of bytes."""

    address: Address = field("address of the first byte")
    size: Address = field("number of bytes")


@part
class Move:
    """A range of bytes that the engine moves to another address (docs/whatif.md)."""

    address: Address = field("address of the first byte")
    size: Address = field("number of bytes")
    to: Address = field("new address of the first byte")


@part
class Trace:
    """Selection of the events that are recorded (observe/trace.hh)."""

    on: bool = field("true: events are recorded")
    start: Wait = field("start of the recorded time, ps")
    until: Wait = field("end of the recorded time, ps")
    lines: tuple[Address, ...] = field(
        "an address on each line whose events are recorded; empty: all lines"
    )


@part
class Area:
    """Memory that is mapped when a process begins."""

    address: Address = field("address of its first byte, which begins a page")
    size: Address = field("number of bytes: whole pages")
    rights: Count = field("sum of 1 (read), 2 (write), 4 (execute)")


@part
class File:
    """A file that a process may read."""

    path: bytes = field("path from the root folder")
    data: bytes = field("its contents")


@part
class Watch:
    """A function whose calls the engine watches (sim/native/core/watches.hh)."""

    address: Address = field("address of its first instruction")
    what: Annotated[str, one_of(WATCH_KINDS)] = field(
        "meaning of a call: the measured part begins or ends, an operation is counted, or memory"
        " is allocated, whose size in bytes is the first argument, the second, or their product"
    )


@part
class Process:
    """A Linux program's process, without its memory."""

    present: bool = field("false: the program runs on bare metal, and the other fields are unused")
    costs: System = field("costs of the operating system", default=System())
    free: bool = field("true: the kernel's own locks cost nothing, too", default=False)
    areas: tuple[Area, ...] = field("memory that is mapped at the start", default=())
    heap: Address = field("start address of the heap", default=0)
    stack: Address = field("initial stack pointer", default=0)
    stack_size: Address = field("size limit of that stack in bytes", default=0)
    returns: Address = field("return address of signal handlers", default=0)
    files: tuple[File, ...] = field("files that it may read", default=())
    name: bytes = field("path of the program", default=b"")
    words: bytes = field("its argv: words that end in a zero byte each", default=b"")
    nodes: tuple[Count, ...] = field("memory node of each hart", default=())
    strict: bool = field("true: an unsupported system call ends the run", default=False)
    strace: bool = field("true: its system calls are recorded", default=False)
    watches: tuple[Watch, ...] = field("functions whose calls are watched", default=())
    unmarked: bool = field(
        "true: no marker and no function begins the measured part, so all of the run is measured",
        default=False,
    )


@part
class Boot:
    """Inputs of an operating system's kernel in supervisor mode, without its memory."""

    present: bool = field("false: the program is no such kernel, and the other fields are unused")
    tree: Address = field("address of its device tree", default=0)
    files: Address = field("address of the harts' interrupt files, a page each", default=0)
    aplic: Address = field("address of the interrupt controller of devices", default=0)


@part
class Job:
    """A program with its placement and policies."""

    protocol: tuple[Count, ...] = field("tables of the machine's protocol, packed")
    placement: tuple[Count, ...] = field("hart of each thread, by its position in the machine")
    segments: tuple[Segment, ...] = field("initial memory that is not zero")
    entry: Address = field("address where every thread begins")
    text_begin: Address = field("address of the code")
    text_size: Address = field("size of the code in bytes")
    stacks: Address = field("address of stacks; that of thread t is at stacks + t * stack_stride")
    stack_stride: Address = field("bytes from one stack to the next")
    stack_guard: Address = field("bytes at the bottom of each that its stack pointer may not enter")
    home: Home = field("home policy of lines")
    slice: MaybeSlice = field("slice that owns every line; -1: chosen by a hash of the line")
    free: tuple[Span, ...] = field(
        "lines whose coherence costs nothing (docs/whatif.md), by address"
    )
    moves: tuple[Move, ...] = field(
        "bytes that are moved to other lines (docs/whatif.md), by address"
    )
    watchdog: Wait = field("simulated time without an operation that ends the run")
    seed: Address = field("seed of random draws (V2)")
    chance: Chance = field("limits of random draws; all 0 if the run has no seed")
    lookahead: Wait = field("longest time a core runs ahead; results do not depend on it")
    sleep: bool = field("true: waiting harts are skipped (S1); results do not depend on it")
    fences: bool = field("false: FENCE does nothing, for tests that must notice its absence")
    log: bool = field("true: the transaction log (L) is recorded")
    accesses: bool = field("true: accesses of weakly ordered harts are recorded (H8)")
    trace: Trace = field("selection of traced events; a trace needs `log` and `lines`")
    process: Process = field("the program's process")
    lines: bool = field("true: every access is attributed to its line and instruction")
    boot: Boot = field("the program's firmware", default=Boot(False))

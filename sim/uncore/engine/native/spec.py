"""What the native engine is told of a run beside the machine.

Like those of machine.py, these classes are declared here only: the engine's structs and the code
that reads them are made from them (sim/native/spec).
"""

from typing import Annotated

from msgspec import Meta

from uncore.topology.schema import INT32, Count, Form, field, one_of, part

NO_LIMIT = (1 << 64) - 1
HOMES = ("addressed", "node", "interleave", "first-touch")

Address = Annotated[int, Meta(ge=0, le=NO_LIMIT)]
Span = Annotated[int, Meta(ge=0, le=NO_LIMIT), Form.DURATION]
MaybeSlice = Annotated[int, Meta(ge=-1, lt=1 << 31), INT32]


@part
class Home:
    """Where the pages of memory live (rule A4)."""

    kind: Annotated[str, one_of(HOMES)] = field("by address, on one node, dealt out, or as touched")
    node: Count = field("the one node")


@part
class Segment:
    """A part of the memory that the guest finds."""

    address: Address = field("of the first byte")
    data: bytes = field("from there")


@part
class Job:
    """A program in its place."""

    protocol: tuple[Count, ...] = field("the tables of the machine's protocol, packed")
    placement: tuple[Count, ...] = field("of thread t: its hart's position in the machine")
    segments: tuple[Segment, ...] = field("all that is not zero")
    entry: Address = field("where every thread begins")
    text_begin: Address = field("of the code")
    text_size: Address = field("of the code")
    stacks: Address = field("of thread t: from stacks + t * stack_stride up")
    stack_stride: Address = field("from one to the next")
    stack_guard: Address = field("bytes at the bottom of each that no thread may touch")
    home: Home = field("of what is not where its address says")
    slice: MaybeSlice = field("that owns every line; -1: as the line hashes")
    watchdog: Span = field("simulated time without an operation that ends the run")
    lookahead: Span = field("that a core may run ahead; results do not depend on it")
    sleep: bool = field("whether waiting harts are passed over (S1); results do not depend on it")
    fences: bool = field("false: FENCE does nothing, so that a test sees that it is missed")
    log: bool = field("whether the transaction log (L) is kept")
    lines: bool = field("whether every access is attributed to its line and instruction")

"""Makes the initial state of a Linux program: its stack, its memory, and its files.

`process(job, observers)` and `image(job)` are for the engine; `argv(job)` is the program's argv.

Invariant: the initial state is a function of the job alone.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import TYPE_CHECKING

from uncore.engine.native import spec
from uncore.engine.native.machine_files import machine_files
from uncore.errors import UserError
from uncore.program.elf import USER_END, Segment
from uncore.topology.parts import System
from uncore.topology.route import nearest_memories

if TYPE_CHECKING:
    from uncore.engine import Observers
    from uncore.job import Job
    from uncore.program.program import Image

PAGE_BYTES = 4096
STACK_SIZE = 8 << 20  # the usual value of `ulimit -s`
STACK_TOP = USER_END - (1 << 20)
SIGNAL_RETURN = USER_END - PAGE_BYTES  # return address of signal handlers: li a7, 139; ecall
RETURN_CODE = struct.pack("<II", 0x08B00893, 0x00000073)
ENVIRONMENT = ("PATH=/bin", "HOME=/files", "LANG=C")
FILES_FOLDER = "/files"  # --files DIR
STANDARD_INPUT = "/dev/stdin"  # open as descriptor 0 (sim/native/os/files.hh)

_AUXILIARY = {
    "phdr": 3, "phent": 4, "phnum": 5, "pagesz": 6, "base": 7, "flags": 8, "entry": 9, "uid": 11,
    "euid": 12, "gid": 13, "egid": 14, "hwcap": 16, "clktck": 17, "secure": 23, "random": 25,
    "execfn": 31,
}  # fmt: skip
_USER_ID = 1000
_HWCAP = sum(1 << (ord(letter) - ord("A")) for letter in "IMAFDC")


# functions that allocate memory, with the arguments that give its size; other allocators call one
# of them
_ALLOCATORS = {
    "malloc": "first", "calloc": "product", "realloc": "second", "aligned_alloc": "second",
    "memalign": "second", "runtime.mallocgc": "first",
}  # fmt: skip


def process(job: Job, observers: Observers) -> spec.Process:
    """Returns the process as the native kernel reads it."""
    costs = System(quantum=job.machine.os.quantum) if job.system == "free" else job.machine.os
    harts = job.used_harts
    files = {_program_path(job): job.program.data}  # /proc/self/exe is a link to this path
    files |= {f"{FILES_FOLDER}/{path}": data for path, data in job.files} | machine_files(job)
    if job.stdin:
        files[STANDARD_INPUT] = job.stdin
    return spec.Process(
        present=True,
        costs=costs,
        free=job.system == "free",
        areas=tuple(_areas(job)),
        heap=_align_up(max(s.address + s.size for s in job.program.segments)) + PAGE_BYTES,
        stack=_stack(job)[0],
        stack_size=STACK_SIZE,
        returns=SIGNAL_RETURN,
        files=tuple(spec.File(path.encode(), data) for path, data in sorted(files.items())),
        name=_program_path(job).encode(),
        words=b"".join(word.encode() + b"\0" for word in argv(job)),
        nodes=tuple(nearest_memories(job.machine, harts)),
        strict=job.strict_calls,
        strace="calls" in observers,
        watches=tuple(_watches(job, "lines" in observers)),
        unmarked=job.unmarked,
    )


def _watches(job: Job, allocations: bool) -> Iterator[spec.Watch]:
    """Yields the functions to watch: those that the job names, and if `allocations`, the
    allocators. An allocator with several names is watched once.
    """
    for kind, name in job.functions.items():
        addresses = job.program.functions(name) if name else ()
        yield from (spec.Watch(address, kind) for address in addresses)
    if allocations:
        allocators = {
            s.address: _ALLOCATORS[s.name] for s in job.program.symbols if s.name in _ALLOCATORS
        }
        yield from (spec.Watch(address, kind) for address, kind in allocators.items())


def image(job: Job) -> tuple[Image, Segment]:
    """Returns the initial memory, without the parts that are zero, and the segment of its code."""
    loaded = [(s.address, s.data) for s in job.program.segments if s.data]
    executable = [s for s in job.program.segments if s.rights & 4]
    begin = min(s.address for s in executable)
    size = max(s.address + s.size for s in executable) - begin
    return [*loaded, _stack(job), (SIGNAL_RETURN, RETURN_CODE)], Segment(
        begin, size, 0, bytes(size)
    )


def _areas(job: Job) -> list[spec.Area]:
    areas = [
        spec.Area(
            _align_down(s.address), _align_up(s.address + s.size) - _align_down(s.address), s.rights
        )
        for s in job.program.segments
    ]
    stack = spec.Area(STACK_TOP - STACK_SIZE, STACK_SIZE, 3)
    return [*areas, stack, spec.Area(SIGNAL_RETURN, PAGE_BYTES, 5)]


def _align_up(address: int) -> int:
    return -(-address // PAGE_BYTES) * PAGE_BYTES


def _align_down(address: int) -> int:
    return address // PAGE_BYTES * PAGE_BYTES


def _program_path(job: Job) -> str:
    return f"{FILES_FOLDER}/{job.program.path.stem}"


def argv(job: Job) -> list[str]:
    """Returns the program's argument vector."""
    threads = str(job.threads[0])
    return [_program_path(job), *(word.replace("{threads}", threads) for word in job.arguments)]


def _stack(job: Job) -> tuple[int, bytes]:
    """Returns the address of the initial stack, and its contents: argc, argv, envp, the auxiliary
    vector, and the texts to which they point.
    """
    texts = [text.encode() + b"\0" for text in (*argv(job), *ENVIRONMENT)]
    random_bytes = bytes(
        (job.seed or 0) * 0x9E3779B97F4A7C15 >> 8 * (i % 8) & 255 for i in range(16)
    )
    address = STACK_TOP - PAGE_BYTES - sum(map(len, texts)) - len(random_bytes)
    text_addresses = [
        address + len(random_bytes) + sum(map(len, texts[:i])) for i in range(len(texts))
    ]
    arguments, environment = text_addresses[: len(argv(job))], text_addresses[len(argv(job)) :]
    headers, header_count = job.program.headers
    vector = {
        "phdr": headers,
        "phent": 56,
        "phnum": header_count,
        "pagesz": PAGE_BYTES,
        "base": 0,
        "flags": 0,
    }
    vector |= {"entry": job.program.entry, "hwcap": _HWCAP, "clktck": 100, "secure": 0}
    vector |= dict.fromkeys(("uid", "euid", "gid", "egid"), _USER_ID)
    vector |= {"random": address, "execfn": text_addresses[0]}
    pairs = [word for name, value in vector.items() for word in (_AUXILIARY[name], value)]
    table = [len(arguments), *arguments, 0, *environment, 0, *pairs, 0, 0]
    top = (address - 8 * len(table)) // 16 * 16
    if top < STACK_TOP - STACK_SIZE // 4:
        raise UserError("the program's arguments are longer than a quarter of its stack")
    head = struct.pack(f"<{len(table)}Q", *table)
    return top, head.ljust(address - top, b"\0") + random_bytes + b"".join(texts)

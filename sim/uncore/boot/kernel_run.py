"""Prepares the run of a kernel: puts its images into memory, and makes the engine's job.

The kernel is at the beginning of RAM, followed by the device tree and the initial RAM disk.
"""

from __future__ import annotations

from dataclasses import dataclass

from uncore._native import Run
from uncore.boot.device_tree import APLIC, INTERRUPT_FILES, RAM_BASE, BootInfo, TreeMemory, tree
from uncore.boot.images import Kernel
from uncore.engine.native import NO_TRACE, spec
from uncore.errors import UserError
from uncore.protocol import tables
from uncore.topology.machine import Chance, Machine

CONSOLE = "earlycon=sbi console=ttyS0 panic=-1"
LARGE_PAGE_BYTES = 2 << 20  # size of the large pages with which the kernel maps itself


@dataclass(frozen=True)
class Boot:
    """All inputs that decide a kernel's run."""

    machine: Machine
    harts: tuple[int, ...]  # harts of the machine, in the order of the kernel's numbers
    kernel: Kernel
    initrd: bytes = b""
    append: str = ""
    memory: int = 512 << 20  # bytes, divided among the machine's nodes in proportion to their sizes
    # Number of NUMA nodes that the kernel sees. Each consists of neighbouring memory nodes of the
    # machine. 0: one for each of them.
    nodes: int = 0


def start(boot: Boot, lookahead: int = spec.NO_LIMIT, sleep: bool = True) -> Run:
    """Returns the run before its first instruction."""
    return Run(*parts(boot, lookahead, sleep))


def parts(
    boot: Boot, lookahead: int = spec.NO_LIMIT, sleep: bool = True
) -> tuple[Machine, spec.Job]:
    """Returns the machine and the job that the engine executes."""
    if any(core.order == "weak" for core in boot.machine.each_core):
        raise UserError(
            f"{boot.machine.id}: core.order = weak: a kernel runs where memory is ordered totally;"
            " write --with core.order=tso"
        )
    entry = RAM_BASE + boot.kernel.offset
    tree_address = _align_up(entry + boot.kernel.size)
    initrd_address = tree_address + LARGE_PAGE_BYTES
    initrd_end = initrd_address + len(boot.initrd)
    nodes = memory_of_nodes(boot)
    if initrd_end > nodes[0].address + nodes[0].size:
        raise UserError(
            f"--memory: kernel and initrd take {initrd_end - RAM_BASE >> 20} MiB, and"
            f" node 0 has {nodes[0].size >> 20} MiB; write --memory with more"
        )
    initrd = (initrd_address, initrd_end) if boot.initrd else None
    boot_info = BootInfo(f"{CONSOLE} {boot.append}".strip(), nodes, initrd)
    images = [(entry, boot.kernel.data), (tree_address, tree(boot.machine, boot.harts, boot_info))]
    if boot.initrd:
        images.append((initrd_address, boot.initrd))
    return boot.machine, _job(boot, images, (entry, tree_address), lookahead, sleep)


def _job(
    boot: Boot,
    images: list[tuple[int, bytes]],
    entry_and_tree: tuple[int, int],
    lookahead: int,
    sleep: bool,
) -> spec.Job:
    return spec.Job(
        protocol=tuple(tables.pack(tables.of(boot.machine.protocol, boot.machine.tables))),
        placement=boot.harts,
        segments=tuple(spec.Segment(address, data) for address, data in images),
        entry=entry_and_tree[0],
        text_begin=0,
        text_size=0,
        stacks=0,
        stack_stride=0,
        stack_guard=0,
        home=spec.Home("addressed", 0),
        slice=-1,
        free=(),
        moves=(),
        watchdog=0,
        seed=0,
        chance=Chance(),
        lookahead=lookahead,
        sleep=sleep,
        fences=True,
        log=False,
        accesses=False,
        trace=NO_TRACE,
        process=spec.Process(False),
        boot=spec.Boot(True, entry_and_tree[1], INTERRUPT_FILES, APLIC),
        lines=False,
    )


def memory_of_nodes(boot: Boot) -> tuple[TreeMemory, ...]:
    """Returns the memory that the kernel may use on each machine node, and the kernel's node
    number.
    """
    memories, span = boot.machine.memories, boot.machine.node_span
    node_count, total = len(memories), sum(memory.size for memory in memories)
    nodes = []
    for number, node in enumerate(memories):
        kernel_node = number * (boot.nodes or node_count) // node_count
        share = boot.memory * node.size // total // LARGE_PAGE_BYTES * LARGE_PAGE_BYTES
        nodes.append(TreeMemory(RAM_BASE + number * span, min(share, node.size), kernel_node))
    return tuple(nodes)


def _align_up(address: int) -> int:
    return -(-address // LARGE_PAGE_BYTES) * LARGE_PAGE_BYTES

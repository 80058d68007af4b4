"""The machine's device tree: harts, caches and the harts that share them, memory nodes.

Hart h is the h-th hart of the placement. A cluster is the innermost group that contains a core. The
distance of two memory nodes is the latency of a read on an idle fabric, relative to a local read,
which is 10.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha512
from typing import TYPE_CHECKING, Any, NamedTuple

from uncore.boot.flattened_tree import Tree, flat, two_cells
from uncore.engine.initial_memory import TIMEBASE_HZ, UNPRIVILEGED_EXTENSIONS, isa
from uncore.program.abi import CONSTANTS
from uncore.topology.route import Routes, nearest_memories

if TYPE_CHECKING:
    from uncore.topology.machine import Machine

RAM_BASE = 0x80000000
UART = CONSTANTS["UC_UART_BASE"]
# addresses of the interrupt files and of the APLIC, as on QEMU's `virt`
INTERRUPT_FILES, APLIC = 0x28000000, 0x0D000000
EXTENSIONS = (*UNPRIVILEGED_EXTENSIONS, "ssaia", "sstc", "svadu")
# Seeds Linux's random numbers. Until they are ready, each system call would draw one under a global
# lock.
RANDOM_SEED = sha512(b"uncore").digest()
_LOCAL_DISTANCE, _MAX_DISTANCE = 10, 254  # range of distances of memory nodes (ACPI 6.5, 5.2.17)
# first phandle of each kind of node
_CONTROLLERS, _PRIVATE_CACHES, _SHARED_CACHES, _CPUS = 0x1000, 0x2000, 0x3000, 0x4000
_FILES, _APLIC = 0x5000, 0x5001
_EXTERNAL_INTERRUPT = 9  # a hart's supervisor external interrupt (bit of sip)
_LEVEL_HIGH = 4  # IRQ_TYPE_LEVEL_HIGH
_IDENTITIES = 63  # interrupt identities of an interrupt file


class TreeMemory(NamedTuple):
    address: int
    size: int
    node: int  # node number that the kernel sees


@dataclass(frozen=True)
class BootInfo:
    """The part of a kernel's device tree that does not describe the machine."""

    arguments: str
    memory: tuple[TreeMemory, ...]
    initrd: tuple[int, int] | None  # addresses of the first byte, and after the last byte


def tree(machine: Machine, harts: tuple[int, ...], info: BootInfo) -> bytes:
    return flat(tree_of_machine(machine, harts, info), 0)


def tree_of_machine(machine: Machine, harts: tuple[int, ...], info: BootInfo) -> Tree:
    chosen_node: dict[str, object] = {
        "bootargs": info.arguments,
        "stdout-path": f"/soc/serial@{UART:x}",
        "rng-seed": RANDOM_SEED,
    }
    if info.initrd:
        first, last = info.initrd
        chosen_node |= {"linux,initrd-start": two_cells(first), "linux,initrd-end": two_cells(last)}
    root: dict[str, object] = {
        "#address-cells": 2,
        "#size-cells": 2,
        "compatible": "uncore",
        "model": f"uncore,{machine.id}",
        "chosen": chosen_node,
        "cpus": _cpus(machine, harts, info),
        "soc": {
            "#address-cells": 2,
            "#size-cells": 2,
            "compatible": "simple-bus",
            "ranges": b"",
            **_devices(len(harts)),
        },
    }
    for address, size, node in info.memory:
        root[f"memory@{address:x}"] = {
            "device_type": "memory",
            "reg": [*two_cells(address), *two_cells(size)],
            "numa-node-id": node,
        }
    if info.memory[-1].node:
        root["distance-map"] = _distances(machine, info)
    return root  # type: ignore[return-value]


def _devices(harts: int) -> dict[str, Tree]:
    return {
        f"serial@{UART:x}": {
            "compatible": "ns16550a",
            "reg": [*two_cells(UART), *two_cells(8)],
            "clock-frequency": 3_686_400,
            "interrupts-extended": [_APLIC, 1, _LEVEL_HIGH],
        },
        f"interrupt-controller@{APLIC:x}": {
            "compatible": "riscv,aplic",
            "reg": [*two_cells(APLIC), *two_cells(0x4000)],
            "interrupt-controller": b"",
            "#interrupt-cells": 2,
            "msi-parent": _FILES,
            "riscv,num-sources": 1,
            "phandle": _APLIC,
        },
        f"interrupt-controller@{INTERRUPT_FILES:x}": {
            "compatible": "riscv,imsics",
            "reg": [*two_cells(INTERRUPT_FILES), *two_cells(harts << 12)],
            "interrupt-controller": b"",
            "#interrupt-cells": 0,
            "msi-controller": b"",
            "#msi-cells": 0,
            "interrupts-extended": [
                word for hart in range(harts) for word in (_CONTROLLERS + hart, _EXTERNAL_INTERRUPT)
            ],
            "riscv,num-ids": _IDENTITIES,
            "phandle": _FILES,
        },
    }


def _distances(machine: Machine, info: BootInfo) -> Tree:
    """Returns the distances between the kernel's nodes. Each is the mean over the pairs of machine
    nodes that the two kernel nodes contain.
    """
    routes, memories = Routes(machine), machine.memories

    def read_latency(a: int, b: int) -> int:
        stop_a, stop_b = memories[a].stop, memories[b].stop
        travel_time = routes.message("control", stop_a, stop_b) + routes.message(
            "data", stop_b, stop_a
        )
        return travel_time + memories[b].hit

    def machine_nodes(node: int) -> list[int]:
        return [number for number, memory in enumerate(info.memory) if memory.node == node]

    def distance(a: int, b: int) -> int:
        pairs = [(p, q) for p in machine_nodes(a) for q in machine_nodes(b)]
        ratio = sum(
            read_latency(*pair) / max(1, read_latency(pair[0], pair[0])) for pair in pairs
        ) / len(pairs)
        return (
            _LOCAL_DISTANCE
            if a == b
            else min(max(round(_LOCAL_DISTANCE * ratio), _LOCAL_DISTANCE + 1), _MAX_DISTANCE)
        )

    kernel_nodes = range(info.memory[-1].node + 1)
    matrix = [word for a in kernel_nodes for b in kernel_nodes for word in (a, b, distance(a, b))]
    return {"compatible": "numa-distance-map-v1", "distance-matrix": matrix}


def _cpus(machine: Machine, harts: tuple[int, ...], info: BootInfo) -> Tree:
    nodes = [info.memory[node].node for node in nearest_memories(machine, harts)]
    cores = [machine.core_of(hart) for hart in harts]
    caches = {core: _caches(machine, core) for core in dict.fromkeys(cores)}
    # phandle -> cache-level. A shared cache is above the inner caches of every core that shares it.
    levels: dict[int, int] = {}
    for core_caches in caches.values():
        for level, cache in enumerate(core_caches, start=2):
            levels[cache.handle] = max(level, levels.get(cache.handle, 0))
    cpus: dict[str, object] = {
        "#address-cells": 1,
        "#size-cells": 0,
        "timebase-frequency": TIMEBASE_HZ,
        "cpu-map": cpu_map(machine, cores),
    }
    for number, core in enumerate(cores):
        first_cache = caches[core][0].handle if caches[core] else None
        cpus[f"cpu@{number:x}"] = _cpu(machine, core, number, nodes[number], first_cache)
    for core_caches in caches.values():
        for cache, outer in zip(core_caches, [*core_caches[1:], None], strict=True):
            level = levels[cache.handle]
            cpus[f"l{level}-cache-{cache.handle:x}"] = _cache(level, cache, outer, machine.line)
    return cpus  # type: ignore[return-value]


class _Cache(NamedTuple):
    handle: int
    sets: int
    ways: int


def _caches(machine: Machine, core: int) -> list[_Cache]:
    """Returns the caches outside a core's L1, innermost first."""
    costs, caches, agent = machine.each_core[core], [], core
    if costs.l2_sets:
        caches.append(_Cache(_PRIVATE_CACHES + core, costs.l2_sets, costs.l2_ways))
    for number, resolver in enumerate(machine.resolvers):  # inner levels first
        if agent in resolver.children:
            agent = machine.cores + number
            if resolver.data_sets:
                caches.append(
                    _Cache(_SHARED_CACHES + number, resolver.data_sets, resolver.data_ways)
                )
    return caches


def _cpu(machine: Machine, core: int, number: int, node: int, next_cache: int | None) -> Tree:
    costs = machine.each_core[core]
    return {
        "device_type": "cpu",
        "reg": number,
        "phandle": _CPUS + number,
        "status": "okay",
        "compatible": "riscv",
        "riscv,isa": isa(EXTENSIONS),
        "riscv,isa-base": "rv64i",
        "riscv,isa-extensions": list(EXTENSIONS),
        "mmu-type": "riscv,sv48",
        "numa-node-id": node,
        "d-cache-size": costs.l1_sets * costs.l1_ways * machine.line,
        "d-cache-sets": costs.l1_sets,
        "d-cache-block-size": machine.line,
        **_next_level_cache(next_cache),
        "interrupt-controller": {
            "#interrupt-cells": 1,
            "interrupt-controller": b"",
            "compatible": "riscv,cpu-intc",
            "phandle": _CONTROLLERS + number,
        },
    }


def _next_level_cache(cache: int | None) -> Tree:
    return {} if cache is None else {"next-level-cache": cache}


def _cache(level: int, cache: _Cache, outer: _Cache | None, line: int) -> Tree:
    return {
        "compatible": "cache",
        "cache-unified": b"",
        "cache-level": level,
        "cache-size": cache.sets * cache.ways * line,
        "cache-sets": cache.sets,
        "cache-block-size": line,
        "phandle": cache.handle,
        **_next_level_cache(outer.handle if outer else None),
    }


def cpu_map(machine: Machine, cores: list[int]) -> Tree:
    """Returns sockets, clusters, cores and their threads, numbered from 0 within their parent."""
    sockets: Any = {}
    depth = machine.levels.index("socket") + 1 if "socket" in machine.levels else 1
    names: dict[tuple[str, object], int] = {}

    def name(kind: str, parent: object, key: object) -> str:
        siblings = [k for k in names if k[0] == f"{kind}{parent}"]
        return f"{kind}{names.setdefault((f'{kind}{parent}', key), len(siblings))}"

    for number, core in enumerate(cores):
        ancestors = machine.shape[core][:-1]
        socket = name("socket", "", ancestors[:depth])
        cluster = name("cluster", ancestors[:depth], ancestors)
        path = name("core", ancestors, core)
        threads = sockets.setdefault(socket, {}).setdefault(cluster, {}).setdefault(path, {})
        threads[f"thread{len(threads)}"] = {"cpu": _CPUS + number}
    for clusters in sockets.values():
        for cores_of_cluster in clusters.values():
            for path, threads in cores_of_cluster.items():
                if len(threads) == 1:
                    cores_of_cluster[path] = threads["thread0"]
    tree: Tree = sockets
    return tree

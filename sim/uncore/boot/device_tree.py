"""The machine as its device tree tells of it: harts, caches and who shares them, memory nodes.

Harts are numbered as they are placed. A cluster is the innermost part that a core is in.
Distances of memory nodes are those of reads on an empty fabric, in tenths of a local one.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha512
from typing import TYPE_CHECKING, Any, NamedTuple

from uncore.boot.flattened_tree import Tree, flat, long
from uncore.engine.initial_memory import TIMEBASE, UNPRIVILEGED, isa
from uncore.program.abi import CONSTANTS
from uncore.topology.route import Routes, nearest_memories

if TYPE_CHECKING:
    from uncore.topology.machine import Machine

RAM = 0x80000000
UART = CONSTANTS["UC_UART_BASE"]
FILES, APLIC = 0x28000000, 0x0D000000  # interrupt files, and their sender, as on QEMU's `virt`
EXTENSIONS = (*UNPRIVILEGED, "ssaia", "sstc", "svadu")
# Without it Linux's random numbers are not ready, and each system call draws one under one lock.
SEED = sha512(b"uncore").digest()
_NEAR, _FARTHEST = 10, 254  # distances of memory nodes, by convention (ACPI 6.5, 5.2.17)
_CONTROLLERS, _CACHES, _SHARED, _CPUS = 0x1000, 0x2000, 0x3000, 0x4000  # handles
_FILES, _APLIC = 0x5000, 0x5001
_EXTERNAL, _HIGH = 9, 4  # a hart's interrupt; how a wire is, while it interrupts
_IDENTITIES = 63


class TreeMemory(NamedTuple):
    address: int
    size: int
    node: int  # in the kernel's eyes


@dataclass(frozen=True)
class BootInfo:
    """The part of a kernel's device tree that is not the machine."""

    arguments: str
    memory: tuple[TreeMemory, ...]
    initrd: tuple[int, int] | None  # its first byte, and the one behind the last


def tree(machine: Machine, harts: tuple[int, ...], info: BootInfo) -> bytes:
    return flat(described(machine, harts, info), 0)


def described(machine: Machine, harts: tuple[int, ...], info: BootInfo) -> Tree:
    chosen: dict[str, object] = {
        "bootargs": info.arguments,
        "stdout-path": f"/soc/serial@{UART:x}",
        "rng-seed": SEED,
    }
    if info.initrd:
        first, last = info.initrd
        chosen |= {"linux,initrd-start": long(first), "linux,initrd-end": long(last)}
    root: dict[str, object] = {
        "#address-cells": 2,
        "#size-cells": 2,
        "compatible": "uncore",
        "model": f"uncore,{machine.id}",
        "chosen": chosen,
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
            "reg": [*long(address), *long(size)],
            "numa-node-id": node,
        }
    if info.memory[-1].node:
        root["distance-map"] = _distances(machine, info)
    return root  # type: ignore[return-value]


def _devices(harts: int) -> dict[str, Tree]:
    return {
        f"serial@{UART:x}": {
            "compatible": "ns16550a",
            "reg": [*long(UART), *long(8)],
            "clock-frequency": 3_686_400,
            "interrupts-extended": [_APLIC, 1, _HIGH],
        },
        f"interrupt-controller@{APLIC:x}": {
            "compatible": "riscv,aplic",
            "reg": [*long(APLIC), *long(0x4000)],
            "interrupt-controller": b"",
            "#interrupt-cells": 2,
            "msi-parent": _FILES,
            "riscv,num-sources": 1,
            "phandle": _APLIC,
        },
        f"interrupt-controller@{FILES:x}": {
            "compatible": "riscv,imsics",
            "reg": [*long(FILES), *long(harts << 12)],
            "interrupt-controller": b"",
            "#interrupt-cells": 0,
            "msi-controller": b"",
            "#msi-cells": 0,
            "interrupts-extended": [
                word for hart in range(harts) for word in (_CONTROLLERS + hart, _EXTERNAL)
            ],
            "riscv,num-ids": _IDENTITIES,
            "phandle": _FILES,
        },
    }


def _distances(machine: Machine, info: BootInfo) -> Tree:
    """Distances between the kernel's nodes: the mean over the machine's nodes in them."""
    routes, memories = Routes(machine), machine.memories

    def read(a: int, b: int) -> int:
        there, back = memories[a].stop, memories[b].stop
        ways = routes.message("control", there, back) + routes.message("data", back, there)
        return ways + memories[b].hit

    def within(node: int) -> list[int]:
        return [number for number, memory in enumerate(info.memory) if memory.node == node]

    def distance(a: int, b: int) -> int:
        pairs = [(p, q) for p in within(a) for q in within(b)]
        ratio = sum(read(*pair) / max(1, read(pair[0], pair[0])) for pair in pairs) / len(pairs)
        return _NEAR if a == b else min(max(round(_NEAR * ratio), _NEAR + 1), _FARTHEST)

    every = range(info.memory[-1].node + 1)
    matrix = [word for a in every for b in every for word in (a, b, distance(a, b))]
    return {"compatible": "numa-distance-map-v1", "distance-matrix": matrix}


def _cpus(machine: Machine, harts: tuple[int, ...], info: BootInfo) -> Tree:
    nodes = [info.memory[node].node for node in nearest_memories(machine, harts)]
    cores = [machine.core_of(hart) for hart in harts]
    caches = {core: _caches(machine, core) for core in dict.fromkeys(cores)}
    # handle -> level; a cache's level is above those of all caches before it in any core
    levels: dict[int, int] = {}
    for own in caches.values():
        for level, cache in enumerate(own, start=2):
            levels[cache.handle] = max(level, levels.get(cache.handle, 0))
    cpus: dict[str, object] = {
        "#address-cells": 1,
        "#size-cells": 0,
        "timebase-frequency": TIMEBASE,
        "cpu-map": cpu_map(machine, cores),
    }
    for number, core in enumerate(cores):
        beside = caches[core][0].handle if caches[core] else None
        cpus[f"cpu@{number:x}"] = _cpu(machine, core, number, nodes[number], beside)
    for own in caches.values():
        for cache, above in zip(own, [*own[1:], None], strict=True):
            level = levels[cache.handle]
            cpus[f"l{level}-cache-{cache.handle:x}"] = _cache(level, cache, above, machine.line)
    return cpus  # type: ignore[return-value]


class _Cache(NamedTuple):
    handle: int
    sets: int
    ways: int


def _caches(machine: Machine, core: int) -> list[_Cache]:
    """Behind the core's first level, from inside out."""
    costs, caches, agent = machine.each_core[core], [], core
    if costs.l2_sets:
        caches.append(_Cache(_CACHES + core, costs.l2_sets, costs.l2_ways))
    for number, resolver in enumerate(machine.resolvers):  # inner levels first
        if agent in resolver.children:
            agent = machine.cores + number
            if resolver.data_sets:
                caches.append(_Cache(_SHARED + number, resolver.data_sets, resolver.data_ways))
    return caches


def _cpu(machine: Machine, core: int, number: int, node: int, beside: int | None) -> Tree:
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
        **_next(beside),
        "interrupt-controller": {
            "#interrupt-cells": 1,
            "interrupt-controller": b"",
            "compatible": "riscv,cpu-intc",
            "phandle": _CONTROLLERS + number,
        },
    }


def _next(cache: int | None) -> Tree:
    return {} if cache is None else {"next-level-cache": cache}


def _cache(level: int, cache: _Cache, above: _Cache | None, line: int) -> Tree:
    return {
        "compatible": "cache",
        "cache-unified": b"",
        "cache-level": level,
        "cache-size": cache.sets * cache.ways * line,
        "cache-sets": cache.sets,
        "cache-block-size": line,
        "phandle": cache.handle,
        **_next(above.handle if above else None),
    }


def cpu_map(machine: Machine, cores: list[int]) -> Tree:
    """Sockets, clusters, cores and their threads, each numbered from 0 within what it is in."""
    sockets: Any = {}
    depth = machine.levels.index("socket") + 1 if "socket" in machine.levels else 1
    names: dict[tuple[str, object], int] = {}

    def name(kind: str, within: object, key: object) -> str:
        siblings = [k for k in names if k[0] == f"{kind}{within}"]
        return f"{kind}{names.setdefault((f'{kind}{within}', key), len(siblings))}"

    for number, core in enumerate(cores):
        ancestors = machine.shape[core][:-1]
        socket = name("socket", "", ancestors[:depth])
        cluster = name("cluster", ancestors[:depth], ancestors)
        path = name("core", ancestors, core)
        threads = sockets.setdefault(socket, {}).setdefault(cluster, {}).setdefault(path, {})
        threads[f"thread{len(threads)}"] = {"cpu": _CPUS + number}
    for clusters in sockets.values():
        for places in clusters.values():
            for path, threads in places.items():
                if len(threads) == 1:
                    places[path] = threads["thread0"]
    tree: Tree = sockets
    return tree

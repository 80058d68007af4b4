"""The machine as its device tree tells of it: harts, caches and who shares them, memory nodes.

Harts are numbered as the job places them. A cluster of the tree is the machine's level inside a
socket that is nearest to its cores; a memory node stands where the machine has one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from uncore.engine.boot import TIMEBASE
from uncore.program.abi import CONSTANTS
from uncore.system.flat import Tree, flat, long
from uncore.topology.route import nearest_memories

if TYPE_CHECKING:
    from uncore.topology.machine import Core, Machine

RAM = 0x80000000
UART = CONSTANTS["UC_UART_BASE"]  # polled: it has no interrupt
EXTENSIONS = (
    "i", "m", "a", "f", "d", "c", "zba", "zbb", "zbs", "zicntr", "zicsr", "zifencei",
    "zihintpause", "sstc", "svadu",
)  # fmt: skip
LINE = 64
_NEAR, _FAR = 10, 20  # distances of memory nodes, as firmware states them where it says no more
_CONTROLLERS, _CACHES, _CPUS = 0x1000, 0x2000, 0x3000  # handles


@dataclass(frozen=True)
class Told:
    """What a kernel is told beside the machine."""

    arguments: str
    memory: tuple[tuple[int, int], ...]  # of each node: address, bytes
    initrd: tuple[int, int] | None  # its first byte, and the one behind the last


def tree(machine: Machine, harts: tuple[int, ...], told: Told) -> bytes:
    chosen: dict[str, object] = {"bootargs": told.arguments, "stdout-path": f"/soc/serial@{UART:x}"}
    if told.initrd:
        first, last = told.initrd
        chosen |= {"linux,initrd-start": long(first), "linux,initrd-end": long(last)}
    root: dict[str, object] = {
        "#address-cells": 2,
        "#size-cells": 2,
        "compatible": "uncore",
        "model": f"uncore,{machine.id}",
        "chosen": chosen,
        "cpus": _cpus(machine, harts),
        "soc": {
            "#address-cells": 2,
            "#size-cells": 2,
            "compatible": "simple-bus",
            "ranges": b"",
            f"serial@{UART:x}": {
                "compatible": "ns16550a",
                "reg": [*long(UART), *long(8)],
                "clock-frequency": 3_686_400,
            },
        },
    }
    for node, (address, size) in enumerate(told.memory):
        root[f"memory@{address:x}"] = {
            "device_type": "memory",
            "reg": [*long(address), *long(size)],
            "numa-node-id": node,
        }
    if len(told.memory) > 1:
        root["distance-map"] = _distances(len(told.memory))
    return flat(root, 0)  # type: ignore[arg-type]


def _distances(nodes: int) -> Tree:
    every = range(nodes)
    matrix = [w for a in every for b in every for w in (a, b, _NEAR if a == b else _FAR)]
    return {"compatible": "numa-distance-map-v1", "distance-matrix": matrix}


def _cpus(machine: Machine, harts: tuple[int, ...]) -> Tree:
    nodes = nearest_memories(machine, harts)
    cores = [machine.core_of(hart) for hart in harts]
    cpus: dict[str, object] = {
        "#address-cells": 1,
        "#size-cells": 0,
        "timebase-frequency": TIMEBASE,
        "cpu-map": _map(machine, cores),
    }
    for number, core in enumerate(cores):
        cpus[f"cpu@{number:x}"] = _cpu(machine.each_core[core], number, core, nodes[number])
    for core in dict.fromkeys(cores):
        if machine.each_core[core].l2_sets:
            cpus[f"l2-cache{core}"] = _l2(machine.each_core[core], core)
    return cpus  # type: ignore[return-value]


def _cpu(costs: Core, number: int, core: int, node: int) -> Tree:
    beside = {"next-level-cache": _CACHES + core} if costs.l2_sets else {}
    return {
        "device_type": "cpu",
        "reg": number,
        "phandle": _CPUS + number,
        "status": "okay",
        "compatible": "riscv",
        "riscv,isa": "rv64" + "".join(EXTENSIONS[:6]) + "_" + "_".join(EXTENSIONS[6:]),
        "riscv,isa-base": "rv64i",
        "riscv,isa-extensions": list(EXTENSIONS),
        "mmu-type": "riscv,sv48",
        "numa-node-id": node,
        "d-cache-size": costs.l1_sets * costs.l1_ways * LINE,
        "d-cache-sets": costs.l1_sets,
        "d-cache-block-size": LINE,
        **beside,
        "interrupt-controller": {
            "#interrupt-cells": 1,
            "interrupt-controller": b"",
            "compatible": "riscv,cpu-intc",
            "phandle": _CONTROLLERS + number,
        },
    }


def _l2(costs: Core, core: int) -> Tree:
    return {
        "compatible": "cache",
        "cache-unified": b"",
        "cache-level": 2,
        "cache-size": costs.l2_sets * costs.l2_ways * LINE,
        "cache-sets": costs.l2_sets,
        "cache-block-size": LINE,
        "phandle": _CACHES + core,
    }


def _map(machine: Machine, cores: list[int]) -> Tree:
    """Sockets, clusters, cores and their threads, each numbered from 0 within what it is in."""
    sockets: Any = {}
    names: dict[tuple[str, object], int] = {}

    def name(kind: str, within: object, key: object) -> str:
        known = [k for k in names if k[0] == f"{kind}{within}"]
        return f"{kind}{names.setdefault((f'{kind}{within}', key), len(known))}"

    for number, core in enumerate(cores):
        ancestors = machine.shape[core][:-1]
        socket = name("socket", "", ancestors[:1])
        cluster = name("cluster", ancestors[:1], ancestors)
        place = name("core", ancestors, core)
        threads = sockets.setdefault(socket, {}).setdefault(cluster, {}).setdefault(place, {})
        threads[f"thread{len(threads)}"] = {"cpu": _CPUS + number}
    for clusters in sockets.values():
        for places in clusters.values():
            for place, threads in places.items():
                if len(threads) == 1:
                    places[place] = threads["thread0"]
    tree: Tree = sockets
    return tree

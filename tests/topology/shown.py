"""A machine's topology as Linux shows it, file by file of /sys/devices/system.

    expected(machine, harts, nodes, message)    computed from the machine's file
    of_tree(tree)                               computed from a device tree, as Linux does it
    of_console(text)                            read from a guest's output of `grep -H . FILE...`
    of_lscpu(text)                              the rows of a guest's `lscpu -e`

The first three return {"cpu/cpu3/topology/core_siblings_list": "0-31", ...}.  Linux shows a
separate first-level data cache for each hart, because a device tree for RISC-V has a node for each
hart; it cannot say that siblings share the cache.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

from uncore.topology.machine import Machine
from uncore.topology.route import nearest_memories

Shown = dict[str, str]
# files that a guest reads
FILES = [
    "node/node*/distance",
    "node/node*/cpulist",
    "cpu/cpu[0-9]*/topology/thread_siblings_list",
    "cpu/cpu[0-9]*/topology/cluster_cpus_list",
    "cpu/cpu[0-9]*/topology/core_siblings_list",
    "cpu/cpu[0-9]*/cache/index*/level",
    "cpu/cpu[0-9]*/cache/index*/size",
    "cpu/cpu[0-9]*/cache/index*/coherency_line_size",
    "cpu/cpu[0-9]*/cache/index*/shared_cpu_list",
]


def ranges(numbers: Iterable[int]) -> str:
    """Formats numbers as the kernel does: 0-3,8."""
    runs = groupby(enumerate(sorted(numbers)), lambda pair: pair[1] - pair[0])
    ranges_ = [[number for _, number in run] for _, run in runs]
    return ",".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in ranges_)


def _caches(machine: Machine, core: int) -> list[tuple[object, int]]:
    """Returns the caches of a core with their bytes, innermost first."""
    costs = machine.each_core[core]
    caches: list[tuple[object, int]] = []
    if costs.l2_sets:
        caches.append((("core", core), costs.l2_sets * costs.l2_ways * machine.line))
    agent = core
    for number, resolver in enumerate(machine.resolvers):
        if agent in resolver.children:
            agent = machine.cores + number
            if resolver.data_sets:
                caches.append((number, resolver.data_sets * resolver.data_ways * machine.line))
    return caches


def _same(keys: Sequence[object]) -> list[str]:
    """Returns, for each CPU, the CPUs that have the same key."""
    together = defaultdict(list)
    for cpu, key in enumerate(keys):
        together[key].append(cpu)
    return [ranges(together[key]) for key in keys]


def expected(
    machine: Machine,
    harts: Sequence[int],
    nodes: int,
    message: Callable[[str, int, int], int],
) -> Shown:
    """Computes the files that Linux should show. `nodes` is the number of memory nodes in the
    device tree; `message` returns the ps of a message between two stops.
    """
    cores = [machine.core_of(hart) for hart in harts]
    depth = machine.levels.index("socket") + 1 if "socket" in machine.levels else 1
    shown: Shown = {}
    for what, keys in (
        ("thread_siblings", cores),
        ("cluster_cpus", [machine.shape[core][:-1] for core in cores]),
        ("core_siblings", [machine.shape[core][:depth] for core in cores]),
    ):
        for cpu, same in enumerate(_same(keys)):
            shown[f"cpu/cpu{cpu}/topology/{what}_list"] = same
    return shown | _cached(machine, cores) | _nodes(machine, harts, nodes, message)


def _cached(machine: Machine, cores: Sequence[int]) -> Shown:
    first = [machine.each_core[core] for core in cores]
    each = [
        [
            (("hart", cpu), first[cpu].l1_sets * first[cpu].l1_ways * machine.line),
            *_caches(machine, core),
        ]
        for cpu, core in enumerate(cores)
    ]
    shown: Shown = {}
    deepest: dict[object, int] = {}
    for caches in each:
        for index, (which, _) in enumerate(caches):
            deepest[which] = max(deepest.get(which, 0), index)
    for cpu, caches in enumerate(each):
        for index, (which, size) in enumerate(caches):
            path = f"cpu/cpu{cpu}/cache/index{index}"
            sharers = [other for other, theirs in enumerate(each) if which in dict(theirs)]
            shown[f"{path}/level"] = str(1 + deepest[which])
            shown[f"{path}/size"] = f"{size >> 10}K"
            shown[f"{path}/coherency_line_size"] = str(machine.line)
            shown[f"{path}/shared_cpu_list"] = ranges(sharers)
    return shown


def _nodes(
    machine: Machine, harts: Sequence[int], nodes: int, message: Callable[[str, int, int], int]
) -> Shown:
    every = len(machine.memories)
    within = [[m for m in range(every) if m * nodes // every == node] for node in range(nodes)]
    near = [memory * nodes // every for memory in nearest_memories(machine, harts)]

    def read(a: int, b: int) -> int:
        there, back = machine.memories[a].stop, machine.memories[b].stop
        ways = message("control", there, back) + message("data", back, there)
        return ways + machine.memories[b].latency

    def distance(a: int, b: int) -> int:
        ratios = [read(x, y) / max(1, read(x, x)) for x in within[a] for y in within[b]]
        mean = sum(ratios) / len(ratios)
        return 10 if a == b else min(max(round(10 * mean), 11), 254)

    nodes_ = {}
    for node in range(nodes):
        nodes_[f"node/node{node}/distance"] = " ".join(str(distance(node, b)) for b in range(nodes))
        nodes_[f"node/node{node}/cpulist"] = ranges(i for i, at in enumerate(near) if at == node)
    return nodes_


def of_tree(tree: Mapping[str, Any]) -> Shown:
    cpus = tree["cpus"]
    nodes = {
        one["phandle"]: one for one in cpus.values() if isinstance(one, dict) and "phandle" in one
    }
    number = {handle: one["reg"] for handle, one in nodes.items() if "reg" in one}
    places: dict[int, tuple[str, str, str]] = {}
    for socket, clusters in cpus["cpu-map"].items():
        for cluster, cores in clusters.items():
            for core, threads in cores.items():
                for one in threads.values() if "cpu" not in threads else [threads]:
                    places[number[one["cpu"]]] = (socket, cluster, core)
    shown: Shown = {}
    for what, depth in (("core_siblings", 1), ("cluster_cpus", 2), ("thread_siblings", 3)):
        for cpu, same in enumerate(_same([places[cpu][:depth] for cpu in sorted(places)])):
            shown[f"cpu/cpu{cpu}/topology/{what}_list"] = same
    chains: list[list[int]] = []
    for handle in sorted(number, key=lambda one: number[one]):
        chains.append([handle])
        while (above := nodes[chains[-1][-1]].get("next-level-cache")) is not None:
            chains[-1].append(above)
    for cpu, chain in enumerate(chains):
        for index, handle in enumerate(chain):
            sharers = ranges(i for i, other in enumerate(chains) if handle in other)
            for file, value in _of_cache(nodes[handle], index).items():
                shown[f"cpu/cpu{cpu}/cache/index{index}/{file}"] = value
            shown[f"cpu/cpu{cpu}/cache/index{index}/shared_cpu_list"] = sharers
    near = [nodes[handle]["numa-node-id"] for handle in sorted(number, key=lambda one: number[one])]
    matrix = tree.get("distance-map", {"distance-matrix": [0, 0, 10]})["distance-matrix"]
    rows = defaultdict(list)
    for a, _, far in zip(*[iter(matrix)] * 3, strict=True):
        rows[a].append(str(far))
    for node, row in rows.items():
        shown[f"node/node{node}/distance"] = " ".join(row)
        shown[f"node/node{node}/cpulist"] = ranges(i for i, at in enumerate(near) if at == node)
    return shown


def _of_cache(node: Mapping[str, Any], index: int) -> Shown:
    kind = "cache" if index else "d-cache"
    return {
        "level": str(node["cache-level"] if index else 1),
        "size": f"{node[f'{kind}-size'] >> 10}K",
        "coherency_line_size": str(node[f"{kind}-block-size"]),
    }


def of_console(text: str) -> Shown:
    lines = re.findall(r"^((?:node|cpu)/\S+?):(.*?)\s*$", text, re.MULTILINE)
    return {path: value for path, value in lines}


def of_lscpu(text: str) -> list[dict[str, str]]:
    lines = text.replace("\r", "").splitlines()
    head = next(at for at, line in enumerate(lines) if line.startswith("CPU NODE"))
    names = lines[head].split()
    rows = []
    for line in lines[head + 1 :]:
        if len(words := line.split()) != len(names) or not words[0].isdigit():
            break
        rows.append(dict(zip(names, words, strict=True)))
    return rows

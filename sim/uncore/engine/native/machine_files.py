"""Makes the files in which Linux describes the machine: /proc/cpuinfo, /sys/devices/system/cpu and
/sys/devices/system/node.

CPU k is hart k of the job.  So `nproc`, `sysconf`, hwloc and libnuma see the part of the machine
that this run uses.

`machine_files(job)` returns the contents by path.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from uncore.engine.initial_memory import UNPRIVILEGED_EXTENSIONS, isa
from uncore.topology.route import nearest_memories

if TYPE_CHECKING:
    from uncore.job import Job

# files from which programs learn the line size of a core's caches
_CACHE_FILES = {"coherency_line_size": "{}\n", "level": "1\n", "type": "Data\n"}
CPU_FOLDER, NODE_FOLDER = "/sys/devices/system/cpu", "/sys/devices/system/node"


def machine_files(job: Job) -> dict[str, bytes]:
    machine, harts = job.machine, job.used_harts
    cores = [machine.core_of(hart) for hart in harts]
    sockets = [machine.shape[core][0] if len(machine.shape[core]) > 1 else 0 for core in cores]
    nodes = nearest_memories(machine, harts)
    cpus = range(len(harts))
    cache = {name: text.format(machine.line) for name, text in _CACHE_FILES.items()}
    texts = {"/proc/cpuinfo": "".join(map(_cpuinfo, cpus))}
    texts["/proc/meminfo"] = f"MemTotal: {sum(m.size for m in machine.memories) >> 10} kB\n"
    for name in ("online", "possible", "present"):
        texts[f"{CPU_FOLDER}/{name}"] = _ranges(list(cpus))
    for k in cpus:
        about = {"core_id": cores[k], "physical_package_id": sockets[k]}
        texts |= {f"{CPU_FOLDER}/cpu{k}/topology/{name}": f"{n}\n" for name, n in about.items()}
        texts[f"{CPU_FOLDER}/cpu{k}/online"] = "1\n"
        texts |= {f"{CPU_FOLDER}/cpu{k}/cache/index0/{name}": text for name, text in cache.items()}
        for name, group_of in (
            ("core_siblings", sockets),
            ("package_cpus", sockets),
            ("core_cpus", cores),
            ("thread_siblings", cores),
        ):
            group = [member for member in cpus if group_of[member] == group_of[k]]
            texts[f"{CPU_FOLDER}/cpu{k}/topology/{name}_list"] = _ranges(group)
            texts[f"{CPU_FOLDER}/cpu{k}/topology/{name}"] = _mask(group, len(harts))
    for name in ("online", "possible", "has_cpu", "has_memory"):
        texts[f"{NODE_FOLDER}/{name}"] = _ranges(list(range(len(machine.memories))))
    for node, memory in enumerate(machine.memories):
        node_harts = [k for k in cpus if nodes[k] == node]
        texts[f"{NODE_FOLDER}/node{node}/cpulist"] = _ranges(node_harts)
        texts[f"{NODE_FOLDER}/node{node}/cpumap"] = _mask(node_harts, len(harts))
        texts[f"{NODE_FOLDER}/node{node}/meminfo"] = (
            f"Node {node} MemTotal: {memory.size >> 10} kB\n"
        )
        distances = (10 if member == node else 20 for member in range(len(machine.memories)))
        texts[f"{NODE_FOLDER}/node{node}/distance"] = " ".join(map(str, distances)) + "\n"
    return {path: text.encode() for path, text in texts.items()}


def _cpuinfo(k: int) -> str:
    names = isa(UNPRIVILEGED_EXTENSIONS)
    return f"processor\t: {k}\nhart\t\t: {k}\nisa\t\t: {names}\nmmu\t\t: sv39\n\n"


def _ranges(numbers: list[int]) -> str:
    """Formats a list of numbers as the kernel does: 0-3,8."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and parts[-1][-1] == number - 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    return ",".join(f"{p[0]}-{p[-1]}" if len(p) > 1 else f"{p[0]}" for p in parts) + "\n"


def _mask(numbers: list[int], harts: int) -> str:
    """Formats a set of CPUs as the kernel does: words of 32 bits, the highest first."""
    bits = sum(1 << number for number in numbers)
    words = [f"{bits >> 32 * word & 0xFFFFFFFF:08x}" for word in range(-(-harts // 32))]
    return ",".join(reversed(words)) + "\n"

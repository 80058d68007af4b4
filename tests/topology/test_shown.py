"""Does Linux show a machine as its file describes it? (shown.py)

The user brings the kernel; docs/linux.md says where to get one. LSCPU is a folder with Debian's
lscpu, and in lib/ the libraries that it needs:

    export UNCORE_KERNEL=FILE UNCORE_INITRD=FILE UNCORE_LSCPU=DIR
    python -m pytest tests/topology/test_shown.py
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest
from tests.topology import shown

from uncore import boot as system
from uncore.boot.device_tree import BootInfo, tree_of_machine
from uncore.boot.kernel_run import Boot, memory_of_nodes
from uncore.job.placement import place
from uncore.support.paths import TOPOLOGIES
from uncore.topology import load
from uncore.topology.route import Routes

FAMILIES = {"bus": "bus:8", "ring": "ring:16", "ccx": "ccx:4x4", "mesh": "mesh:4x4"}
MACHINES = sorted(path.stem for path in TOPOLOGIES.glob("*.toml"))
# on larger machines, only the first and the last harts of each socket are compared
MAX_HARTS_LOOKED_AT = 96
KERNEL, INITRD, LSCPU = (os.environ.get(f"UNCORE_{name}") for name in ("KERNEL", "INITRD", "LSCPU"))


@pytest.mark.parametrize("name", MACHINES)
def test_device_tree_describes_the_machine(name: str) -> None:
    machine = load(FAMILIES.get(name, name), [])
    every = place(machine, "compact")
    harts = (
        every
        if len(every) <= MAX_HARTS_LOOKED_AT
        else every[: MAX_HARTS_LOOKED_AT // 2] + every[-MAX_HARTS_LOOKED_AT // 2 :]
    )
    nodes = min(len(machine.memories), 4)
    boot = Boot(machine, harts, system.images.Kernel(b"", 0, 0), nodes=nodes, memory=1 << 30)
    tree: Any = tree_of_machine(machine, harts, BootInfo("", memory_of_nodes(boot), None))
    assert shown.of_tree(tree) == shown.expected(machine, harts, nodes, Routes(machine).message)


GUESTS = {
    "two sockets": ("epyc7601x2", 64, "compact", 4),
    "complexes": ("ccx:4x4", 16, "compact", 1),
    "mesh": ("mesh:4x4", 16, "compact", 1),
    "siblings": ("x6130x2", 16, "0-7,32-39", 2),
}


@pytest.mark.long
@pytest.mark.skipif(not (KERNEL and INITRD and LSCPU), reason="UNCORE_KERNEL and others not set")
@pytest.mark.parametrize("name", GUESTS)
def test_linux_shows_the_topology_of_the_machine(name: str) -> None:
    assert KERNEL and INITRD and LSCPU
    topology, count, placement, nodes = GUESTS[name]
    machine = load(topology, [])
    harts = place(machine, placement)[:count]
    initrd = system.initrd(Path(INITRD), Path(LSCPU))
    boot = Boot(machine, harts, system.kernel(Path(KERNEL)), initrd, memory=1 << 30, nodes=nodes)
    session = system.Session(system.start(boot))
    lscpu = "/files/lib/ld-linux-riscv64-lp64d.so.1 --library-path /files/lib /files/lscpu -e"
    files = " ".join(shown.FILES)
    while session.run_to_next_look():
        if session.waits:
            session.type(f"cd /sys/devices/system; grep -H . {files}; {lscpu}; poweroff -f\n")
    expected = shown.expected(machine, harts, nodes, session.run.latency)
    assert shown.of_console(session.console) == expected
    rows = shown.of_lscpu(session.console)
    assert len(rows) == count
    for column, path in (("SOCKET", "core_siblings_list"), ("CORE", "thread_siblings_list")):
        together = [
            [i for i, other in enumerate(rows) if other[column] == row[column]] for row in rows
        ]
        told = [expected[f"cpu/cpu{cpu}/topology/{path}"] for cpu in range(count)]
        assert [shown.ranges(cpus) for cpus in together] == told
    near = [expected[f"node/node{row['NODE']}/cpulist"] for row in rows]
    assert all(_holds(cpus, cpu) for cpu, cpus in enumerate(near))


def _holds(cpus: str, cpu: int) -> bool:
    spans = re.findall(r"(\d+)(?:-(\d+))?", cpus)
    return any(int(first) <= cpu <= int(last or first) for first, last in spans)

"""Do our reader and hwloc's tools read a machine's XML as a description of this machine?"""

import shutil
import subprocess

import pytest

from uncore import topology
from uncore.topology import hwloc
from uncore.topology.cpus import hart_of_cpu
from uncore_lab.measure import hwloc as reader

LEVELS = {
    "ccx:2x4": {1, 2, 3},
    "epyc7601x2": {1, 2, 3},
    "i912900k": {1, 2, 3},
    "knl7210": {1, 2},
    "mesh:4x2": {1, 2},
}


CACHED = "memory.cache=1GiB 1-way 60ns"


@pytest.fixture(params=[*LEVELS, "knl7210 with a memory-side cache"])
def machine(request):
    name, _, more = request.param.partition(" ")
    return topology.load(name, [CACHED] if more else [])


def test_reader_finds_the_cores_nodes_and_caches_of_the_machine(machine, tmp_path):
    path = tmp_path / "m.xml"
    path.write_text(hwloc.xml(machine))
    machine_read = reader.read(path)
    harts = hart_of_cpu(machine)
    assert len(machine_read.cpus) == machine.harts
    for cpu in machine_read.cpus:
        core = machine.core_of(harts[cpu.number])
        assert {harts[number] for number in cpu.core} == set(machine.harts_of(core))
    assert len(machine_read.nodes) == len(machine.memories)
    l1 = [cache for cache in machine_read.caches if cache.level == 1]
    assert len(l1) == machine.cores
    assert {cache.level for cache in machine_read.caches} == LEVELS[machine.id]
    sizes = {c.l1_sets * c.l1_ways * 64 for c in machine.each_core}
    assert {cache.size for cache in l1} == sizes


def test_hwlocs_own_tools_read_the_xml_of_a_machine(machine, tmp_path):
    tool = shutil.which("lstopo-no-graphics")
    if not tool:
        pytest.skip("no hwloc here: apt-get install hwloc-nox")
    path = tmp_path / "m.xml"
    path.write_text(hwloc.xml(machine))
    counts = {}
    for kind in ("PU", "Core", "NUMANode"):
        done = subprocess.run(
            [tool, "-i", str(path), "--only", kind, "--of", "console"],
            capture_output=True, text=True, env={"HWLOC_XML_VERBOSE": "1"},
        )  # fmt: skip
        assert done.returncode == 0 and not done.stderr, done.stderr
        counts[kind] = len(done.stdout.split("\n")) - 1
    assert counts == {"PU": machine.harts, "Core": machine.cores, "NUMANode": len(machine.memories)}


def test_bitmap_is_written_as_hwloc_writes_it():
    assert hwloc.bitmap([0, 33]) == "0x00000002,0x00000001"
    assert hwloc.bitmap([]) == "0x00000000"

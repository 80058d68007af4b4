"""Does the machine file made from a computer's own description match the computer?"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.measure.nested_objects import document, nested
from tests.measure.recorded import Recorded, put

from uncore import topology
from uncore.api import run
from uncore.cli.app import main
from uncore.errors import UserError
from uncore.host import sysfs
from uncore.host.computer import cpu_list, ranges
from uncore.topology.cpus import hart_of_cpu
from uncore_lab.figures import hardware
from uncore_lab.figures.simulate import handoffs
from uncore_lab.measure import hwloc
from uncore_lab.measure import machine_file as describe
from uncore_lab.measure.cpu_tree import expression, lay_out

EPYC = topology.load("epyc7601x2")  # 2 sockets, 4 dies each, 2 complexes, 4 cores, 2 threads


def all_first_threads_first(hart: int) -> int:
    return hart // 2 + hart % 2 * 64


WHOLE = Recorded(EPYC, all_first_threads_first, "die")
# a machine with a processor and a whole core offline, with a gap in the numbers before the second
# socket, and with a memory node without processors
RAGGED = replace(
    WHOLE,
    number_of=lambda hart: hart + (hart >= 64) * 192,
    offline=(3, 18, 19),
    alone=(8,),
)


def loaded(recorded: Recorded, tmp_path: Path) -> topology.Machine:
    return describe.loads(describe.describe(sysfs.read(recorded.sysfs(tmp_path))))


def test_described_machine_of_a_known_family_equals_the_shipped_machine(tmp_path: Path) -> None:
    described = loaded(WHOLE, tmp_path)
    assert {c.level for c in sysfs.read(tmp_path).caches} == {1, 2, 3}
    assert len(sysfs.read(tmp_path).caches) == 64 + 64 + 16  # caches of instructions are left out
    same = (
        "core",
        "levels",
        "shape",
        "threads_per_core",
        "resolvers",
        "links",
        "memories",
        "core_stops",
    )
    assert [getattr(described, f) for f in same] == [getattr(EPYC, f) for f in same]
    assert hart_of_cpu(described) == [hart % 64 * 2 + hart // 64 for hart in range(128)]


KNOWN = [
    ("tr1950x", "die", ("AuthenticAMD", 0x17, 0x01), 4000),
    ("epyc7302x2", "socket", ("AuthenticAMD", 0x17, 0x31), 3300),
    ("i54590", "socket", ("GenuineIntel", 6, 0x3C), 3700),
    ("x8180", "socket", ("GenuineIntel", 6, 0x55), 3800),
]


@pytest.mark.parametrize(("name", "node", "cpuid", "mhz"), KNOWN, ids=[row[0] for row in KNOWN])
def test_handoffs_of_a_described_machine_equal_those_of_the_shipped_machine(
    name, node, cpuid, mhz, tmp_path
):
    """Compares each level. Latencies come from the family, the shape from the system."""
    real = topology.load(name)
    described = loaded(Recorded(real, int, node, cpuid, mhz=mhz), tmp_path)
    levels = hardware.level_of_pairs(real)
    ours, theirs = (
        handoffs(m, hardware.by_level(m, "node0"), rounds=20) for m in (described, real)
    )
    for level in set(levels[np.tril_indices(real.harts, -1)]):
        pairs = np.tril(levels == level, -1)
        assert np.median(ours[pairs]) == pytest.approx(np.median(theirs[pairs]), rel=0.05), level


def test_offline_processors_gaps_in_numbers_and_memory_without_cores_are_described(
    tmp_path: Path,
) -> None:
    text = describe.describe(sysfs.read(RAGGED.sysfs(tmp_path)))
    described = describe.loads(text)
    assert "offline when it was described: processors 3,18-19" in text
    assert "memory node 8 has no processors" in text
    assert described.cores == 63
    harts = hart_of_cpu(described)
    # The sibling of processor 2 is offline; its hart remains in the tree without a processor.
    assert (len(harts), harts[:4], harts[-1]) == (125, [0, 1, 2, 4], 125)


@pytest.mark.parametrize("recorded", [WHOLE, RAGGED])
def test_hwloc_and_sysfs_give_equal_descriptions_of_a_computer(
    recorded: Recorded, tmp_path: Path
) -> None:
    computer = lay_out(sysfs.read(recorded.sysfs(tmp_path)))
    # hwloc does not report clocks
    other = lay_out(hwloc.read(recorded.hwloc(tmp_path / "lstopo.xml")))
    assert replace(other, kinds=()) == replace(computer, kinds=())


@pytest.mark.parametrize("cpuid", [("CentaurHauls", 7, 0x5B), ("GenuineIntel", 6, 0x55)])
def test_machine_file_of_a_computer_without_a_family_loads_and_runs(cpuid, tmp_path: Path) -> None:
    """The second case has a family, but the family's machines have no dies."""
    text = describe.describe(sysfs.read(replace(WHOLE, cpuid=cpuid).sysfs(tmp_path)))
    assert "no family of this" in text
    path = tmp_path / "described.toml"
    path.write_text(text)
    result = run(str(path), "lock/ticket", [128], parameters={"ops": 1}, placement="siblings")
    assert result.points[0].ops == 128 and not result.failed


def test_two_kinds_of_cores_are_described_with_their_own_caches(tmp_path: Path) -> None:
    """Eight cores of two threads have an L2 each; two clusters of four cores share one L2 each."""
    real = topology.load("i912900k")
    described = loaded(
        Recorded(real, int, "socket", ("GenuineIntel", 6, 0x97), mhz=5200, slow=3900), tmp_path
    )
    assert described.core_kinds == real.core_kinds
    assert described.hart_cores == real.hart_cores
    assert hart_of_cpu(described) == list(range(24))
    for mine, its in zip(described.each_core, real.each_core, strict=True):
        sizes = ("l1_sets", "l1_ways", "l2_sets", "l2_ways")
        assert [getattr(mine, s) for s in sizes] == [getattr(its, s) for s in sizes]
    large, small = described.each_core[0], described.each_core[-1]
    assert small.hold == pytest.approx(large.hold * 5200 / 3900, abs=1)
    clusters = [(r.children, r.data_sets) for r in described.resolvers if r.level == "cluster"]
    assert clusters == [(r.children, r.data_sets) for r in real.resolvers if r.level == "module"]


def test_cores_with_another_cache_or_fewer_threads_than_most_cores_are_a_kind_of_their_own(
    tmp_path: Path,
) -> None:
    root = Recorded(topology.load("i54590"), lambda hart: hart, "socket").sysfs(tmp_path)
    put(root / "sys/devices/system/cpu/cpu0/topology/core_cpus_list", "0-1")
    put(root / "sys/devices/system/cpu/cpu1/topology/core_cpus_list", "0-1")
    put(root / "sys/devices/system/cpu/cpu3/cache/index2/size", "1024K")
    described = describe.loads(describe.describe(sysfs.read(root)))
    assert described.core_kinds == ("core", "core", "other")
    assert (described.threads, hart_of_cpu(described)) == ((2, 1, 1), [0, 1, 2, 3])


def test_every_family_of_families_toml_exists() -> None:
    for row in describe.families():
        for name in row["extends"]:
            assert (topology.load.__globals__["TOPOLOGIES"] / f"{name}.toml").is_file()


@pytest.mark.parametrize(
    "harts, sizes, text",
    [
        (range(8), [2, 4], "i"),
        ([0, 2, 4, 6, 1, 3, 5, 7], [2, 2, 2], "(i%4)*2 + i//4"),
        ([0, 4, 1, 5, 2, 6, 3, 7], [2, 4], "(i%2)*4 + i//2"),
        ([0, 4, 2, 6, 1, 5, 3, 7], [2, 2, 2], "(i%2)*4 + (i//2%2)*2 + i//4"),
        ([3, 0, 1, 2], [4], "3 0 1 2"),
        ([0, None, 1], [2], "0 - 1"),
    ],
)
def test_cpu_numbers_of_harts_are_written_as_an_expression(harts, sizes, text) -> None:
    assert sorted(expression(list(harts), sizes).split(" + ")) == sorted(text.split(" + "))


def test_lists_of_processors_are_read_and_written() -> None:
    assert cpu_list("0-3,8,10-14:2\n") == (0, 1, 2, 3, 8, 10, 12, 14)
    assert ranges([5, 0, 1, 2]) == "0-2,5" and cpu_list("") == ()


def test_machine_file_of_this_computer_has_its_harts_and_is_not_overwritten(tmp_path: Path) -> None:
    if not Path("/sys/devices/system/cpu/online").is_file():
        pytest.skip("no /sys here")
    path = tmp_path / "here.toml"
    with pytest.raises(SystemExit) as ended:
        main(["measure", "--topology", str(path)])
    assert ended.value.code == 0
    machine = topology.load(path)
    assert len(hart_of_cpu(machine)) == len(sysfs.read().cpus)
    with pytest.raises(SystemExit) as ended:
        main(["measure", "--topology", str(path)])
    assert ended.value.code == 2  # the file exists already


@pytest.mark.parametrize(
    "text, expected",
    [
        ("<topology", "no XML"),
        ("<topology version='1.0'/>", "version 2 or later"),
        ("<topo/>", "read <topo>"),
        ("<topology version='2.0'/>", "no object of type PU"),
        (document(nested(("PU", 2, "")) * 2), "two objects of type PU have one os_index"),
        (
            "<topology version='2.0'><object type='Machine' complete_cpuset='zzz'>"
            "<object type='PU' os_index='0'/></object></topology>",
            "read complete_cpuset='zzz' of a Machine; expected words of 32 bits in hexadecimal",
        ),
    ],
)
def test_a_bad_xml_is_refused(tmp_path: Path, text: str, expected: str) -> None:
    path = tmp_path / "lstopo.xml"
    path.write_text(text)
    with pytest.raises(UserError, match=re.escape(expected)):
        hwloc.read(path)


L1, L2 = (f"cache_size='{size}' cache_associativity='8'" for size in (32 << 10, 1 << 20))


@pytest.mark.parametrize("sockets", [1, 2])
@pytest.mark.parametrize(
    "cores", [[("L2Cache", 4, L2), ("L1Cache", 1, L1), ("Core", 1, "")], [("Core", 4, "")]]
)
def test_a_computer_without_a_shared_cache_is_described(
    sockets: int, cores: list[tuple[str, int, str]], tmp_path: Path
) -> None:
    path = tmp_path / "lstopo.xml"
    objects = nested(("Package", sockets, ""), *cores, ("PU", 2, ""))
    path.write_text(document(objects))
    text = describe.describe(hwloc.read(path))
    assert "# no cache above the cores' own is told" in text
    machine = describe.loads(text)
    assert (machine.cores, machine.harts) == (4 * sockets, 8 * sockets)
    assert [(resolver.name, resolver.data) for resolver in machine.resolvers] == [("home0", "none")]


def test_memory_nodes_without_a_reported_size_are_described(tmp_path: Path) -> None:
    path = WHOLE.hwloc(tmp_path / "lstopo.xml")
    path.write_text(re.sub(" local_memory=['\"]\\d+['\"]", "", path.read_text()))
    text = describe.describe(hwloc.read(path))
    assert "# the sizes of memory nodes are not told" in text
    assert len(describe.loads(text).memories) == 8


def test_a_memory_node_with_a_memory_side_cache_is_near_the_processors_around_it(
    tmp_path: Path,
) -> None:
    """Cache mode of a Xeon Phi: hwloc puts a MemCache between a node and its processors."""
    units = nested(("Core", 2, ""), ("PU", 1, ""))
    node = "<object type='NUMANode' os_index='0' cpuset='0x3' local_memory='1073741824'/>"
    for layers in range(3):
        cached = "<object type='MemCache'>" * layers + node + "</object>" * layers
        path = tmp_path / "lstopo.xml"
        path.write_text(document(units + cached))
        assert [one.cpus for one in hwloc.read(path).nodes] == [(0, 1)]


def test_a_tree_without_processors_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="processors that are online"):
        sysfs.read(tmp_path)

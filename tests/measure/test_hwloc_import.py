"""Does the machine file of an lstopo XML match it, and does its head list what it leaves out?"""

from __future__ import annotations

import os
import shutil
import tomllib
from pathlib import Path
from xml.etree import ElementTree

import pytest
from tests.measure.nested_objects import cache, document, nested, node
from tests.tools import hwloc_corpus

from uncore import topology
from uncore.errors import UserError
from uncore.topology.hwloc import xml
from uncore.topology.load import shipped
from uncore.topology.machine import Machine
from uncore_lab.measure import hwloc
from uncore_lab.measure import machine_file as describe

L1 = ("L1Cache", 1, cache(32))
CORE = (L1, ("Core", 1, ""), ("PU", 1, ""))


def described(text: str, folder: Path) -> str:
    path = folder / "lstopo.xml"
    path.write_text(text)
    return describe.describe(hwloc.read(path))


def read(text: str, folder: Path) -> Machine:
    return describe.loads(described(text, folder))


def shared(machine: Machine, level: str) -> list[tuple[int, int]]:
    """Returns for each cache of a level the number of agents that share it, and its size in KiB."""
    return [
        (len(resolver.children), resolver.data_sets * resolver.data_ways * machine.line >> 10)
        for resolver in machine.resolvers
        if resolver.level == level
    ]


def test_l3_shared_by_two_memory_nodes_is_imported_as_one_cache(tmp_path: Path) -> None:
    """Sub-NUMA clusters divide each socket into two nodes."""
    inner = (("L2Cache", 4, cache(1024)), *CORE)
    groups = [
        f"<object type='Group'>{node(n, 4 * n, 4)}{nested(*inner, first=4 * n)}</object>"
        for n in range(4)
    ]
    packages = "".join(
        f"<object type='Package' os_index='{p}'><object type='L3Cache' {cache(32768, 16)}>"
        f"{groups[2 * p]}{groups[2 * p + 1]}</object></object>"
        for p in range(2)
    )
    machine = read(document(packages), tmp_path)
    assert machine.levels == ("system", "socket", "die", "core", "thread")
    assert shared(machine, "socket") == [(8, 32768)] * 2
    assert len(machine.memories) == 4


def test_l3_caches_of_two_sizes_are_imported_with_their_own_sizes(tmp_path: Path) -> None:
    """Cores of two kinds share each cache, so the cache cannot be found from the kind of core."""

    def half(size: int, first: int) -> str:
        large = nested(("L2Cache", 2, cache(2048)), *CORE, first=first)
        small = nested(("L2Cache", 2, cache(512)), *CORE, first=first + 2)
        return f"<object type='L3Cache' {cache(size, 16)}>{large}{small}</object>"

    package = f"<object type='Package' os_index='0'>{half(16384, 0)}{half(8192, 4)}</object>"
    machine = read(document(package), tmp_path)
    assert shared(machine, "ccx") == [(4, 16384), (4, 8192)]
    kib = [core.l2_sets * core.l2_ways * 64 >> 10 for core in machine.each_core]
    assert kib == [2048, 2048, 512, 512] * 2


def test_l2_shared_by_a_pair_is_imported_as_one_cache(tmp_path: Path) -> None:
    """On POWER9 the pair also shares a third-level cache."""
    objects = nested(
        ("Package", 2, ""), ("L3Cache", 3, cache(10240, 20)), ("L2Cache", 1, cache(512)),
        ("L1Cache", 2, cache(32)), ("Core", 1, ""), ("PU", 4, ""),
    )  # fmt: skip
    machine = read(document(objects), tmp_path)
    assert (machine.cores, machine.harts) == (12, 48)
    assert shared(machine, "cluster") == [(2, 512)] * 6
    assert shared(machine, "ccx") == [(1, 10240)] * 6
    assert not machine.core.l2_sets


KINDS = """
<cpukind cpuset='0x3'><info name='FrequencyMaxMHz' value='5200'/></cpukind>
<cpukind cpuset='0xc'><info name='FrequencyMaxMHz' value='3900'/></cpukind>"""


def test_each_kind_of_core_has_its_own_clock(tmp_path: Path) -> None:
    machine = read(
        document(nested(("Package", 1, ""), ("Core", 4, ""), ("PU", 1, "")), KINDS), tmp_path
    )
    assert machine.core_kinds == ("core", "core", "small", "small")
    large, small = machine.each_core[0].pause, machine.each_core[-1].pause
    assert small == pytest.approx(large * 5200 / 3900, abs=1)


def test_groups_are_imported_as_levels_with_their_names(tmp_path: Path) -> None:
    subtype = "subtype='Cluster'"
    objects = nested(("Package", 2, ""), ("Group", 3, subtype), ("Core", 4, ""), ("PU", 1, ""))
    machine = read(document(objects), tmp_path)
    assert machine.levels == ("system", "socket", "cluster", "core", "thread")


def distances(values: str, name: str = "NUMALatency") -> str:
    return (
        f"<distances2 type='NUMANode' nbobjs='2' kind='5' name='{name}' indexing='os'>"
        f"<indexes length='4'>0 1 </indexes><u64values length='9'>{values}</u64values></distances2>"
    )


def two_nodes(more: str) -> str:
    packages = [
        f"<object type='Package' os_index='{n}'>{node(n, 2 * n, 2)}"
        f"{nested(('L3Cache', 1, cache(8192, 16)), ('Core', 2, ''), ('PU', 1, ''), first=2 * n)}"
        "</object>"
        for n in range(2)
    ]
    return document("".join(packages), more)


@pytest.mark.parametrize(
    ("more", "latency", "arguments"),
    [
        (distances("10 21 21 10"), "49.5ns", "off by 0 % at most; a node's own memory is taken"),
        (distances("10 19 23 10"), "49.5ns", "off by 11 % at most"),
        (distances("80 140 140 80", "uncoreLatency"), "30ns", "off by 0 % at most."),
    ],
)
def test_distances_of_nodes_become_latencies(
    more: str, latency: str, arguments: str, tmp_path: Path
) -> None:
    text = described(two_nodes(more), tmp_path)
    assert " ".join(arguments.split()) in " ".join(text.replace("\n#", "").split())
    join = tomllib.loads(text)["system"]["join"]["latency"]
    assert join == {"value": latency, "source": "least squares of the distances of memory nodes"}


def test_head_of_the_file_names_what_is_left_out_and_what_is_guessed(tmp_path: Path) -> None:
    memory = node(0, 0, 2)
    for _ in range(2):
        memory = f"<object type='MemCache' cache_size='17179869184'>{memory}</object>"
    l4 = f"<object type='L4Cache' {cache(131072, 16)} cache_linesize='128'>"
    cores = nested(("Core", 2, ""), ("PU", 1, ""))
    package = f"<object type='Package' os_index='0'>{memory}{l4}{cores}</object></object>"
    text = described(document(package), tmp_path)
    for arguments in (
        "# 1 L4Cache of 128 MiB: left out.",
        "# 1 memory-side caches of 16384 MiB behind others: left out.",
        "# lines of 128 bytes are described with 64.",
        "# guesses are core.",
    ):
        assert arguments in text


def behind(caches: list[tuple[int, int]]) -> str:
    """Returns packages, each with a memory node after a memory-side cache of these MiB and ways."""
    packages = "".join(
        f"<object type='Package' os_index='{number}'>"
        f"<object type='MemCache' {cache(mib << 10, ways)}>"
        f"{node(number, 2 * number, 2)}</object>"
        f"{nested(('Core', 2, ''), ('PU', 1, ''), first=2 * number)}</object>"
        for number, (mib, ways) in enumerate(caches)
    )
    return document(packages)


def test_memory_side_caches_of_the_xml_are_in_the_machine_file(tmp_path: Path) -> None:
    machine = read(behind([(2, 1), (2, 1)]), tmp_path)
    assert [(m.cache_sets, m.cache_ways) for m in machine.memories] == [(1 << 15, 1)] * 2
    again = read(xml(machine), tmp_path)
    assert [(m.cache_sets, m.cache_ways) for m in again.memories] == [(1 << 15, 1)] * 2
    told = described(behind([(2, 1), (4, 1)]), tmp_path)
    assert "memory-side caches differ from node to node: left out" in told
    assert not describe.loads(told).memories[0].cache_sets


@pytest.mark.parametrize(
    ("line", "own"), [("128", "128B"), ("256", "256B"), ("64", None), ("-1", None)]
)
def test_line_size_is_that_of_the_innermost_cache(
    line: str, own: str | None, tmp_path: Path
) -> None:
    l1 = ("L1Cache", 1, f"{cache(32)} cache_linesize='{line}'")
    text = described(
        document(nested(("Package", 1, ""), ("Core", 4, ""), l1, ("PU", 1, ""))), tmp_path
    )
    assert tomllib.loads(text).get("line") == own
    machine = describe.loads(text)
    assert machine.core.l1_sets * machine.core.l1_ways * machine.line == 32 << 10
    assert f'cache_linesize="{machine.line}"' in xml(machine)


def test_family_that_does_not_fit_the_computer_is_named_with_the_reason(tmp_path: Path) -> None:
    infos = (("CPUVendor", "GenuineIntel"), ("CPUFamilyNumber", "6"), ("CPUModelNumber", "85"))
    told = "".join(f"<info name='{name}' value='{value}'/>" for name, value in infos)
    text = described(two_nodes(told), tmp_path)
    assert 'extends  = ["families/skylake-mesh", "families/intel-two-sockets"]' in text
    assert "those of its family, families/skylake-mesh and families/intel-two-sockets" in text
    cores = [nested(("Core", 2, ""), ("PU", 1, ""), first=2 * n) for n in range(4)]
    halves = [f"<object type='Group'>{node(n, 2 * n, 2)}{cores[n]}</object>" for n in range(4)]
    packages = [
        f"<object type='Package' os_index='{p}'>{halves[2 * p]}{halves[2 * p + 1]}</object>"
        for p in range(2)
    ]
    text = described(document("".join(packages), told), tmp_path)
    assert "# a family that its CPUID names does not fit: " in text
    assert len(describe.loads(text).memories) == 4


def test_an_old_xml_is_refused_with_the_command_that_converts_it(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"lstopo-no-graphics -i lstopo\.xml --of xml > new\.xml"):
        described("<topology><object type='Machine'/></topology>", tmp_path)


def test_error_in_an_unsaved_machine_text_names_no_path(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"^the machine file:1: ") as caught:
        describe.loads('tree = "core:2"\nname = "x"\n')
    assert "/tmp" not in str(caught.value)


LONE = {"tr2990wx"}  # machines whose nodes form no level, because they are near cores of two dies


@pytest.mark.parametrize("name", [*shipped()[::4], "ccx:2x4"])
def test_written_xml_is_read_back_unchanged(name: str, tmp_path: Path) -> None:
    """lstopo also reads the XML, if it is installed. A machine without packages becomes one
    package.
    """
    machine = topology.load(name)
    text = xml(machine)
    again = read(text, tmp_path)
    ours, theirs = (hwloc_corpus.counts(ElementTree.fromstring(t)) for t in (text, xml(again)))
    if not ours["Package", 0]:
        ours["Package", 0] = 1
    assert theirs == ours
    assert len(again.memories) == len(machine.memories) or name in LONE
    assert again.hart_cores == machine.hart_cores


@pytest.mark.long
def test_hwlocs_own_test_files_are_imported_or_refused_as_recorded() -> None:
    if not (checkout := os.environ.get("UNCORE_HWLOC")):
        pytest.skip("UNCORE_HWLOC names no clone of hwloc")
    if not shutil.which("lstopo-no-graphics"):
        pytest.skip("no hwloc here: apt-get install hwloc-nox")
    kept = tomllib.loads(hwloc_corpus.RECORDED.read_text())
    found = dict(hwloc_corpus.verdicts(Path(checkout)))
    assert {name: found[name] for name in kept.keys() & found.keys()} == {
        name: kept[name] for name in kept.keys() & found.keys()
    }
    assert len(kept.keys() & found.keys()) > 50

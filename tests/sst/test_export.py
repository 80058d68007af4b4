"""Is the whole machine exported for SST, even if SST is not installed?"""

from __future__ import annotations

import heapq
import json
import math
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from uncore import topology
from uncore.engine import export
from uncore.engine import initial_memory as boot
from uncore.engine.outside import homes
from uncore.engine.sst import simulation as system
from uncore.engine.sst.parameters import FLIT_BYTES
from uncore.execution.request import make_job
from uncore.job import Job
from uncore.program.elf import read
from uncore.topology.machine import Machine
from uncore.topology.route import Routes

SHIPPED = [name for name, _ in topology.list_machines() if ":" not in name]
SLOTS = ("highlink", "lowlink")  # slots of a cache for network interfaces
ROUTERS = ("merlin.hr_router", "kingsley.noc_mesh")
MAX_PAIRS_COMPARED = 24
SHAPES = ["bus:4", "ring:8", "mesh:4x3", "ccx:2x4", "ring:3"]


@cache
def exported(
    machine: str, threads: str = "max", mesh: str = "merlin"
) -> tuple[Job, dict[str, Any]]:
    job = make_job(machine, "lock/ticket", threads, smt=False)
    return job, system.describe(job, mesh)


@pytest.mark.parametrize(
    ("machine", "mesh"),
    [*((name, "merlin") for name in SHIPPED + SHAPES), ("mesh:4x3", "kingsley")],
)
def test_exported_routes_keep_their_latency(machine: str, mesh: str) -> None:
    """The latencies between caches that communicate are computed from the exported document and
    compared with the machine's.
    """
    job, document = exported(machine, mesh=mesh)
    stops, latencies = _stops(job), _NetworkLatencies(document)
    routes = Routes(job.machine)
    pairs = _neighbours(document)
    requesters = {a for a, _ in pairs}
    assert len([a for a in requesters if a.startswith("l")]) == len(_cores(job)), "each core asks"
    for a, b in pairs[:: len(pairs) // MAX_PAIRS_COMPARED + 1]:
        for source, target in ((a, b), (b, a)):
            latency, hop = latencies.between(source, target)
            expected = routes.distances(stops[target])[stops[source]]
            assert -2 <= latency - expected <= 2 * hop + 4, (source, target, latency, expected)


def test_ports_of_neighbouring_kingsley_routers_are_linked() -> None:
    """The east port of a router is linked to the west port of the next router in its row, and the
    north port to the south port of the next router in its column.
    """
    _, document = exported("mesh:4x3", mesh="kingsley")
    wires = [
        link["ends"] for link in document["links"] if all("_net_" in e[0] for e in link["ends"])
    ]
    pairs = set()
    for (a, port, _), (b, other_port, _) in wires:
        first, second = (int(path.rpartition("_net_")[2]) for path in (a, b))
        pairs.add((second - first, port, other_port))
    assert pairs == {(1, "east", "west"), (4, "north", "south")}
    assert len(wires) == 3 * 3 + 4 * 2


@pytest.mark.parametrize("machine", SHIPPED + SHAPES)
def test_interrupts_take_the_route_between_their_harts(machine: str) -> None:
    job, document = exported(machine)
    routes, cores = Routes(job.machine), _cores(job)
    pairs = set()
    for link in document["links"]:
        (a, to_b, latency_to_b), (b, to_a, latency_to_a) = link["ends"]
        if a.startswith("hart") and b.startswith("hart"):
            stops = [job.machine.core_stops[cores[int(end[4:])]] for end in (a, b)]
            assert (to_b, to_a) == (b, a)
            assert latency_to_b == max(1, routes.distances(stops[1])[stops[0]])
            assert latency_to_a == max(1, routes.distances(stops[0])[stops[1]])
            pairs.add((a, b))
    assert len(pairs) == len(cores) * (len(cores) - 1) // 2


@pytest.mark.parametrize("machine", SHIPPED)
def test_every_port_is_used_once_and_every_link_end_exists(machine: str) -> None:
    _, document = exported(machine)
    paths = {object_["path"] for object_ in document["objects"]}
    ends = [(path, port) for link in document["links"] for path, port, _ in link["ends"]]
    assert len(ends) == len(set(ends))
    assert {path for path, _ in ends} <= paths
    assert all(latency >= 1 for link in document["links"] for _, _, latency in link["ends"])
    for object_ in document["objects"]:
        owner, _, _ = object_["path"].rpartition("/")
        assert not owner or owner in paths
    ids = [
        object_["params"]["id"]
        for object_ in document["objects"]
        if object_["type"] == "uncore.Hart"
    ]
    assert ids == [str(n) for n in range(len(ids))]


def test_hart_and_caches_have_the_parameters_of_their_kind_of_core() -> None:
    kinds = {"kinds.small": "core2", "core.small.clock": "1GHz", "core.small.l1": "16KiB 8-way 5cy"}
    document = system.describe(make_job("ring:4", "lock/ticket", "4", overrides=kinds))
    params = {object_["path"]: object_["params"] for object_ in document["objects"]}
    values = [
        (
            int(params[f"hart{n}"]["forward"]),
            params[f"l1_{n}"]["cache_size"],
            params[f"l2_{n}"]["cache_frequency"],
        )
        for n in range(4)
    ]
    large, small = (1333, "32768B", "167ps"), (5000, "16384B", "500ps")
    assert values == [large, large, small, large]


@pytest.mark.parametrize("machine", ["ring", "mesh", "ccx", "epyc7601x2", "x8160x2"])
def test_every_address_has_one_home(machine: str) -> None:
    """With each home policy that SST supports, pages have the same homes as on the machine."""
    count = len(topology.load(machine, []).memories)
    for home in ("addressed", "interleave", f"node{count - 1}"):
        job = make_job(machine, "lock/ticket", "2", smt=False, home=home)
        size = job.machine.memories[0].size
        regions = {
            int(object_["path"].removeprefix("home")): object_["params"]
            for object_ in system.describe(job)["objects"]
            if object_["type"] == "memHierarchy.DirectoryController"
        }
        for page in (0, 1, 7, size // 4096 - 1, count * size // 4096 - 1):
            address = homes.RAM_BASE + page * 4096
            owners = [node for node, params in regions.items() if _owns(params, address)]
            expected = {"addressed": page * 4096 // size, "interleave": page % count}
            assert owners == [expected.get(home, count - 1)], (home, page)


def test_run_folder_is_complete_and_reproducible(tmp_path: Path) -> None:
    job = replace(exported("epyc7601x2", "16")[0], engine="sst")
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        export(job, tmp_path / name)
    files = sorted(path.name for path in (tmp_path / "one").iterdir())
    assert files == ["README.md", "configuration.py", "job.json", "program.elf", "system.json"]
    for name in files:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    job_document = json.loads((tmp_path / "one/job.json").read_text())
    assert Job.of(job_document, job.program).document() == job.document()


def test_exported_program_has_the_same_initial_memory_as_native() -> None:
    """The ELF contains the initial memory of `native`, except the word `report`."""
    job = make_job("epyc7601x2", "lock/ticket", "64", smt=False)
    native_bytes = {
        a + i: byte for a, data in boot.memory(job) for i, byte in enumerate(data) if byte
    }
    elf = read(boot.elf(job), "exported")
    elf_bytes = {s.address + i: byte for s in elf.segments for i, byte in enumerate(s.data) if byte}
    differing = {
        address
        for address in native_bytes.keys() | elf_bytes.keys()
        if native_bytes.get(address) != elf_bytes.get(address)
    }
    assert len(differing) == 1  # the word `report` of the boot block
    assert sum(s.size for s in elf.segments) == sum(s.size for s in job.program.segments)


def _cores(job: Job) -> list[int]:
    return [job.machine.core_of(hart) for hart in job.used_harts]


def _stops(job: Job) -> dict[str, int]:
    """Returns the stop of each cache and directory by its name, computed only from the machine."""
    machine: Machine = job.machine
    stops = {}
    for number, core in enumerate(_cores(job)):
        stops[f"l1_{number}"] = stops[f"l2_{number}"] = machine.core_stops[core]
    for resolver in machine.resolvers:
        for number, stop in enumerate(dict.fromkeys(resolver.slices)):
            stops[f"{resolver.name}_{number}"] = stop
    roots = [resolver for resolver in machine.resolvers if not resolver.parents]
    for node, memory in enumerate(machine.memories):
        root = next((root for root in roots if root.memory == node), roots[0])
        stops[f"home{node}"] = memory.stop if root.data != "none" else root.slices[0]
    return stops


def _neighbours(document: dict[str, Any]) -> list[tuple[str, str]]:
    """Returns pairs of caches on one network, in which the first sends requests to the second
    because it is in the group below.
    """
    network: dict[str, str] = {}
    for link in document["links"]:
        ends = [path for path, _, _ in link["ends"]]
        if ends[0].endswith(("link", "linkcontrol")) and "_net_" in ends[1]:
            network[ends[0].removesuffix("/linkcontrol")] = ends[1].rpartition("_net_")[0]
    group = {
        object_["path"]: int(object_["params"]["group"])
        for object_ in document["objects"]
        if object_["type"] == "memHierarchy.MemNIC"
    }
    assert group.keys() == network.keys()
    return [
        (a.partition("/")[0], b.partition("/")[0])
        for a, b in product(group, group)
        if network[a] == network[b] and group[a] + 1 == group[b]
    ]


class _NetworkLatencies:
    """Latencies between the network interfaces of a document, including the time of routers."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.edges: dict[str, list[tuple[str, int]]] = {}
        self.hops = {
            object_["path"]: _hop(object_["params"]["link_bw"])
            for object_ in document["objects"]
            if object_["type"] in ROUTERS
        }
        for link in document["links"]:
            (a, _, latency_to_b), (b, _, latency_to_a) = link["ends"]
            if a in self.hops or b in self.hops:
                self.edges.setdefault(a, []).append((b, latency_to_b))
                self.edges.setdefault(b, []).append((a, latency_to_a))
        self.from_start: dict[str, dict[str, int]] = {}

    def between(self, source: str, target: str) -> tuple[int, int]:
        """Returns the latency, and the time that one router of the network takes."""
        starts = {}
        for start in _ports(source):
            if start in self.edges:
                latencies = self._from(start)
                ends = [end for end in _ports(target) if end in latencies]
                starts |= {latencies[end]: start for end in ends}
        latency = min(starts)
        router = self.edges[starts[latency]][0][0]
        return latency, self.hops[router]

    def _from(self, start: str) -> dict[str, int]:
        if start not in self.from_start:
            latencies = {start: 0}
            waiting = [(0, start)]
            while waiting:
                so_far, path = heapq.heappop(waiting)
                if so_far > latencies[path] or not (path == start or path in self.hops):
                    continue
                passed = so_far + self.hops.get(path, 0)
                for end, latency in self.edges[path]:
                    if passed + latency < latencies.get(end, math.inf):
                        latencies[end] = passed + latency
                        heapq.heappush(waiting, (passed + latency, end))
            self.from_start[start] = latencies
        return self.from_start[start]


def _ports(cache: str) -> list[str]:
    """Returns the ports by which a network may be attached to a cache: merlin's interface, or
    kingsley's inside it.
    """
    return [f"{cache}/{slot}{control}" for slot in SLOTS for control in ("", "/linkcontrol")]


def _hop(width: str) -> int:
    """Returns the ps of one router: the time of a flit on its link, and half of that in its
    crossbar.
    """
    flit = FLIT_BYTES * 1000 / float(width.removesuffix("GB/s"))
    return round(flit * 1.5)


def _owns(params: dict[str, str], address: int) -> bool:
    start, end = int(params["addr_range_start"]), int(params["addr_range_end"])
    size = int(params.get("interleave_size", "0B").removesuffix("B"))
    step = int(params.get("interleave_step", "0B").removesuffix("B"))
    inside = start <= address <= end
    return inside and (not step or (address - start) % step < size)

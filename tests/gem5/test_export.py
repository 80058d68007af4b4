"""Is the whole machine exported for gem5, even if gem5 is not installed?"""

from __future__ import annotations

import heapq
import json
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from tests.gem5.fake_gem5 import FakeGem5

from uncore import topology
from uncore.engine import export
from uncore.engine.gem5 import engine as gem5
from uncore.engine.gem5 import fabric
from uncore.engine.gem5 import simulation as system
from uncore.engine.gem5.levels import levels
from uncore.engine.outside import homes
from uncore.engine.outside.run_folder import CONFIGURATION_FILE
from uncore.execution.request import make_job
from uncore.job import Job
from uncore.topology.machine import Machine
from uncore.topology.route import Handoff, Routes

SHIPPED = [name for name, _ in topology.list_machines() if ":" not in name]
SHAPES = ["bus:4", "ring:8", "mesh:4x3", "ccx:1x4", "ring:3"]
PROTOCOLS = list(gem5.PROTOCOLS)
MAX_HARTS_EXPORTED = 16  # number of exported harts, which are spread over the machine
ONE_LEVEL, ALL_LEVELS = "one level", "all levels"


@cache
def exported(machine: str, depth: str = ONE_LEVEL) -> tuple[Job, str, dict[str, Any]]:
    """Exports a job whose harts share one level of resolvers, or are spread over the machine."""
    machine_ = topology.load(machine, [])
    threads = (
        min(cores_of_lowest_shared_level(machine_), gem5.MAX_HARTS)
        if depth == ONE_LEVEL
        else min(machine_.cores, MAX_HARTS_EXPORTED)
    )
    placement = "compact" if depth == ONE_LEVEL else "scatter"
    if machine_.kinds:  # all harts of an exported job must be on cores of one kind
        same_kind = [core for core, kind in enumerate(machine_.core_kinds) if kind == "core"]
        threads = min(threads, len(same_kind))
        placement = ",".join(str(machine_.harts_of(core)[0]) for core in same_kind)
    job = make_job(machine, "lock/ticket", [threads], smt=False, engine="gem5", placement=placement)
    protocol = gem5.choose(job, None) if depth == ONE_LEVEL else "CHI"
    return job, protocol, system.describe(job, protocol)


def cores_of_lowest_shared_level(machine: Machine) -> int:
    """Returns the number of cores below the first resolver that has several."""
    core_counts: dict[int, int] = dict.fromkeys(range(machine.cores), 1)
    for number, resolver in enumerate(machine.resolvers):
        core_counts[machine.cores + number] = sum(core_counts[child] for child in resolver.children)
        if core_counts[machine.cores + number] > 1:
            return core_counts[machine.cores + number]
    raise AssertionError


@pytest.fixture(autouse=True)
def hide_gem5(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hides an installed gem5, because an export must not depend on it."""
    monkeypatch.setenv("UNCORE_GEM5", "/nowhere")


@pytest.mark.sampled(every=4)
@pytest.mark.parametrize("depth", [ONE_LEVEL, ALL_LEVELS])
@pytest.mark.parametrize("machine", SHIPPED + SHAPES)
def test_every_link_on_a_route_is_exported_with_its_latency(machine: str, depth: str) -> None:
    """A link becomes one gem5 link, or two if several links share a medium. The latency differs by
    at most half a cycle.
    """
    job, protocol, document = exported(machine, depth)
    stops, period = _stops(job, protocol), _period(document)
    links = [job.machine.links[n] for n in Routes(job.machine).among(sorted(set(stops.values())))]
    routers = _routers(document, stops)
    wires = _wires(document, period)
    latencies = {(source, target): ps for source, target, ps in wires}
    assert len(latencies) == len(wires)
    channels = Counter(link.channel for link in links if link.channel >= 0)
    for link in links:
        a, b = (routers.get(stop) for stop in (link.source, link.target))
        if a is not None and b is not None and channels[link.channel] <= 1:
            assert abs(latencies[a, b] - link.control) <= _rounding_error(link.control, period)


@pytest.mark.sampled(every=4)
@pytest.mark.parametrize("depth", [ONE_LEVEL, ALL_LEVELS])
@pytest.mark.parametrize("machine", SHIPPED + SHAPES)
def test_exported_routes_keep_their_latency(machine: str, depth: str) -> None:
    """Paths between pairs of controllers are computed from the exported document and compared with
    the machine's routes.
    """
    job, protocol, document = exported(machine, depth)
    stops, period, routes = _stops(job, protocol), _period(document), Routes(job.machine)
    routers = {name: router for router, name in _controllers_of_routers(document)}
    latencies = _LeastLatencies(_wires(document, period))
    names = sorted(stops)[:: len(stops) // 12 + 1]
    assert routers.keys() == stops.keys()
    for a in names:
        for b in names:
            latency, wires = latencies.between(routers[a], routers[b])
            expected, path = routes.distances(stops[b])[stops[a]], routes.path(stops[a], stops[b])
            max_error = sum(_rounding_error(job.machine.links[n].control, period) for n in path)
            assert -wires * period / 2 <= latency - expected <= max_error, (a, b, latency, expected)


@pytest.mark.parametrize("machine", [name for name in SHIPPED if "ccx" in name or "x2" in name])
def test_requests_pass_the_same_levels_as_on_the_machine(machine: str) -> None:
    """The controllers that a request from a core passes are the machine's resolvers, in the same
    order.
    """
    job, _, document = exported(machine, ALL_LEVELS)
    objects, level = document["objects"], levels(job, several=True)
    handoff = Handoff(job.machine)
    for hart, core in enumerate(level.cores):
        for node in level.nodes:
            address = homes.RAM_BASE + node * job.machine.memories[0].size
            passed, controller = [], f"private{hart}"
            while destinations := objects[controller]["values"].get("downstream_destinations"):
                owners = [
                    child["object"]
                    for child in destinations
                    if _owns(objects[child["object"]], address)
                ]
                (controller,) = owners
                passed.append(controller)
            assert passed.pop() == f"memory_node{node}"
            names = [level.banks[int(name.removeprefix("bank"))].resolver.name for name in passed]
            assert names == [resolver.name for resolver in handoff.chain(core, node)]


def test_all_requests_on_a_bus_share_one_link() -> None:
    """Messages of all cores and of the memory pass the same link, which has the bandwidth of the
    bus.
    """
    job, _, document = exported("bus:4")
    (channel,) = {link.channel for link in job.machine.links if link.channel >= 0}
    busy = next(link.data_busy for link in job.machine.links if link.channel == channel)
    wires = [
        object_["values"] for name, object_ in document["objects"].items() if name[:4] == "wire"
    ]
    (narrow,) = [wire for wire in wires if wire["bandwidth_factor"] < fabric.NO_LIMIT]
    inputs = [wire for wire in wires if wire["dst_node"] == narrow["src_node"]]
    assert len(inputs) == 5
    cycles = fabric.DATA_BYTES * fabric.WIDTH_SCALE / narrow["bandwidth_factor"]
    assert cycles * _period(document) == pytest.approx(busy, rel=0.01)


@pytest.mark.parametrize("machine", ["bus:4", "ring:8", "epyc7601x2"])
def test_every_router_has_buffers_for_each_of_its_outputs(machine: str) -> None:
    _, protocol, document = exported(machine)
    networks = gem5.PROTOCOLS[protocol].networks
    output_counts = Counter(source for source, _, _ in _wires(document, 1))
    output_counts.update(router for router, _ in _controllers_of_routers(document))
    for name, object_ in document["objects"].items():
        if object_["type"] == "Switch":
            outputs = output_counts[int(name.removeprefix("router"))]
            assert len(object_["values"]["port_buffers"]) == outputs * networks > 0


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("home", ["addressed", "interleave", "node1"])
def test_every_address_has_one_home_and_one_bank(protocol: str, home: str) -> None:
    """Homes follow rule A4. The document has no addresses for the banks of MESI_Two_Level."""
    job = make_job("power9x2", "lock/ticket", [4], smt=False, home=home, engine="gem5")
    if protocol == "MESI_Two_Level" and home != "node1":
        pytest.skip("banks of MESI_Two_Level cannot belong to a node")
    objects = system.describe(job, protocol)["objects"]
    size, count = job.machine.memories[0].size, len(job.machine.memories)
    kinds = {"memory_node"} if protocol == "MESI_Two_Level" else {"memory_node", "bank"}
    for page in (0, 1, 7, size // 4096 - 1, size // 4096, count * size // 4096 - 1):
        for line in (0, 1, 2, 5):
            address = homes.RAM_BASE + page * 4096 + line * 64
            for kind in kinds:
                owners = [
                    name
                    for name, object_ in objects.items()
                    if name.startswith(kind) and _owns(object_, address)
                ]
                expected = {
                    "addressed": page * 4096 // size,
                    "interleave": page % count,
                    "node1": 0,
                }
                assert owners == [f"{kind}{expected[home]}"], (home, hex(address))


@pytest.mark.parametrize("size", [64, 128])
@pytest.mark.parametrize("protocol", ["MOESI_CMP_directory", "CHI"])
def test_consecutive_lines_belong_to_consecutive_banks(protocol: str, size: int) -> None:
    machine = topology.load("mesh:4x3", [f"line={size}B"])
    job = make_job(machine, "lock/ticket", [4], engine="gem5")
    objects = system.describe(job, protocol)["objects"]
    banks = [object_ for name, object_ in objects.items() if name.startswith("bank")]
    for line in (0, 1, 2, 7, 8, 21, 1 << 20):
        owners = [
            n for n, object_ in enumerate(banks) if _owns(object_, homes.RAM_BASE + line * size)
        ]
        assert owners == [line % 8]


def test_banks_are_spread_over_the_whole_machine() -> None:
    job, _, _ = exported("mesh:4x3")
    slices = job.machine.resolvers[0].slices
    banks = levels(job, several=False).banks
    assert [bank.share_index for bank in banks] == list(range(8))
    assert [slices.index(bank.stop) for bank in banks] == [0, 1, 3, 4, 6, 7, 9, 10]


@pytest.mark.parametrize("machine", ["ring:4", "bus:4", "power9x2"])
def test_the_configuration_makes_and_connects_each_object(machine: str, tmp_path: Path) -> None:
    """gem5 is imitated, so that objects, values, connections and calls can be checked
    afterwards.
    """
    job, _, document = exported(machine)
    export(job, tmp_path)
    fake = FakeGem5("24.0.0.1")
    fake.run(tmp_path / CONFIGURATION_FILE)
    assert json.loads((tmp_path / "system.json").read_text()) == document
    described = list(document["objects"].values())
    assert [type(created).__name__ for created in fake.objects[: len(described)]] == [
        object_["type"] for object_ in described
    ]
    for object_, created in zip(described, fake.objects, strict=False):
        for name, value in object_["values"].items():
            if "." not in name and not isinstance(value, dict | list):
                assert created.values[name] == value
    assert fake.calls.count("createThreads") == job.threads[0]
    assert fake.calls.count("setup_buffers") == len(_wires(document, 1))


def test_run_folder_is_complete_and_reproducible(tmp_path: Path) -> None:
    job, protocol, _ = exported("ring:8")
    for name in ("one", "two"):
        export(job, tmp_path / name)
    files = {path.name: path.read_bytes() for path in (tmp_path / "one").iterdir()}
    assert sorted(files) == [
        "README.md",
        "code.bin",
        "configuration.py",
        "job.json",
        "program.elf",
        "system.json",
    ]
    for name, content in files.items():
        assert (tmp_path / "two" / name).read_bytes() == content
    job_document = json.loads(files["job.json"])
    assert Job.of(job_document, job.program).document() == job.document()
    assert protocol.encode() in files["README.md"]
    assert files["code.bin"] in files["program.elf"]


# ---- helpers that read a document


def _stops(job: Job, protocol: str) -> dict[str, int]:
    """Returns the stop of each controller by its name, computed from the machine."""
    level = levels(job, gem5.PROTOCOLS[protocol].several)
    stops = {f"private{n}": job.machine.core_stops[core] for n, core in enumerate(level.cores)}
    stops |= {f"bank{n}": bank.stop for n, bank in enumerate(level.banks)}
    memories = [job.machine.memories[node].stop for node in level.nodes]
    return stops | {f"memory_node{n}": stop for n, stop in enumerate(memories)}


def _period(document: dict[str, Any]) -> int:
    clock = document["objects"]["system"]["values"]["clk_domain"]["values"]["clock"]
    return int(clock.removesuffix("ps"))


def _controllers_of_routers(document: dict[str, Any]) -> list[tuple[int, str]]:
    """Returns the router and the controller of each link at the edge of the network."""
    links = [
        object_["values"]
        for object_ in document["objects"].values()
        if "ext_node" in object_["values"]
    ]
    return [(_number(link["int_node"]), link["ext_node"]["object"]) for link in links]


def _routers(document: dict[str, Any], stops: dict[str, int]) -> dict[int, int]:
    return {stops[name]: router for router, name in _controllers_of_routers(document)}


def _wires(document: dict[str, Any], period: int) -> list[tuple[int, int, int]]:
    wires = [
        object_["values"]
        for object_ in document["objects"].values()
        if "src_node" in object_["values"]
    ]
    assert all(wire["weight"] == wire["latency"] >= 1 for wire in wires)
    assert len({wire["link_id"] for wire in wires}) == len(wires)
    return [
        (_number(wire["src_node"]), _number(wire["dst_node"]), wire["latency"] * period)
        for wire in wires
    ]


def _number(router: dict[str, str]) -> int:
    return int(router["object"].removeprefix("router"))


def _rounding_error(latency: int, period: int) -> float:
    """Returns the largest rounding error of a latency that is converted to at least one cycle."""
    return max(period / 2, period - latency)


def _owns(described: dict[str, Any], address: int) -> bool:
    return any(
        _contains(described_["range"], address) for described_ in described["values"]["addr_ranges"]
    )


def _contains(range_: dict[str, Any], address: int) -> bool:
    """Computes the same as gem5's AddrRange (src/base/addr_range.hh)."""
    if not range_["start"] <= address < range_["start"] + range_["size"]:
        return False
    masks = range_.get("masks", [])
    turn = sum(((address & mask).bit_count() & 1) << n for n, mask in enumerate(masks))
    return bool(turn == range_.get("intlvMatch", 0))


class _LeastLatencies:
    """Least latencies between routers. The path is chosen by weight, as in gem5."""

    def __init__(self, wires: list[tuple[int, int, int]]) -> None:
        self.outputs: dict[int, list[tuple[int, int]]] = {}
        for source, target, ps in wires:
            self.outputs.setdefault(source, []).append((target, ps))
        self.from_router: dict[int, dict[int, tuple[int, int]]] = {}

    def between(self, source: int, target: int) -> tuple[int, int]:
        """Returns the least latency, and the number of links on that path."""
        if source not in self.from_router:
            latencies = {source: (0, 0)}
            waiting = [(0, 0, source)]
            while waiting:
                latency, wires, router = heapq.heappop(waiting)
                for end, ps in self.outputs.get(router, []):
                    best = (latency + ps, wires + 1)
                    if best < latencies.get(end, (1 << 60, 0)):
                        latencies[end] = best
                        heapq.heappush(waiting, (*best, end))
            self.from_router[source] = latencies
        return self.from_router[source][target]

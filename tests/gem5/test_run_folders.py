"""Does each supported version of gem5 accept every run folder, according to its declarations?

The tests check the names of types, parameters, ports and methods, the kinds of values, and required
parameters and connections (fake_gem5.py). Since 24.1 a build may have several protocols, and the
name of a controller begins with that of its protocol.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from tests.gem5.fake_gem5 import VERSIONS, FakeGem5
from tests.gem5.test_export import ALL_LEVELS, ONE_LEVEL, SHAPES, SHIPPED, exported, hide_gem5

from uncore.engine.gem5 import simulation
from uncore.engine.outside.run_folder import CONFIGURATION_FILE
from uncore.support import paths

__all__ = ["hide_gem5"]
Document = dict[str, Any]
GEM5_BUILDS = [("24.0.0.1", False), ("24.1", True)]


def run_configuration(
    document: Document, folder: Path, version: str, long_names: bool = False
) -> FakeGem5:
    (folder / "system.json").write_text(json.dumps(document))
    shutil.copy(paths.GEM5 / CONFIGURATION_FILE, folder)
    fake = FakeGem5(version, long_names)
    fake.run(folder / CONFIGURATION_FILE)
    return fake


def test_every_declared_gem5_version_is_tested() -> None:
    assert sorted({version for version, _ in GEM5_BUILDS}) == VERSIONS


@pytest.mark.sampled(every=4)
@pytest.mark.parametrize("depth", [ONE_LEVEL, ALL_LEVELS])
@pytest.mark.parametrize("machine", SHIPPED + SHAPES)
def test_each_gem5_version_accepts_every_run_folder(
    machine: str, depth: str, tmp_path: Path
) -> None:
    job, _, document = exported(machine, depth)
    for version, long_names in GEM5_BUILDS:
        fake = run_configuration(document, tmp_path, version, long_names)
        assert fake.calls.count("createThreads") == job.threads[0]


@pytest.mark.parametrize("machine", ["bus:4", "ring:4", "mesh:4x3", "power9x2"])
def test_each_gem5_version_accepts_run_folders_of_moesi_cmp_directory(
    machine: str, tmp_path: Path
) -> None:
    job, _, _ = exported(machine)
    document = simulation.describe(job, "MOESI_CMP_directory")
    for version, long_names in GEM5_BUILDS:
        run_configuration(document, tmp_path, version, long_names)


def rename(name: str, old: str, new: str) -> Callable[[Document], None]:
    def change(document: Document) -> None:
        values = document["objects"][name]["values"]
        values[new] = values.pop(old)

    return change


def set_to(name: str, key: str, value: Any) -> Callable[[Document], None]:
    return lambda document: document["objects"][name]["values"].update({key: value})


def without(name: str, *path: str) -> Callable[[Document], None]:
    def change(document: Document) -> None:
        values = document["objects"][name]["values"]
        for step in path[:-1]:
            values = values[step]["values"]
        del values[path[-1]]

    return change


def disconnect(port: str) -> Callable[[Document], None]:
    def change(document: Document) -> None:
        (end,) = [ends for ends in document["ports"] if ends[0] == port]
        document["ports"].remove(end)

    return change


MISTAKES = {
    "misspelt parameter": (
        rename("private0", "l1_request_latency", "l1_request_latancy"),
        "L1Cache_Controller has no parameter l1_request_latancy",
    ),
    "misspelt parameter that is an object": (
        rename("private0", "sequencer", "sequencre"),
        "L1Cache_Controller has no parameter sequencre",
    ),
    "missing parameter": (
        without("private0", "send_evictions"),
        r"send_evictions is required and not set",
    ),
    "missing parameter of a part": (
        set_to("private0", "prefetcher", {"new": "RubyPrefetcher", "values": {}}),
        r"prefetcher\.block_size is required and not set",
    ),
    "text instead of a number": (set_to("wire0", "latency", "18"), "'18' is no Cycles"),
    "number instead of a text": (set_to("memory0", "latency", 60), "60 is no Latency"),
    "number instead of a boolean": (set_to("root", "full_system", 1), "1 is no Bool"),
    "unknown value of an enumeration": (
        set_to("system", "mem_mode", "timming"),
        "'timming' is no MemoryMode",
    ),
    "object of the wrong type": (
        set_to("private0", "sequencer", {"object": "network"}),
        "is no RubySequencer",
    ),
    "list instead of a single value": (
        set_to("private0", "version", [1]),
        "several values for one Int",
    ),
    "wrong arguments of a range": (
        set_to("memory0", "range", {"range": {"begin": 0, "size": 1}}),
        "unexpected keyword argument 'begin'",
    ),
    "unknown type": (
        lambda document: document["objects"]["network"].update(type="SimpelNetwork"),
        "SimpelNetwork",
    ),
    "unconnected port of a core": (disconnect("cpu1.dcache_port"), "dcache_port is not connected"),
    "unconnected port of a page walker": (
        disconnect("cpu0.mmu.itb.walker.port"),
        r"itb\.walker\.port is not connected",
    ),
    "unconnected port of a home": (
        disconnect("memory_node0.memory_out_port"),
        "memory_out_port is not connected",
    ),
    "unconnected port of a device": (
        disconnect("platform.plic.pio"),
        r"plic\.pio is not connected",
    ),
    "buffer that is not connected to the network": (
        without("private0", "requestFromL1Cache", "out_port"),
        r"requestFromL1Cache\.out_port is not connected",
    ),
    "port connected twice": (
        lambda document: document["ports"].append(["cpu0.dcache_port", "sequencer0.in_ports"]),
        "dcache_port is connected already",
    ),
    "ports that cannot be connected": (
        lambda document: document["ports"].append(
            ["iobus.mem_side_ports", "loader.mem_request_port"]
        ),
        "do not fit",
    ),
    "misspelt port": (
        lambda document: document["ports"][0].__setitem__(1, "loader.in_port"),
        "RubyPortProxy has no in_port",
    ),
    "misspelt method": (
        lambda document: document["calls"].append(["platform.attachPlick"]),
        "HiFive has no attachPlick",
    ),
    "missing call of a method": (
        lambda document: document["calls"].remove(["platform.attachPlic"]),
        r"plic\.n_src is required and not set",
    ),
    "object without an owner": (without("system", "code"), "SimpleMemory belongs to nothing"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_run_folder_that_gem5_would_refuse_is_detected(mistake: str, tmp_path: Path) -> None:
    change, message = MISTAKES[mistake]
    document = deepcopy(exported("ring:4")[2])
    change(document)
    with pytest.raises(
        (AttributeError, TypeError, ValueError, RuntimeError, KeyError), match=message
    ):
        run_configuration(document, tmp_path, "24.1")

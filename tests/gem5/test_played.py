"""Does each supported version of gem5 accept every run folder, according to its declarations?

The tests check the names of types, parameters, ports and methods, the kinds of values, required
parameters and required connections (played.py).  Since 24.1 a build may have several protocols, and
the name of a controller begins with that of its protocol.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from tests.gem5.played import VERSIONS, Played
from tests.gem5.test_export import DEEP, FLAT, SHAPES, SHIPPED, exported, nowhere

from uncore.engine.gem5 import simulation
from uncore.engine.outside.run_folder import CONFIGURATION
from uncore.support import paths

__all__ = ["nowhere"]
Document = dict[str, Any]
GEM5_BUILDS = [("24.0.0.1", False), ("24.1", True)]


def play(document: Document, folder: Path, version: str, long: bool = False) -> Played:
    (folder / "system.json").write_text(json.dumps(document))
    shutil.copy(paths.GEM5 / CONFIGURATION, folder)
    played = Played(version, long)
    played.run(folder / CONFIGURATION)
    return played


def test_every_declared_gem5_version_is_tested() -> None:
    assert sorted({version for version, _ in GEM5_BUILDS}) == VERSIONS


@pytest.mark.parametrize("what", [FLAT, DEEP])
@pytest.mark.parametrize("machine", SHIPPED + SHAPES)
def test_each_gem5_version_accepts_every_run_folder(
    machine: str, what: str, tmp_path: Path
) -> None:
    job, _, document = exported(machine, what)
    for version, long in GEM5_BUILDS:
        played = play(document, tmp_path, version, long)
        assert played.calls.count("createThreads") == job.threads[0]


@pytest.mark.parametrize("machine", ["bus:4", "ring:4", "mesh:4x3", "power9x2"])
def test_each_gem5_version_accepts_run_folders_of_moesi_cmp_directory(
    machine: str, tmp_path: Path
) -> None:
    job, _, _ = exported(machine)
    document = simulation.describe(job, "MOESI_CMP_directory")
    for version, long in GEM5_BUILDS:
        play(document, tmp_path, version, long)


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


SPOILED_FOLDERS = {
    "parameter misspelt": (
        rename("private0", "l1_request_latency", "l1_request_latancy"),
        "L1Cache_Controller has no parameter l1_request_latancy",
    ),
    "object's parameter misspelt": (
        rename("private0", "sequencer", "sequencre"),
        "L1Cache_Controller has no parameter sequencre",
    ),
    "parameter missing": (
        without("private0", "send_evictions"),
        r"send_evictions is required and not set",
    ),
    "parameter that only a newer one wants": (
        set_to("private0", "prefetcher", {"new": "RubyPrefetcher", "values": {}}),
        r"prefetcher\.block_size is required and not set",
    ),
    "text for a number": (set_to("wire0", "latency", "18"), "'18' is no Cycles"),
    "number for a text": (set_to("memory0", "latency", 60), "60 is no Latency"),
    "number for a switch": (set_to("root", "full_system", 1), "1 is no Bool"),
    "value that is none of the kind's": (
        set_to("system", "mem_mode", "timming"),
        "'timming' is no MemoryMode",
    ),
    "object of another type": (
        set_to("private0", "sequencer", {"object": "network"}),
        "is no RubySequencer",
    ),
    "several for one": (set_to("private0", "version", [1]), "several values for one Int"),
    "range of another shape": (
        set_to("memory0", "range", {"range": {"begin": 0, "size": 1}}),
        "unexpected keyword argument 'begin'",
    ),
    "type that is none": (
        lambda document: document["objects"]["network"].update(type="SimpelNetwork"),
        "SimpelNetwork",
    ),
    "port of a core left open": (disconnect("cpu1.dcache_port"), "dcache_port is not connected"),
    "port of a page walker left open": (
        disconnect("cpu0.mmu.itb.walker.port"),
        r"itb\.walker\.port is not connected",
    ),
    "port of a home left open": (
        disconnect("memory_node0.memory_out_port"),
        "memory_out_port is not connected",
    ),
    "port of a device left open": (
        disconnect("platform.plic.pio"),
        r"plic\.pio is not connected",
    ),
    "buffer that does not join the network": (
        without("private0", "requestFromL1Cache", "out_port"),
        r"requestFromL1Cache\.out_port is not connected",
    ),
    "port connected twice": (
        lambda document: document["ports"].append(["cpu0.dcache_port", "sequencer0.in_ports"]),
        "dcache_port is connected already",
    ),
    "ports that do not fit": (
        lambda document: document["ports"].append(
            ["iobus.mem_side_ports", "loader.mem_request_port"]
        ),
        "do not fit",
    ),
    "port misspelt": (
        lambda document: document["ports"][0].__setitem__(1, "loader.in_port"),
        "RubyPortProxy has no in_port",
    ),
    "method misspelt": (
        lambda document: document["calls"].append(["platform.attachPlick"]),
        "HiFive has no attachPlick",
    ),
    "method not called": (
        lambda document: document["calls"].remove(["platform.attachPlic"]),
        r"plic\.n_src is required and not set",
    ),
    "object of nobody": (without("system", "code"), "SimpleMemory belongs to nothing"),
}


@pytest.mark.parametrize("spoiled", SPOILED_FOLDERS)
def test_run_folder_that_gem5_would_refuse_is_detected(spoiled: str, tmp_path: Path) -> None:
    change, words = SPOILED_FOLDERS[spoiled]
    document = deepcopy(exported("ring:4")[2])
    change(document)
    with pytest.raises(
        (AttributeError, TypeError, ValueError, RuntimeError, KeyError), match=words
    ):
        play(document, tmp_path, "24.1")

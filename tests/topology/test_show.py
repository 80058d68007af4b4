"""Does a machine's text describe every level, and does its picture show every stop once?"""

from __future__ import annotations

from pathlib import Path

import pytest

from uncore.report.machine_picture import save_picture
from uncore.topology import explained_text, load
from uncore.topology.layout import layout
from uncore.topology.load import shipped, stated


def test_text_of_a_machine_names_every_level_with_its_resolver() -> None:
    text = explained_text(load("epyc7601x2", ["socket.join.latency=32ns"]))
    for words in (
        "2x AMD EPYC 7601 (epyc7601x2)",
        "64 cores, 128 harts, 8 memory nodes, MOESI",
        "2 x socket: 32 cores, 24 links of 32 ns",
        "8 x die: 8 cores",
        "16 x ccx: 4 cores",
        "resolver ccx0 .. ccx15: shadow-tags, 4 slices, victim 8 MiB 16-way",
        "resolver home0 .. home7: directory, root",
        "64 x core: 2 threads, L1 32 KiB 1.25 ns, L2 512 KiB 3.75 ns",
    ):
        assert words in text
    assert len(text.splitlines()) <= 13


@pytest.mark.parametrize("name", [*shipped(), "bus:40", "ring:9", "mesh:16x8", "ccx:32x8"])
def test_every_stop_of_a_picture_has_its_own_place(name: str) -> None:
    machine = load(name)
    box = layout(machine)
    assert set(box.points) == set(machine.stops)
    assert len(set(box.points.values())) == len(machine.stops)
    assert all(0 <= x <= box.width and 0 <= y <= box.height for x, y in box.points.values())


def test_the_stops_of_a_mesh_stand_in_rows_and_columns() -> None:
    points = layout(load("mesh:4x3")).points
    assert points["x1y0"][1] == points["x3y0"][1] < points["x1y2"][1]
    assert points["x1y0"][0] == points["x1y2"][0] < points["x3y0"][0]


def test_picture_is_written_to_the_named_file(tmp_path: Path) -> None:
    for suffix in ("png", "svg"):
        picture = tmp_path / f"machine.{suffix}"
        save_picture(load("ccx"), picture)
        assert picture.stat().st_size > 5000


@pytest.mark.parametrize("name", ["i912900k", "epyc7601x2", "mesh:4x4"])
def test_every_key_of_a_machine_is_listed_and_can_be_set(name: str) -> None:
    """The list of `uncore show --keys` includes words and defaults."""
    keys = stated(name)
    assert {number.key for number in load(name).numbers} <= keys.keys()
    assert any(key.endswith(".resolver.lookup") and not leaf for key, (_, leaf) in keys.items())
    values = {key: leaf.value for key, (_, leaf) in keys.items() if leaf}
    assert any(key.endswith(".resolver.knows") for key in values)
    # Setting the kind of a join would reset its other keys, and links are a list.
    lines = {k: v for k, v in values.items() if isinstance(v, str) and not k.endswith(".kind")}
    assert load(name, [f"{key}={text}" for key, text in lines.items()]) == load(name)

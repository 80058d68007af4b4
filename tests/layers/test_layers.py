"""The layers of sim/native/README.md are those of the includes: one way only, no cycles."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.layers.source import GENERATED, NATIVE, SST, TOP, files, includes

ROW = re.compile(r"^\| `(\w+)` \| .* \|(.*)\|$", re.MULTILINE)


def layers() -> dict[str, set[str]]:
    """What each layer may include, lowest first."""
    page = (NATIVE / "README.md").read_text()
    return {name: set(re.findall(r"`(\w+)`", allowed)) for name, allowed in ROW.findall(page)}


def graph() -> dict[str, list[str]]:
    """Files of ours that each file (from sim/native, or as sst/NAME) includes."""
    return {_name(file): [_target(file, i) for i in includes(file)] for file in files()}


def _name(file: Path) -> str:
    root = next(r for r in (NATIVE, GENERATED, SST.parent) if r in file.parents)
    return str(file.relative_to(root))


def _target(file: Path, include: str) -> str:
    return f"sst/{include}" if file.parent == SST and (SST / include).exists() else include


def layer(name: str) -> str:
    return name.split("/")[0]


def between(included: dict[str, list[str]]) -> dict[str, set[str]]:
    """Layers that the files of each layer include."""
    found = defaultdict(set)
    for name, targets in included.items():
        found[layer(name)] |= {layer(t) for t in targets if "/" in t} - {layer(name)}
    return found


def cycles(included: dict[str, list[str]]) -> Iterator[list[str]]:
    done: set[str] = set()

    def visit(name: str, path: list[str]) -> Iterator[list[str]]:
        if name in path:
            yield path[path.index(name) :]
        elif name not in done:
            for target in included.get(name, []):
                yield from visit(target, [*path, name])
            done.add(name)

    for name in included:
        yield from visit(name, [])


def test_a_layer_includes_only_layers_above_its_row():
    before: list[str] = []
    for name, allowed in layers().items():
        assert allowed <= set(before), f"{name} may include what stands below it"
        before.append(name)


def test_every_folder_with_code_is_a_layer():
    assert {layer(name) for name in graph()} == set(layers())


@pytest.mark.parametrize("name", layers())
def test_a_layer_includes_what_its_row_says(name):
    assert between(graph())[name] == layers()[name]


def test_no_files_include_each_other():
    assert list(cycles(graph())) == []


def test_every_include_is_found():
    roots = [NATIVE, GENERATED, SST.parent, TOP / "workloads" / "include"]
    for name, targets in graph().items():
        for target in targets:
            assert any((root / target).exists() for root in roots), f"{name}: {target}"

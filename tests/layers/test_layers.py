"""Do the includes follow the layers of sim/native/README.md, in one direction and without
cycles?
"""

from __future__ import annotations

import re
from collections import defaultdict

import pytest
from tests.layers.cpp import GENERATED, NATIVE, SST, TOP, graph

ROW = re.compile(r"^\| `(\w+)` \| .* \|(.*)\|$", re.MULTILINE)


def layers() -> dict[str, set[str]]:
    """Returns the layers that each layer may include. The lowest layer is first."""
    page = (NATIVE / "README.md").read_text()
    return {name: set(re.findall(r"`(\w+)`", allowed)) for name, allowed in ROW.findall(page)}


def layer(name: str) -> str:
    return name.split("/")[0]


def included_layers(included: dict[str, list[str]]) -> dict[str, set[str]]:
    """Returns the layers that the files of each layer include."""
    layers_ = defaultdict(set)
    for name, targets in included.items():
        layers_[layer(name)] |= {layer(t) for t in targets if "/" in t} - {layer(name)}
    return layers_


def test_a_layer_includes_only_layers_in_earlier_rows_of_the_table():
    earlier: list[str] = []
    for name, allowed in layers().items():
        assert allowed <= set(earlier), f"{name} may include a layer of a later row"
        earlier.append(name)


def test_every_folder_with_code_is_a_layer():
    assert {layer(name) for name in graph()} == set(layers())


@pytest.mark.parametrize("name", layers())
def test_each_layer_includes_exactly_the_layers_of_its_row(name):
    assert included_layers(graph())[name] == layers()[name]


def test_every_include_is_found():
    roots = [NATIVE, GENERATED, SST.parent, TOP / "workloads" / "include"]
    for name, targets in graph().items():
        for target in targets:
            assert any((root / target).exists() for root in roots), f"{name}: {target}"

"""Loads shapes, which are parametric machines that can be given instead of a machine's name.

    bus:8        8 cores on a snooping broadcast bus
    ring:16      16 cores, each with a slice of the shared cache, on a bidirectional ring
    weak:16      like ring:16, with weakly ordered cores
    mesh:16x8    a core and a slice at each crosspoint of a mesh 16 wide and 8 high
    ccx:32x8     32 complexes of 8 cores on an IO die with the home directory

A shape is an instance of the teaching machine of the same name (topologies/bus.toml ...). That file
has the numbers; the shape adds the tree and the size.
"""

from __future__ import annotations

import re

from uncore.errors import UserError, suggestion
from uncore.support.paths import TOPOLOGIES
from uncore.topology.document import Branch, Place, find_file, merged, parse, read_chain
from uncore.topology.schema import MOST_HARTS

EXAMPLES = {
    "bus": "bus:8",
    "ring": "ring:16",
    "weak": "weak:16",
    "mesh": "mesh:16x8",
    "ccx": "ccx:32x8",
}


def is_shape(name: str) -> bool:
    return ":" in name and "/" not in name


def read_shape(name: str) -> Branch:
    kind, _, size = name.partition(":")
    pattern = r"[1-9]\d{0,4}x[1-9]\d{0,4}" if kind in ("mesh", "ccx") else r"[1-9]\d{0,4}"
    if kind not in EXAMPLES or not re.fullmatch(pattern, size):
        examples = " ".join(EXAMPLES.values())
        hint = "" if kind in EXAMPLES else suggestion(kind, EXAMPLES)
        raise UserError(
            f"'{name}': expected a shape like {EXAMPLES.get(kind, examples)}, of at most"
            f" {MOST_HARTS} harts.{hint}"
        )
    position = Place(name, 0)
    base = read_chain(find_file(kind, TOPOLOGIES, position))
    return merged(base, parse(_instance(kind, size), name, "shape"))


def _instance(kind: str, size: str) -> str:
    if kind == "ccx":
        complexes, cores = size.split("x")
        tree = f"ccx:{complexes} core:{cores}"
        return f'name = "ccx:{size}"\ntree = "{tree} thread:1"'
    if kind == "mesh":
        width, height = map(int, size.split("x"))
        head = f'name = "mesh:{size}"\ntree = "core:{width * height} thread:1"'
        return f'{head}\n[system.join]\nsize = "{size}"'
    return f'name = "{kind}:{size}"\ntree = "core:{size} thread:1"'

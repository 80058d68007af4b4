"""Loads machines, by a name, a file or a shape.

With `measured`, the clock of cores is `core.measured_clock`, if the machine's file states it: the
clock at which the real machine was measured. Comparisons with figures of a real machine use it.
"""

from __future__ import annotations

import copy
import tomllib
from collections.abc import Iterable
from functools import partial
from pathlib import Path

from uncore.errors import UserError, suggestion
from uncore.support.paths import TOPOLOGIES
from uncore.topology.document import Branch, Leaf, merged, overlay, parse, read_chain, read_text
from uncore.topology.incomplete import Incomplete, additions, proposal, toml
from uncore.topology.machine import Machine
from uncore.topology.resolve import resolve
from uncore.topology.schema import Key
from uncore.topology.shapes import EXAMPLES, is_shape, read_shape
from uncore.topology.table_reader import KeyRecord
from uncore.topology.written_file import text_of


def load(
    name_or_path: str | Path, overrides: Iterable[str] = (), *, measured: bool = False
) -> Machine:
    """Loads a shipped machine by its id, a TOML file by its path, or a shape. Each of `overrides`
    is KEY=VALUE.
    """
    return _load(name_or_path, overrides, measured)[0]


def stated(
    name_or_path: str | Path, overrides: Iterable[str] = ()
) -> dict[str, tuple[Key, Leaf | None]]:
    """Returns every key that is looked up when this machine is read, with its value in the
    files.
    """
    return _load(name_or_path, overrides)[1].asked


def _load(
    name_or_path: str | Path, overrides: Iterable[str], measured: bool = False
) -> tuple[Machine, KeyRecord]:
    name = str(name_or_path)
    tree, identifier = read_measured(name) if measured else read(name)
    settings = list(overrides)
    if settings:
        tree = merged(tree, overlay(settings))
    key_record = KeyRecord(tree)
    try:
        return resolve(tree, identifier, key_record), key_record
    except Incomplete as lack:
        raise proposal(tree, lack, partial(_resolved, identifier=identifier)) from None


def load_text(text: str, name: str) -> Machine:
    """Loads a machine from the text of a file; error messages call that file `name`."""
    return _resolved(read_text(text, name), name)


def _resolved(tree: Branch, identifier: str) -> Machine:
    return resolve(tree, identifier, KeyRecord(tree))


def whole_text(name: str, overrides: Iterable[str] = ()) -> str:
    """Returns the text of a complete file of the machine, which extends no other file, and has
    examples of keys that the machine does not use.
    """
    tree, identifier = read(name)
    if settings := list(overrides):
        tree = merged(tree, overlay(settings))
    resolved = partial(_resolved, identifier=identifier)
    try:
        resolved(copy.deepcopy(tree))
    except Incomplete as lack:
        adds = additions(copy.deepcopy(tree), lack, resolved)
        if adds is None:
            raise UserError(str(lack)) from None
        tree = merged(tree, parse(toml(adds), "added", "estimate: as teaching machines have it"))
    return text_of(tree)


def read(name: str) -> tuple[Branch, str]:
    """Returns the tree of a machine's values, not yet checked, and the machine's id."""
    if name.endswith(".toml"):
        return read_chain(Path(name)), Path(name).stem
    if is_shape(name):
        return read_shape(name), name
    path = TOPOLOGIES / f"{name}.toml"
    if name not in shipped():
        names = [*shipped(), *EXAMPLES.values()]
        raise UserError(
            f"unknown machine '{name}'.{suggestion(name, names)} Expected a name from"
            f" `uncore list`, a shape ({' '.join(EXAMPLES.values())}) or a file, like"
            f" ./{Path(name).name}.toml"
        )
    return read_chain(path), name


def read_measured(name: str) -> tuple[Branch, str]:
    """Returns what `read` returns, but with the clocks at which the real machine was measured."""
    tree, identifier = read(name)
    core = tree.items.get("core")
    tables = [core, *core.items.values()] if isinstance(core, Branch) else []
    for table in tables:  # the table of all cores, and the tables of kinds of cores
        if isinstance(table, Branch) and "measured_clock" in table.items:
            table.items["clock"] = table.items["measured_clock"]
    return tree, identifier


def shipped() -> list[str]:
    return sorted(path.stem for path in TOPOLOGIES.glob("*.toml"))


def _tree(path: Path) -> str:
    """Returns the text of `tree` in a shipped file, or in the file that it extends."""
    values = tomllib.loads(path.read_text())
    return str(values.get("tree") or _tree(path.with_name(f"{values['extends']}.toml")))


def list_machines() -> list[tuple[str, str]]:
    """Returns (id, one line of text) for each shipped machine, then for each shape."""
    lines = []
    for name in shipped():
        path = TOPOLOGIES / f"{name}.toml"
        title = tomllib.loads(path.read_text())["name"]
        lines.append((name, f"{title}: {_tree(path)}"))
    kinds = {
        "bus:N": "N cores on a snooping bus",
        "ring:N": "N cores and slices on a ring",
        "weak:N": "the same, weakly ordered: what holds here holds on Arm and RISC-V",
        "mesh:WxH": "a core and a slice at each crosspoint of a mesh",
        "ccx:NxM": "N complexes of M cores on an IO die with a home directory",
    }
    return lines + list(kinds.items())

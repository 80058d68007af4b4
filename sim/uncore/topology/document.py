"""Reads machine files as trees of values with their file and line.

`read_chain(path)` reads a TOML file and the files that it extends into one tree of `Branch` (a
table) and `Leaf` (a value with its source, file and line); a file's own values override inherited
ones. `overlay` makes such a tree from `--with KEY=VALUE`. Short forms ("crossbar 9cy 32B/cy",
"32KiB 8-way 4cy") are expanded into tables here, so that merging and overriding handle one form
only.

`extends` names one file or a list of files, of which a later one overrides an earlier one. A table
that states its `kind` replaces the inherited table, because the keys of a ring mean nothing to a
mesh.

`source = "..."` in a table, or at the head of a file, is the source of every number below it. A
number may have a source of its own, and an interval: `{ value = "32ns", interval = ["28ns", "36ns"]
}`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeAlias

from uncore.errors import UserError, suggestion
from uncore.support.input_files import read_bounded
from uncore.support.paths import TOPOLOGIES
from uncore.topology.positions import key_lines
from uncore.topology.shorthand import written_out
from uncore.topology.units import UnitError

MAX_CACHED_FILES = 256  # number of parsed files that are cached, because machines share families
MAX_MACHINE_BYTES = 1 << 20
MAX_EXTENDED_FILES = 32  # maximum number of files of one machine
MAX_KEY_PARTS = 16  # maximum number of parts of a key in `--with KEY=VALUE`


@dataclass(frozen=True)
class Place:
    file: str
    line: int  # 0: the value is not from a file

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file


@dataclass(frozen=True)
class Leaf:
    value: Any
    source: str
    place: Place
    # bounds of the number in the real machine
    interval: tuple[str, str] | None = None


@dataclass
class Branch:
    place: Place
    items: dict[str, Node] = field(default_factory=dict)


Node: TypeAlias = Leaf | Branch


def wrong(position: Place, message: str) -> UserError:
    return UserError(f"{position}: {message}")


def read_chain(path: Path) -> Branch:
    return _chain(path, (), Place(str(path), 0), [])


def _chain(
    path: Path, extending_files: tuple[Path, ...], asked_at: Place, read: list[Path]
) -> Branch:
    try:
        path = path.resolve()
    # a cycle of symbolic links, or a NUL in the name
    except (OSError, RuntimeError, ValueError) as error:
        raise wrong(asked_at, f"cannot read {str(path)!r}: {error}") from None
    if path in extending_files:
        cycle = " -> ".join(p.name for p in (*extending_files[extending_files.index(path) :], path))
        raise wrong(asked_at, f"'extends' goes round in a circle: {cycle}; remove one of them")
    read.append(path)
    if len(read) > MAX_EXTENDED_FILES:
        raise wrong(
            asked_at, f"more than {MAX_EXTENDED_FILES} files extend one another; expected fewer"
        )
    return _with_parents(read_file(path, asked_at), (*extending_files, path), read)


def read_text(text: str, name: str) -> Branch:
    """Returns the tree of a machine file's text before it is saved; it may extend shipped files."""
    return _with_parents(parse(text, name), (Path(name),), [])


def _with_parents(tree: Branch, extending_files: tuple[Path, ...], read: list[Path]) -> Branch:
    extends = tree.items.pop("extends", None)
    if extends is None:
        return tree
    base = Branch(tree.place)
    for name in _parents(extends):
        parent = find_file(name, extending_files[-1].parent, extends.place)
        base = merged(base, _chain(parent, extending_files, extends.place, read))
    return merged(base, tree)


def _parents(extends: Node) -> list[str]:
    names = extends.value if isinstance(extends, Leaf) else None
    names = [names] if isinstance(names, str) else names
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise wrong(
            extends.place,
            "'extends' expects a file's name, like \"families/zen1\", or a list of such",
        )
    return names


def find_file(name: str, folder_of_file: Path, asked_at: Place) -> Path:
    """Finds a file that `extends` names, in the folder of the file that names it, or among the
    shipped files.
    """
    file = name if name.endswith(".toml") else name + ".toml"
    for folder in (folder_of_file, TOPOLOGIES):
        try:
            if (folder / file).is_file():
                return folder / file
        except (OSError, ValueError):  # a name that no file can have
            break
    shipped = (str(p.relative_to(TOPOLOGIES))[:-5] for p in TOPOLOGIES.rglob("*.toml"))
    raise wrong(asked_at, f"extends {name!r}: there is no such file.{suggestion(name, shipped)}")


def display(path: Path) -> str:
    """Returns the path for messages: relative to topologies/ for a shipped file, and relative to
    the current folder for a file inside that.
    """
    if path.is_relative_to(TOPOLOGIES):
        return str(Path("topologies") / path.relative_to(TOPOLOGIES))
    current_folder = Path.cwd()
    return (
        str(path.relative_to(current_folder)) if path.is_relative_to(current_folder) else str(path)
    )


def read_file(path: Path, asked_at: Place) -> Branch:
    name = display(path)
    try:
        text = read_bounded(path, MAX_MACHINE_BYTES).decode()
    except OSError as error:
        # a file named on the command line is already named by `asked_at`
        subject = name if asked_at.line else "it"
        raise wrong(asked_at, f"cannot read {subject}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise UserError(f"{name}: byte {error.start} is not UTF-8 text; expected TOML") from None
    source = f"family {path.stem}" if path.parent.name == "families" else "unstated"
    return parse(text, name, source)


def parse(text: str, file: str, source: str = "unstated") -> Branch:
    try:
        values, lines = _values_and_lines(text)
        return _branch(values, (), _Origin(file, lines), source)
    except tomllib.TOMLDecodeError as error:
        raise UserError(_broken(file, str(error), text)) from None
    except RecursionError:
        raise UserError(f"{file}: brackets nested too deep; no machine needs that") from None
    except ValueError as error:
        raise UserError(f"{file}: broken TOML: {error}") from None


@lru_cache(maxsize=MAX_CACHED_FILES)
def _values_and_lines(text: str) -> tuple[dict[str, Any], dict[tuple[str | int, ...], int]]:
    """Returns the values, and the line of each key. Both are cached, so no caller may change
    them.
    """
    return tomllib.loads(text), key_lines(text)


def _broken(file: str, message: str, text: str) -> str:
    problem, _, at = message.rpartition(" (at ")
    line = at.removeprefix("line ").split(",")[0]
    # an error at the end of the file has no line
    line = line if line.isdigit() else str(text.count("\n") + 1)
    return f"{file}:{line}: broken TOML: {problem or message}"


@dataclass(frozen=True)
class _Origin:
    file: str
    lines: dict[tuple[str | int, ...], int]

    def at(self, path: tuple[str, ...]) -> Place:
        return Place(self.file, self.lines.get(path, 1))


def _branch(values: dict[str, Any], path: tuple[str, ...], origin: _Origin, source: str) -> Branch:
    if isinstance(values.get("source"), str):
        source = values["source"]
        values = {key: value for key, value in values.items() if key != "source"}
    branch = Branch(origin.at(path))
    for key, value in values.items():
        node = _node(value, (*path, key), origin, source)
        branch.items[key] = _expanded((*path, key), node)
    return branch


def _node(value: Any, path: tuple[str, ...], origin: _Origin, source: str) -> Node:
    if not isinstance(value, dict):
        return Leaf(value, source, origin.at(path))
    if "value" not in value:
        return _branch(value, path, origin, source)
    for key in value:
        if key not in ("value", "source", "interval"):
            position = origin.at((*path, key))
            raise wrong(
                position, f"unknown key '{key}' beside 'value'; expected only 'source', 'interval'"
            )
    interval = _interval(value["interval"], origin.at(path)) if "interval" in value else None
    return Leaf(value["value"], str(value.get("source", source)), origin.at(path), interval)


def _interval(bounds: Any, position: Place) -> tuple[str, str]:
    bounds = bounds if isinstance(bounds, list) else []
    texts = [str(end) for end in bounds if isinstance(end, (str, int, float))]
    if len(bounds) == len(texts) == 2:
        return texts[0], texts[1]
    raise wrong(position, 'expected the ends of an interval, like ["28ns", "36ns"]')


def _expanded(path: tuple[str, ...], node: Node) -> Node:
    """Expands a short form into a table. Each value has the source and the place of the short
    form.
    """
    if not isinstance(node, Leaf) or not isinstance(node.value, str):
        return node
    try:
        parts = written_out(path, node.value)
    except UnitError as error:
        raise wrong(node.place, f"'{'.'.join(path)} = {node.value}': {error}") from None
    if parts is None:
        return node
    return Branch(node.place, {k: Leaf(v, node.source, node.place) for k, v in parts.items()})


def merged(base: Branch, overriding: Branch) -> Branch:
    """Returns `base` with the keys of `overriding`, which replace equal keys of `base`."""
    items = dict(base.items)
    for key, node in overriding.items.items():
        old_node = items.get(key)
        if isinstance(old_node, Branch) and isinstance(node, Branch) and "kind" not in node.items:
            node = merged(old_node, node)
        items[key] = node
    return Branch(overriding.place, items)


def overlay(settings: Iterable[str]) -> Branch:
    """Builds a tree from `KEY=VALUE` texts; the source of each value is "--with"."""
    tree = Branch(Place("--with", 0))
    for setting in settings:
        key, equals, value = setting.partition("=")
        path = tuple(part.strip() for part in key.split("."))
        position = Place(f"--with {setting}", 0)
        if not equals or not value.strip() or not all(path):
            raise wrong(position, "expected KEY=VALUE, like socket.join.latency=32ns")
        if len(path) > MAX_KEY_PARTS:
            raise wrong(position, f"expected a key of at most {MAX_KEY_PARTS} parts")
        node = _expanded(path, Leaf(value.strip(), "--with", position))
        for part in reversed(path):
            node = Branch(position, {part: node})
        assert isinstance(node, Branch)
        tree = merged(tree, node)
    return tree

"""Measurements of a real machine: the figures the project carries, and a user's own matrix.

`machines/ID.toml` holds a machine's class medians, the parts its cores add inside one L3
where that was measured, and what had to be chosen because nobody recorded it (where the line was
homed, which slice owned it).  Other experiments keep their figures in tables of the same file.

    carried(table) -> names of the machines that have it;  well_measured(): in good quality
    part(machine, table, kind) -> such a table as a struct of this kind
    read(machine) -> Hardware                    the handoffs; what follows is a matrix by hart, in
                                                 ns, NaN where unknown:
    carried_matrix(hardware, machine)            the carried figures written out pair by pair
    measured_matrix(path, machine)               a CSV of the core-to-core-latency collections;
                                                 numbered(path, machine): a word on its order
    by_level(machine, home) -> Hardware          of a machine without figures: classes are levels

Invariant: every pair of harts is in at most one class (`Hardware.masks`); no figure here is read by
anything that simulates.
"""

from __future__ import annotations

import csv
import tomllib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from uncore.errors import UserError
from uncore.job import check_home
from uncore.topology.cpus import hart_of_cpu
from uncore.topology.distance import classes as classes_of
from uncore.topology.machine import Machine
from uncore_lab.figures import MACHINES
from uncore_lab.figures.numbering import STATED_ORDER, check, recognised

Matrix = NDArray[np.float64]
Mask = NDArray[np.bool_]
Kind = TypeVar("Kind", bound=msgspec.Struct)

HANDOFFS = "classes"  # the table without which a file says nothing about handing lines over
OTHER_EXPERIMENTS = ("contended", "directory", "ipi", "scaling")  # tables of other experiments
BOUND_QUALITIES = ("A", "A-", "B")
OWN_MATRIX = "own"  # quality of a user's matrix: no bounds are stated for it


class DistanceClass(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A distance class: pairs whose innermost common level is `within`, on one side of the home,
    and of what kinds of cores."""

    within: str
    ns: float  # median
    pairs: int
    side: str = ""  # "home": both cores at the home; "mixed": one; "remote": neither
    kinds: str = ""  # "core small": one core of either kind; "": any


class Hardware(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One file of `machines/`; the keys are explained in README.md."""

    name: str
    quality: str
    source: str
    home: str
    classes: dict[str, DistanceClass]
    slice: str = "hash"
    at_home: list[str] = []  # parts that are at the home, like "socket1": classes have sides
    unmatched: str = ""  # classes that the simulation does not reproduce, and why
    lends_nothing: str = ""  # why other machines cannot be told by this one
    structure: float | None = None  # least share of the pairs' spread that must be explained
    parts: dict[str, list[float]] = {}
    between: dict[str, list[list[float]]] = {}

    def masks(self, machine: Machine) -> dict[str, Mask]:
        """Per class, which pairs of harts (a > b) are in it."""
        levels, sides = level_of_pairs(machine), self.sides(machine)
        kinds, lower = kinds_of_pairs(machine), np.tri(machine.harts, k=-1, dtype=bool)
        return {
            name: lower
            & (levels == c.within)
            & (sides[c.side] if c.side else True)
            & (kinds == c.kinds if c.kinds else True)
            for name, c in self.classes.items()
        }

    def sides(self, machine: Machine) -> dict[str, Mask]:
        if not self.at_home:
            return {}
        near = np.zeros(machine.harts, dtype=bool)
        for name in self.at_home:
            near[_harts_of(machine, name)] = True
        both, neither = np.logical_and.outer(near, near), np.logical_and.outer(~near, ~near)
        return {"home": both, "mixed": ~both & ~neither, "remote": neither}


def _ancestors(machine: Machine) -> list[tuple[int, ...]]:
    """The members of each level that each hart is in, without the system."""
    return [machine.shape[core][1:] for core in machine.hart_cores]


def level_of_pairs(machine: Machine) -> NDArray[np.str_]:
    """The innermost level two harts share, for every pair: `distance`, of all at once."""
    shape = np.array(machine.shape)[list(machine.hart_cores)]
    shared = (shape[:, None] == shape).sum(axis=2)
    levels: NDArray[np.str_] = np.array(machine.levels)[shared - 1]
    np.fill_diagonal(levels, "")
    return levels


def kinds_of_pairs(machine: Machine) -> NDArray[np.str_]:
    """The kinds of the two harts' cores, "core small" whichever comes first."""
    names, kinds = machine.kind_names, machine.core_kinds
    of = np.array([names.index(kinds[core]) for core in machine.hart_cores])
    words = np.array([[f"{a} {b}" for b in names] for a in names])
    return np.asarray(words[np.minimum.outer(of, of), np.maximum.outer(of, of)])


def carried(table: str = HANDOFFS) -> list[str]:
    """Machines with figures of this kind."""
    return sorted(path.stem for path in MACHINES.glob("*.toml") if table in _document(path))


def well_measured() -> list[str]:
    """Machines whose measurements are good enough to hold bounds on and to predict others from."""
    read_ = ((name, read(name)) for name in carried())
    return [
        name
        for name, hardware in read_
        if hardware.quality in BOUND_QUALITIES and not hardware.lends_nothing
    ]


def read(name: str) -> Hardware:
    path = MACHINES / f"{name}.toml"
    own = {key: value for key, value in _document(path).items() if key not in OTHER_EXPERIMENTS}
    return _converted(path, own, Hardware)


def part(name: str, table: str, kind: type[Kind]) -> Kind:
    """Reads one table of a machine's figures."""
    path = MACHINES / f"{name}.toml"
    return _converted(path, _document(path).get(table), kind)


@cache
def _document(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text())
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise UserError(f"{path}: no figures of a machine: {error}") from None


def _converted(path: Path, document: Any, kind: type[Kind]) -> Kind:
    try:
        return msgspec.convert(document, kind)
    except msgspec.ValidationError as error:
        raise UserError(f"{path}: no figures of a machine: {error}") from None


def by_level(machine: Machine, home: str = "", at_home: Sequence[str] = ()) -> Hardware:
    """Classes of a machine that nobody described: one for each level, each side of the home, and
    each two kinds of cores.

    Inside the innermost level that resolves ownership no side can be seen.
    """
    if home:
        check_home(home, machine)
    parts = list(at_home) or _parts_at(machine, home)
    bare = Hardware(machine.name, OWN_MATRIX, "", home or "node0", {}, at_home=parts)
    levels, lower = level_of_pairs(machine), np.tri(machine.harts, k=-1, dtype=bool)
    kinds = kinds_of_pairs(machine)
    classes = {}
    for level in classes_of(machine):
        everyone = lower & (levels == level)
        inside = machine.levels.index(level) >= machine.levels.index(machine.resolvers[0].level)
        sides = {} if inside else bare.sides(machine)
        sides = {side: mask for side, mask in sides.items() if (mask & everyone).any()}
        for side, mask in sides.items() if len(sides) > 1 else (("", everyone),):
            for pair in np.unique(kinds[mask & everyone]):
                pairs = int(np.count_nonzero(mask & everyone & (kinds == pair)))
                of = str(pair) if machine.kinds else ""
                classes[_label(level, side, of)] = DistanceClass(
                    level, float("nan"), pairs, side, of
                )
    return msgspec.structs.replace(bare, classes=classes)


def _label(level: str, side: str, kinds: str) -> str:
    """Returns "die-home", or "die-small" of two small cores, "die-core-small" of one."""
    kinds = "-".join(dict.fromkeys(kinds.split()))
    return "-".join(filter(None, (level, side, kinds if kinds != "core" else "")))


def _parts_at(machine: Machine, home: str) -> list[str]:
    """The part whose own memory node is the home, if there are several nodes."""
    members = [len(set(column)) for column in zip(*machine.shape, strict=True)]
    nodes = len(machine.memories)
    if nodes < 2 or nodes not in members or not home.startswith("node"):
        return []
    return [machine.levels[members.index(nodes)] + home.removeprefix("node")]


def carried_matrix(hardware: Hardware, machine: Machine) -> Matrix:
    """Gives each pair its class median, or the finer figure that the file has for it."""
    ns = np.full((machine.harts, machine.harts), np.nan)
    for name, mask in hardware.masks(machine).items():
        ns[mask] = hardware.classes[name].ns
    for level, rows in hardware.between.items():
        _write_between(ns, machine, level, rows)
    _write_parts(ns, machine, hardware.parts)
    return ns


def _write_between(ns: Matrix, machine: Machine, level: str, rows: list[list[float]]) -> None:
    """Writes pairs of two members of a level; the diagonal is for pairs within one member."""
    depth = machine.levels.index(level) - 1
    member = [above[depth] for above in _ancestors(machine)]
    meets = machine.levels[: depth + 2]
    for a, b in np.argwhere(np.isin(level_of_pairs(machine), meets) & ~np.isnan(ns)):
        ns[a, b] = rows[member[a]][member[b]]


def _write_parts(ns: Matrix, machine: Machine, known: dict[str, list[float]]) -> None:
    """Fills in the pairs of a cache whose line one slice owns: the sum of both members' parts."""
    levels = level_of_pairs(machine)
    for name, parts in known.items():
        level = name.rstrip("0123456789")
        harts = np.array(_harts_of(machine, name))
        member = members_of(machine, level)[1][harts]
        own = np.array(parts)[member - member.min()]
        block = np.ix_(harts, harts)
        pairs = np.tri(len(harts), k=-1, dtype=bool) & (levels[block] == level)
        ns[block] = np.where(pairs, np.add.outer(own, own), ns[block])


def members_of(machine: Machine, level: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Returns of each hart its group of the level, and its group of the level below."""
    depth = machine.levels.index(level)
    pairs = np.array([core[depth : depth + 2] for core in machine.shape])
    return tuple(pairs[list(machine.hart_cores)].T)


def _harts_of(machine: Machine, domain: str) -> list[int]:
    """Harts of "ccx1" or "socket0"."""
    level = domain.rstrip("0123456789")
    depth = machine.levels.index(level) - 1
    member = int(domain.removeprefix(level))
    return [h for h, above in enumerate(_ancestors(machine)) if above[depth] == member]


def measured_matrix(path: Path, machine: Machine) -> Matrix:
    """A lower triangle in ns, row and column the CPUs of the operating system in an order that it
    tells (numbering.py); of as many rows as cores, those of a machine whose SMT was off."""
    rows = _rows(path, machine)
    numbering = recognised(rows, machine)
    check(numbering, rows, machine, path)
    ns = np.full((machine.harts, machine.harts), np.nan)
    for cpu, other in np.argwhere(np.tri(len(rows), k=-1, dtype=bool)):
        a, b = numbering.harts[cpu], numbering.harts[other]
        if a is not None and b is not None:
            ns[max(a, b), min(a, b)] = rows[cpu, other]
    return ns


def numbered(path: Path, machine: Machine) -> str:
    """Returns a note on the order of the matrix; empty where it is the one that the file states."""
    found = recognised(_rows(path, machine), machine).name
    return (
        ""
        if found == STATED_ORDER
        else f"{path}: its CPUs are numbered {found}, not {STATED_ORDER}"
    )


def _rows(path: Path, machine: Machine) -> Matrix:
    """Returns ns by CPU, both triangles; NaN where nothing is known."""
    try:
        texts = list(csv.reader(path.read_text().splitlines()))
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or error
        raise UserError(f"{path}: cannot read the matrix: {why}") from None
    cpus = len(hart_of_cpu(machine))
    if len(texts) not in (cpus, machine.cores):
        raise UserError(
            f"{path}: {len(texts)} rows, but {machine.id} has {cpus} CPUs; expected a row and"
            " a column for each, or with SMT off for each core"
        )
    ns = np.full((len(texts), len(texts)), np.nan)
    for cpu, row in enumerate(texts):
        for other, text in enumerate(row[:cpu]):
            value = _latency(path, cpu + 1, text)
            if value > 0:  # a 0 means that the time was below the clock's step
                ns[cpu, other] = ns[other, cpu] = value
    return ns


def _latency(path: Path, line: int, text: str) -> float:
    try:
        return float(text or "nan")
    except ValueError:
        raise UserError(f"{path}:{line}: '{text}' is no latency; expected ns, like 87.5") from None

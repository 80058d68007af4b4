"""Reads measurements of real machines: the figures that come with uncore, and a user's own matrix.

`machines/ID.toml` holds a machine's class medians; the parts of its cores inside one L3, if these
were measured; and assumptions about what nobody recorded (the home of the line, the slice that
owned it).  Other experiments keep their figures in tables of the same file.

    carried(table) -> names of the machines that have it;  well_measured(): in good quality
    part(machine, table, kind) -> such a table as a struct of this kind
    read(machine) -> Hardware                    the handoffs of a machine
    by_level(machine, home) -> Hardware          the same without figures: a class for each level

Matrices are in ns by hart, NaN where unknown:

    carried_matrix(hardware, machine)            the carried figures written out pair by pair
    measured_matrix(path, machine)               a CSV of the core-to-core-latency collections;
                                                 numbered(path, machine): a note on its order

Invariant: every pair of harts is in at most one class (`Hardware.masks`); no simulation reads a
figure from here.
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

HANDOFFS = "classes"  # table of a machine's handoffs; a file without it has none
OTHER_EXPERIMENTS = ("contended", "directory", "ipi", "scaling")  # tables of other experiments
BOUND_QUALITIES = ("A", "A-", "B")
OWN_MATRIX = "own"  # quality of a user's own matrix, to which no bounds apply


class DistanceClass(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A distance class: the pairs of harts whose innermost common level is `within`, on one side of
    the home and of certain kinds of cores.
    """

    within: str
    ns: float  # median
    pairs: int
    side: str = ""  # "home": both cores are near the home; "mixed": one is; "remote": neither
    kinds: str = ""  # "core small": one core of each kind; "": any kinds


class Hardware(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One file of `machines/`; the keys are explained in README.md."""

    name: str
    quality: str
    source: str
    home: str
    classes: dict[str, DistanceClass]
    slice: str = "hash"
    at_home: list[str] = []  # parts near the home, such as "socket1"; if any, classes have sides
    unmatched: str = ""  # classes that the simulation does not reproduce, and the reason
    lends_nothing: str = ""  # reason why its figures must not predict other machines
    structure: float | None = None  # share of the pairs' spread that the simulation must explain
    parts: dict[str, list[float]] = {}
    between: dict[str, list[list[float]]] = {}

    def masks(self, machine: Machine) -> dict[str, Mask]:
        """Returns for each class a mask of the pairs of harts (a > b) that are in it."""
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
        at_home_harts = np.zeros(machine.harts, dtype=bool)
        for name in self.at_home:
            at_home_harts[_harts_of(machine, name)] = True
        both, neither = (
            np.logical_and.outer(at_home_harts, at_home_harts),
            np.logical_and.outer(~at_home_harts, ~at_home_harts),
        )
        return {"home": both, "mixed": ~both & ~neither, "remote": neither}


def _ancestors(machine: Machine) -> list[tuple[int, ...]]:
    """Returns for each hart the member of each level that it is in, without the system."""
    return [machine.shape[core][1:] for core in machine.hart_cores]


def level_of_pairs(machine: Machine) -> NDArray[np.str_]:
    """Returns the innermost level that two harts share, for every pair."""
    shape = np.array(machine.shape)[list(machine.hart_cores)]
    shared = (shape[:, None] == shape).sum(axis=2)
    levels: NDArray[np.str_] = np.array(machine.levels)[shared - 1]
    np.fill_diagonal(levels, "")
    return levels


def kinds_of_pairs(machine: Machine) -> NDArray[np.str_]:
    """Returns for every pair the kinds of the two cores, in the same order for (a, b)
    and (b, a).
    """
    names, kinds = machine.kind_names, machine.core_kinds
    of = np.array([names.index(kinds[core]) for core in machine.hart_cores])
    pair_kinds = np.array([[f"{a} {b}" for b in names] for a in names])
    return np.asarray(pair_kinds[np.minimum.outer(of, of), np.maximum.outer(of, of)])


def carried(table: str = HANDOFFS) -> list[str]:
    """Returns the machines that have figures of this kind."""
    return sorted(path.stem for path in MACHINES.glob("*.toml") if table in _document(path))


def well_measured() -> list[str]:
    """Returns the machines measured well enough for bounds and for predicting others."""
    read_ = ((name, read(name)) for name in carried())
    return [
        name
        for name, hardware in read_
        if hardware.quality in BOUND_QUALITIES and not hardware.lends_nothing
    ]


def read(name: str) -> Hardware:
    path = MACHINES / f"{name}.toml"
    document = {
        key: value for key, value in _document(path).items() if key not in OTHER_EXPERIMENTS
    }
    return _converted(path, document, Hardware)


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
    """Returns classes for a machine without figures: one for each level, each side of the home, and
    each two kinds of cores.

    Inside the innermost level that resolves ownership there are no sides.
    """
    if home:
        check_home(home, machine)
    parts = list(at_home) or _parts_at(machine, home)
    without_classes = Hardware(machine.name, OWN_MATRIX, "", home or "node0", {}, at_home=parts)
    levels, lower = level_of_pairs(machine), np.tri(machine.harts, k=-1, dtype=bool)
    kinds = kinds_of_pairs(machine)
    classes = {}
    for level in classes_of(machine):
        everyone = lower & (levels == level)
        inside = machine.levels.index(level) >= machine.levels.index(machine.resolvers[0].level)
        sides = {} if inside else without_classes.sides(machine)
        sides = {side: mask for side, mask in sides.items() if (mask & everyone).any()}
        for side, mask in sides.items() if len(sides) > 1 else (("", everyone),):
            for pair in np.unique(kinds[mask & everyone]):
                pairs = int(np.count_nonzero(mask & everyone & (kinds == pair)))
                of = str(pair) if machine.kinds else ""
                classes[_label(level, side, of)] = DistanceClass(
                    level, float("nan"), pairs, side, of
                )
    return msgspec.structs.replace(without_classes, classes=classes)


def _label(level: str, side: str, kinds: str) -> str:
    """Names a class, such as "die-home"; "die-small" for two small cores,
    "die-core-small" for one.
    """
    kinds = "-".join(dict.fromkeys(kinds.split()))
    return "-".join(filter(None, (level, side, kinds if kinds != "core" else "")))


def _parts_at(machine: Machine, home: str) -> list[str]:
    """Returns the part whose own memory node is the home; none if memory has one node."""
    members = [len(set(column)) for column in zip(*machine.shape, strict=True)]
    nodes = len(machine.memories)
    if nodes < 2 or nodes not in members or not home.startswith("node"):
        return []
    return [machine.levels[members.index(nodes)] + home.removeprefix("node")]


def carried_matrix(hardware: Hardware, machine: Machine) -> Matrix:
    """Returns a matrix with each pair's class median, or the finer figure that the file
    has for it.
    """
    ns = np.full((machine.harts, machine.harts), np.nan)
    for name, mask in hardware.masks(machine).items():
        ns[mask] = hardware.classes[name].ns
    for level, rows in hardware.between.items():
        _write_between(ns, machine, level, rows)
    _write_parts(ns, machine, hardware.parts)
    return ns


def _write_between(ns: Matrix, machine: Machine, level: str, rows: list[list[float]]) -> None:
    """Writes figures for pairs of two members of a level; the diagonal is for pairs within one
    member.
    """
    depth = machine.levels.index(level) - 1
    member = [above[depth] for above in _ancestors(machine)]
    shared_levels = machine.levels[: depth + 2]
    for a, b in np.argwhere(np.isin(level_of_pairs(machine), shared_levels) & ~np.isnan(ns)):
        ns[a, b] = rows[member[a]][member[b]]


def _write_parts(ns: Matrix, machine: Machine, parts_by_domain: dict[str, list[float]]) -> None:
    """Writes the pairs within a cache where one slice owns the line: the sum of both members'
    parts.
    """
    levels = level_of_pairs(machine)
    for name, parts in parts_by_domain.items():
        level = name.rstrip("0123456789")
        harts = np.array(_harts_of(machine, name))
        member = members_of(machine, level)[1][harts]
        part_of_hart = np.array(parts)[member - member.min()]
        block = np.ix_(harts, harts)
        pairs = np.tri(len(harts), k=-1, dtype=bool) & (levels[block] == level)
        ns[block] = np.where(pairs, np.add.outer(part_of_hart, part_of_hart), ns[block])


def members_of(machine: Machine, level: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Returns for each hart its group of the level, and its group of the level below."""
    depth = machine.levels.index(level)
    pairs = np.array([core[depth : depth + 2] for core in machine.shape])
    return tuple(pairs[list(machine.hart_cores)].T)


def _harts_of(machine: Machine, domain: str) -> list[int]:
    """Returns the harts of a part such as "ccx1" or "socket0"."""
    level = domain.rstrip("0123456789")
    depth = machine.levels.index(level) - 1
    member = int(domain.removeprefix(level))
    return [h for h, above in enumerate(_ancestors(machine)) if above[depth] == member]


def measured_matrix(path: Path, machine: Machine) -> Matrix:
    """Reads a matrix in ns from a CSV file with a lower triangle. Rows and columns are the
    operating system's CPUs, in an order that the matrix itself shows (numbering.py). It has as many
    rows as the machine has harts, or as it has cores if SMT was off.
    """
    rows = _rows(path, machine)
    numbering = recognised(rows, machine)
    check(numbering, rows, machine, path)
    ns = np.full((machine.harts, machine.harts), np.nan)
    for cpu, other_cpu in np.argwhere(np.tri(len(rows), k=-1, dtype=bool)):
        a, b = numbering.harts[cpu], numbering.harts[other_cpu]
        if a is not None and b is not None:
            ns[max(a, b), min(a, b)] = rows[cpu, other_cpu]
    return ns


def numbered(path: Path, machine: Machine) -> str:
    """Returns a note on the order of the matrix; empty if it is the order that the machine file
    states.
    """
    order_name = recognised(_rows(path, machine), machine).name
    return (
        ""
        if order_name == STATED_ORDER
        else f"{path}: its CPUs are numbered {order_name}, not {STATED_ORDER}"
    )


def _rows(path: Path, machine: Machine) -> Matrix:
    """Reads ns by CPU into both triangles; NaN for unknown."""
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
        for other_cpu, text in enumerate(row[:cpu]):
            value = _latency(path, cpu + 1, text)
            if value > 0:  # 0 means a time below the clock's resolution
                ns[cpu, other_cpu] = ns[other_cpu, cpu] = value
    return ns


def _latency(path: Path, line: int, text: str) -> float:
    try:
        return float(text or "nan")
    except ValueError:
        raise UserError(f"{path}:{line}: '{text}' is no latency; expected ns, like 87.5") from None

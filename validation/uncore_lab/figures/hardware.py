"""Reads measurements of real machines: the figures that come with uncore, and a user's own matrix.

`machines/ID.toml` holds a machine's class medians; the parts of its cores inside one L3, if these
were measured; and assumptions about facts that nobody recorded (the home of the line, the slice
that owned it).  Other experiments keep their figures in tables of the same file.

    machines_with_figures(table) -> names        machines whose file has this table
    well_measured() -> names                     machines with handoffs of good quality
    part(name, table, kind) -> Kind              one table of a machine's file, as a struct
    read(name) -> Hardware                       the handoffs of a machine
    by_level(machine, home) -> Hardware          classes of a machine without figures, by level

Matrices are in ns by hart, NaN where unknown:

    matrix_of_figures(hardware, machine)         the figures of the machine's file for each pair
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

HANDOFFS = "classes"  # name of the table of a machine's handoffs
OTHER_EXPERIMENTS = ("contended", "directory", "ipi", "scaling")  # tables of other experiments
BOUND_QUALITIES = ("A", "A-", "B")
OWN_MATRIX = "own"  # quality of a user's own matrix, to which no bounds apply


class DistanceClass(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The pairs of harts whose innermost common level is `within`. A class may be restricted to one
    side of the home (`side`) and to certain kinds of cores (`kinds`).
    """

    within: str
    ns: float  # median
    pairs: int
    side: str = ""  # "home": both cores are near the home; "mixed": one is; "remote": none is
    kinds: str = ""  # "core small": a pair of a core of each kind; "": any kinds


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
        both_near, none_near = (
            np.logical_and.outer(at_home_harts, at_home_harts),
            np.logical_and.outer(~at_home_harts, ~at_home_harts),
        )
        return {"home": both_near, "mixed": ~both_near & ~none_near, "remote": none_near}


def _ancestors(machine: Machine) -> list[tuple[int, ...]]:
    """Returns for each hart the numbers of the groups that contain it, outermost level first,
    without the system.
    """
    return [machine.shape[core][1:] for core in machine.hart_cores]


def level_of_pairs(machine: Machine) -> NDArray[np.str_]:
    """Returns for every pair of harts their innermost common level."""
    shape = np.array(machine.shape)[list(machine.hart_cores)]
    common_levels = (shape[:, None] == shape).sum(axis=2)
    levels: NDArray[np.str_] = np.array(machine.levels)[common_levels - 1]
    np.fill_diagonal(levels, "")
    return levels


def kinds_of_pairs(machine: Machine) -> NDArray[np.str_]:
    """Returns for every pair of harts the kinds of their cores, such as "core small". The order of
    the kinds is the same for (a, b) and (b, a).
    """
    names, kinds = machine.kind_names, machine.core_kinds
    kind = np.array([names.index(kinds[core]) for core in machine.hart_cores])
    pair_kinds = np.array([[f"{a} {b}" for b in names] for a in names])
    return np.asarray(pair_kinds[np.minimum.outer(kind, kind), np.maximum.outer(kind, kind)])


def machines_with_figures(table: str = HANDOFFS) -> list[str]:
    """Returns the names of the machines whose file has this table."""
    return sorted(path.stem for path in MACHINES.glob("*.toml") if table in _document(path))


def well_measured() -> list[str]:
    """Returns the machines whose handoffs were measured well enough to have bounds and to predict
    other machines.
    """
    all_hardware = ((name, read(name)) for name in machines_with_figures())
    return [
        name
        for name, hardware in all_hardware
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
    """Returns the distance classes of a machine without figures. Pairs are grouped by their
    innermost common level, by side (near or far from the home), and by the kinds of their cores.

    Levels inside the innermost resolver have no sides.
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
        inside_resolver = machine.levels.index(level) >= machine.levels.index(
            machine.resolvers[0].level
        )
        sides = {} if inside_resolver else without_classes.sides(machine)
        sides = {side: mask for side, mask in sides.items() if (mask & everyone).any()}
        for side, mask in sides.items() if len(sides) > 1 else (("", everyone),):
            for pair in np.unique(kinds[mask & everyone]):
                pairs = int(np.count_nonzero(mask & everyone & (kinds == pair)))
                pair_kinds = str(pair) if machine.kinds else ""
                classes[_label(level, side, pair_kinds)] = DistanceClass(
                    level, float("nan"), pairs, side, pair_kinds
                )
    return msgspec.structs.replace(without_classes, classes=classes)


def _label(level: str, side: str, kinds: str) -> str:
    """Returns the name of a class: "die-home" for pairs of the die near the home, "die-small" for
    pairs of small cores, "die-core-small" for pairs of a usual and a small core.
    """
    kinds = "-".join(dict.fromkeys(kinds.split()))
    return "-".join(filter(None, (level, side, kinds if kinds != "core" else "")))


def _parts_at(machine: Machine, home: str) -> list[str]:
    """Returns the part of the machine whose memory node is the home, such as "socket1"; none if the
    machine has one memory node.
    """
    members = [len(set(column)) for column in zip(*machine.shape, strict=True)]
    nodes = len(machine.memories)
    if nodes < 2 or nodes not in members or not home.startswith("node"):
        return []
    return [machine.levels[members.index(nodes)] + home.removeprefix("node")]


def matrix_of_figures(hardware: Hardware, machine: Machine) -> Matrix:
    """Returns a matrix with the class median of each pair, or with a finer figure if the file has
    one for the pair.
    """
    ns = np.full((machine.harts, machine.harts), np.nan)
    for name, mask in hardware.masks(machine).items():
        ns[mask] = hardware.classes[name].ns
    for level, rows in hardware.between.items():
        _write_between(ns, machine, level, rows)
    _write_parts(ns, machine, hardware.parts)
    return ns


def _write_between(ns: Matrix, machine: Machine, level: str, rows: list[list[float]]) -> None:
    """Writes the figures for pairs of harts in two members of a level. The diagonal of `rows` holds
    those for pairs within one member.
    """
    depth = machine.levels.index(level) - 1
    member = [ancestors[depth] for ancestors in _ancestors(machine)]
    shared_levels = machine.levels[: depth + 2]
    for a, b in np.argwhere(np.isin(level_of_pairs(machine), shared_levels) & ~np.isnan(ns)):
        ns[a, b] = rows[member[a]][member[b]]


def _write_parts(ns: Matrix, machine: Machine, parts_by_domain: dict[str, list[float]]) -> None:
    """Writes the figures for pairs within a cache where one slice owns the line: the sum of the
    parts of both members.
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
    """Returns two arrays: for each hart the number of its group at the level, and of its group at
    the next inner level.
    """
    depth = machine.levels.index(level)
    pairs = np.array([core[depth : depth + 2] for core in machine.shape])
    return tuple(pairs[list(machine.hart_cores)].T)


def _harts_of(machine: Machine, domain: str) -> list[int]:
    """Returns the harts of a part such as "ccx1" or "socket0"."""
    level = domain.rstrip("0123456789")
    depth = machine.levels.index(level) - 1
    member = int(domain.removeprefix(level))
    return [h for h, ancestors in enumerate(_ancestors(machine)) if ancestors[depth] == member]


def measured_matrix(path: Path, machine: Machine) -> Matrix:
    """Reads a matrix in ns from a CSV file with a lower triangle. Rows and columns are the CPUs of
    the operating system, in an order that the matrix itself shows (numbering.py). The file has as
    many rows as the machine has harts, or as it has cores if SMT was off.
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
    """Reads the file as ns by CPU and fills both triangles; unknown values are NaN."""
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

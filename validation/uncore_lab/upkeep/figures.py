"""Writes uncore_lab/figures/machines/MACHINE.toml from a measured matrix.

    python -m uncore_lab.upkeep.figures MACHINE... --matrices DIR [--set KEY=VALUE ...]

The script writes class medians and, if the machine has structure, finer figures: the part of each
core inside a shared cache (figures/additive_parts.py), and with `--set between=die` medians between
dies or complexes.  Quality, source, home, slice and structure are copied from the present file
unless `--set` changes them, for example `--set quality=B --set home=node1 --set "at_home=ccx2
ccx3"`.  Tables of other experiments are not changed.
"""

from __future__ import annotations

import argparse
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from uncore import topology
from uncore.errors import UncoreError
from uncore.job.option_values import pairs as settings
from uncore.topology.machine import Machine
from uncore_lab.figures import MACHINES
from uncore_lab.figures import hardware as figures
from uncore_lab.figures.additive_parts import parts_of, shared_cache
from uncore_lab.figures.hardware import Matrix

FIGURES_HEAD = "# Handing a line from core to core: {}; the keys are explained in README.md.\n"
SOURCES = {
    "c2c": "core-to-core-latency collection of Nicolas Viennot (MIT)",
    "kcores": "core-to-core-latency collection of KCORES (MIT)",
}
DEFAULTS = {"quality": "A", "source": "c2c", "home": "node0"}
KEYS = (
    "quality",
    "source",
    "home",
    "at_home",
    "slice",
    "structure",
    "unmatched",
    "lends_nothing",
)  # keys at the head of a file, in their order there
# parts are written only if they explain at least this share of the variance inside a shared cache
MIN_PARTS_R2 = 0.5
# label of pairs whose only common level is the system, by a level of the machine; the machine's
# first level in this order decides
SYSTEM_PAIRS_LABEL = {"socket": "xsocket", "die": "pkg"}
NUMBERS_PER_LINE = 8


def text_of(name: str, matrices: Path, new_settings: Mapping[str, str]) -> str:
    machine = topology.load(name)
    settings_ = DEFAULTS | _settings_on_file(name) | dict(new_settings)
    settings_["source"] = SOURCES.get(settings_["source"], settings_["source"])
    measured = figures.measured_matrix(matrices / f"{name}.csv", machine)
    lines = [FIGURES_HEAD.format(machine.name), f'name    = "{machine.name}"']
    lines += [f"{key:<7} = {_quoted(key, settings_[key])}" for key in KEYS if settings_.get(key)]
    lines += ["", "[classes]", *_classes(machine, measured, settings_)]
    lines += _parts(machine, measured)
    if settings_.get("between"):
        lines += _between_tables(machine, settings_["between"], measured)
    return "\n".join([*lines, *_other_tables(name)]) + "\n"


def _settings_on_file(name: str) -> dict[str, Any]:
    path = MACHINES / f"{name}.toml"
    document = tomllib.loads(path.read_text()) if path.is_file() else {}
    kept_keys = {key: document[key] for key in KEYS if key in document}
    if "at_home" in kept_keys:
        kept_keys["at_home"] = " ".join(kept_keys["at_home"])
    return kept_keys | {"between": next(iter(document.get("between", ())), "")}


def _quoted(key: str, value: object) -> str:
    if key == "at_home":
        return msgspec.json.encode(str(value).split()).decode()
    return str(value) if key == "structure" else f'"{value}"'


def _classes(machine: Machine, measured: Matrix, file_settings: Mapping[str, str]) -> Iterator[str]:
    levels = figures.by_level(
        machine, file_settings["home"], file_settings.get("at_home", "").split()
    )
    labels = {name: _label(machine, name) for name in levels.classes}
    width = max(map(len, labels.values()))
    for name, mask in levels.masks(machine).items():
        distance_class, pairs = levels.classes[name], measured[mask & ~np.isnan(measured)]
        side = f', side = "{distance_class.side}"' if distance_class.side else ""
        kinds = f', kinds = "{distance_class.kinds}"' if distance_class.kinds else ""
        yield (
            f'{labels[name]:<{width}} = {{ within = "{distance_class.within}"{side}{kinds},'
            f" ns = {_number(np.median(pairs))}, pairs = {pairs.size} }}"
        )


def _label(machine: Machine, name: str) -> str:
    """Returns the label that the public collections use: "smt" for siblings, "l3" for cores of one
    shared cache.
    """
    level, dash, side = name.partition("-")
    names = {"core": "smt", "socket": "pkg", shared_cache(machine): "l3"}
    names["system"] = next(
        (n for lv, n in SYSTEM_PAIRS_LABEL.items() if lv in machine.levels), "die"
    )
    return names.get(level, level) + dash + side


def _parts(machine: Machine, measured: Matrix) -> Iterator[str]:
    """Yields the parts of cores, but only if all cores are of one kind. Pairs of different kinds
    form separate classes, whose medians would be changed by sums of parts.
    """
    if machine.kinds:
        return
    significant_parts = {
        name: p.ns for name, p in parts_of(machine, measured).items() if p.r2 >= MIN_PARTS_R2
    }
    if significant_parts:
        yield "\n[parts]  # ns each core adds: L(i, j) = part(i) + part(j) inside one L3"
    for name, parts in significant_parts.items():
        starts = range(0, len(parts), NUMBERS_PER_LINE)
        yield f"{name} = [\n{_rows([parts[i : i + NUMBERS_PER_LINE] for i in starts])}\n]"


def _between_tables(machine: Machine, level: str, measured: Matrix) -> Iterator[str]:
    depth = machine.levels.index(level)
    member = np.array([machine.shape[core][depth] for core in machine.hart_cores])
    outside = machine.levels[: machine.levels.index(shared_cache(machine))]
    between_parts = np.where(np.isin(figures.level_of_pairs(machine), outside), measured, np.nan)
    rows = [
        [_median(between_parts[np.ix_(member == a, member == b)]) for b in range(a + 1)]
        for a in range(int(member.max()) + 1)
    ]
    yield "\n[between]  # ns between cores of two parts (of one: of its inner parts), medians"
    yield f"{level} = [\n" + "\n".join(f"    [{', '.join(row)}]," for row in rows) + "\n]"


def _median(values: Matrix) -> str:
    known_values = values[~np.isnan(values)]
    return f"{np.median(known_values):.1f}" if known_values.size else "nan"


def _rows(rows: Iterable[Iterable[float]]) -> str:
    return "\n".join("    " + " ".join(f"{value:.2f}," for value in row) for row in rows)


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _other_tables(name: str) -> Iterator[str]:
    """Yields the unchanged text of the tables of other experiments."""
    path = MACHINES / f"{name}.toml"
    lines, keep = path.read_text().splitlines() if path.is_file() else [], False
    for line in lines:
        if line.startswith("["):
            keep = line.strip("[]").split(".")[0].split("]")[0] in figures.OTHER_EXPERIMENTS
            if keep:
                yield ""
        if keep and line:
            yield line


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("machines", nargs="+")
    parser.add_argument("--matrices", type=Path, required=True)
    parser.add_argument("--set", action="append", default=[])
    arguments = parser.parse_args()
    try:
        new_settings = settings("--set", arguments.set)
        for name in arguments.machines:
            text = text_of(name, arguments.matrices, new_settings)
            (MACHINES / f"{name}.toml").write_text(text)
    except UncoreError as error:
        sys.exit(f"derive: {error}")


if __name__ == "__main__":
    main()

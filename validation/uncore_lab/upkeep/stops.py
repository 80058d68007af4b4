"""Writes the order of cores at their stops into the files of the shipped machines.

    python -m uncore_lab.upkeep.stops MACHINE... --matrices DIR [--write]

uncore_lab/calibrate/order.py finds the order.  `--write` renumbers the map and writes the slice
into uncore_lab/figures.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from uncore import topology
from uncore.errors import UncoreError
from uncore.support.paths import TOPOLOGIES
from uncore_lab.calibrate.order import CoreOrder, find, renamed
from uncore_lab.figures import MACHINES
from uncore_lab.figures import hardware as figures

MAP = re.compile(r'(map\s*=\s*)("""|")((?:.|\n)*?)\2')


def renumber(text: str, order: CoreOrder) -> str:
    """Returns a machine file's text with the members of its map renamed."""
    return MAP.sub(lambda m: f"{m[1]}{m[2]}{renamed(m[3], order)}{m[2]}", text, count=1)


def write(name: str, order: CoreOrder) -> None:
    path = TOPOLOGIES / f"{name}.toml"
    path.write_text(renumber(path.read_text(), order))
    figures_file = MACHINES / f"{name}.toml"
    lines = [
        line for line in figures_file.read_text().splitlines() if not line.startswith("slice ")
    ]
    home = next(index for index, line in enumerate(lines) if line.startswith("home "))
    line_number = home + 1 + lines[home + 1].startswith("at_home")
    figures_file.write_text(
        "\n".join([*lines[:line_number], f'slice   = "{order.owner}"', *lines[line_number:], ""])
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("machines", nargs="+")
    parser.add_argument("--matrices", type=Path, required=True)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    try:
        for name in arguments.machines:
            machine = topology.load(name)
            measured = figures.measured_matrix(arguments.matrices / f"{name}.csv", machine)
            order = find(machine, measured)
            if order is None:
                sys.exit(f"order: {name}: too few cores share a cache to tell where they sit")
            print(
                f"{name}: slice of core {order.owner}, alike {order.correlation:.3f}: {order.cores}"
            )
            if arguments.write:
                write(name, order)
    except UncoreError as error:
        sys.exit(f"order: {error}")


if __name__ == "__main__":
    main()

"""Which core sits at which stop: found from what each adds to a handoff inside its shared cache.

    python -m validation.order MACHINE... --matrices DIR [--write]

Operating systems do not number cores by position, so the order of the members in a machine's `map`
is one choice a machine, as is the slice that owned the measured line.  For every stop that may own
the line the stops are sorted by their way to it and back, and the cores by their measured parts;
the owner whose sorted ways are most like the sorted parts is taken.  `--write` renumbers the map
and writes the slice into validation/hardware.

Invariant: only numbers of members move; the floorplan stays.
"""

from __future__ import annotations

import argparse
import re
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from uncore import topology
from uncore.errors import UncoreError
from uncore.paths import HARDWARE, TOPOLOGIES
from uncore.topology.machine import Machine
from uncore.topology.route import Routes
from uncore.validate import hardware as figures
from uncore.validate.hardware import Matrix, members_of
from uncore.validate.parts import parts_of, sliced

MAP = re.compile(r'(map\s*=\s*)("""(?:.|\n)*?"""|"[^"\n]*")')
MEMBER = re.compile(r"(?<![a-z\d])\d+")


@dataclass(frozen=True)
class Order:
    """Member of the map -> core that should stand there; the core at the owning slice."""

    cores: tuple[int, ...]
    owner: int
    alike: float  # correlation of the sorted ways and parts


def find(machine: Machine, ns: Matrix) -> Order:
    """All members of the level have one floorplan, so their parts are averaged."""
    parts = np.mean([part.ns for part in parts_of(machine, ns).values()], axis=0)
    ways = _ways(machine, len(parts))
    ranked = np.argsort(parts, kind="stable")
    found = []
    for way in ways:  # to the slice of one member
        alike = float(np.corrcoef(np.sort(way), parts[ranked])[0, 1])
        cores = np.empty(len(parts), dtype=int)
        cores[np.argsort(way, kind="stable")] = ranked
        found.append(Order(tuple(map(int, cores)), int(ranked[0]), alike))
    return max(found, key=lambda order: order.alike)


def _ways(machine: Machine, members: int) -> NDArray[np.float64]:
    """ps from each member of the first such level to each slice and back with data."""
    routes = Routes(machine)
    first = next(one for one in machine.resolvers if one.level == sliced(machine))
    below = members_of(machine, first.level)[1][:: machine.threads_per_core]
    cores = [int(np.argmax(below == member)) for member in range(members)]  # the first of each
    stops = [machine.core_stops[core] for core in cores]
    return np.array(
        [
            [routes.message("control", s, o) + routes.message("data", o, s) for s in stops]
            for o in first.slices
        ],
        dtype=float,
    )


def renumber(text: str, order: Order) -> str:
    """The map with its members renamed."""

    def rename(drawn: re.Match[str]) -> str:
        renamed = MEMBER.sub(lambda word: str(order.cores[int(word[0])]), drawn[2])
        return drawn[1] + _aligned(renamed)

    return MAP.sub(rename, text, count=1)


def _aligned(drawn: str) -> str:
    rows = [line.split() for line in drawn.strip('"').splitlines() if line.strip()]
    if len(rows) == 1:
        return f'"{" ".join(rows[0])}"'
    columns = range(max(map(len, rows)))
    widths = [max(len(row[c]) for row in rows if c < len(row)) for c in columns]
    wide = max(3, min(widths))
    lines = [
        "    " + " ".join(w.ljust(max(wide, widths[c])) for c, w in enumerate(r)) for r in rows
    ]
    return '"""\n' + "\n".join(line.rstrip() for line in lines) + '\n"""'


def write(name: str, order: Order) -> None:
    path = TOPOLOGIES / f"{name}.toml"
    path.write_text(renumber(path.read_text(), order))
    carried = HARDWARE / f"{name}.toml"
    lines = [line for line in carried.read_text().splitlines() if not line.startswith("slice ")]
    home = next(n for n, line in enumerate(lines) if line.startswith("home "))
    after = home + 1 + lines[home + 1].startswith("at_home")
    carried.write_text(
        "\n".join([*lines[:after], f'slice   = "{order.owner}"', *lines[after:], ""])
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("machines", nargs="+")
    parser.add_argument("--matrices", type=Path, required=True)
    parser.add_argument("--write", action="store_true")
    words = parser.parse_args()
    try:
        for name in words.machines:
            machine = topology.load(name)
            measured = figures.measured_matrix(words.matrices / f"{name}.csv", machine)
            order = find(machine, measured)
            print(f"{name}: slice of core {order.owner}, alike {order.alike:.3f}: {order.cores}")
            if words.write:
                write(name, order)
    except UncoreError as error:
        sys.exit(f"order: {error}")


if __name__ == "__main__":
    main()

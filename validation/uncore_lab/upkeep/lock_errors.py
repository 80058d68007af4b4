"""Prints measured and simulated lock times, and the errors of the simulation.

    python -m uncore_lab.upkeep.lock_errors MACHINE [PRIMITIVE [THREADS]] [--with KEY=VALUE ...]
                                      [--hold NS] [--think NS] [--ops N] [--cores N] [--seeds N]

MACHINE is a machine with figures of locks, or lockhammer's name for its host (x86-2).  PRIMITIVE is
the beginning of a primitive's name, a comma-separated list of such beginnings, or `all`.  A cell of
the output reads `threads: measured/simulated (error)`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence

from uncore.errors import UncoreError
from uncore.job.option_values import pairs
from uncore.job.placement import thread_counts
from uncore_lab.figures.simulate import MATRIX_SEEDS
from uncore_lab.validate import lockhammer
from uncore_lab.validate.lock_curves import LockPoint, measure
from uncore_lab.validate.lockhammer import PRIMITIVES, SLEEPING, Spot

Overrides = dict[str, str]


def show(machine: str, arguments: argparse.Namespace) -> None:
    max_threads = lockhammer.read(machine).max_threads
    counts = [n for n in thread_counts(arguments.threads, max_threads) if n <= max_threads]
    for primitive in matching_primitives(arguments.primitive, (*PRIMITIVES, SLEEPING)):
        spots = [Spot(machine, primitive, arguments.hold, arguments.think, n) for n in counts]
        points = measure(
            spots, arguments.cores, overrides_of(arguments), arguments.ops, seeds(arguments)
        )
        print(f"{machine} {primitive:16}", "  ".join(map(_cell, points)), flush=True)


def _cell(point: LockPoint) -> str:
    measured, simulated = point.spot.measured.median, point.simulated.median
    return f"{point.spot.threads}: {measured:.0f}/{simulated:.0f}({point.error:+.0f}%)"


def seeds(arguments: argparse.Namespace) -> tuple[int, ...]:
    return tuple(range(1, arguments.seeds + 1))


def overrides_of(arguments: argparse.Namespace) -> Overrides:
    return dict(pairs("--with", arguments.with_))


def matching_primitives(text: str, known: Sequence[str] | Mapping[str, object]) -> list[str]:
    """Returns the primitives whose names begin with one of the comma-separated words."""
    matching = [name for name in known if text == "all" or name.startswith(tuple(text.split(",")))]
    if not matching:
        raise UncoreError(f"{text}: expected the beginning of one of {', '.join(known)}, or all")
    return matching


def machines(text: str) -> list[str]:
    hosts = {lockhammer.read(name).host: name for name in lockhammer.machines_with_figures()}
    known_names = [*hosts, *hosts.values()]
    wanted_names = list(hosts) if text == "all" else text.split(",")
    if unknown := [name for name in wanted_names if name not in known_names]:
        raise UncoreError(f"{unknown[0]}: expected one of {', '.join(known_names)}, or all")
    return [hosts.get(name, name) for name in wanted_names]


# ---- The command ---------------------------------------------------------------------------------


def parser() -> argparse.ArgumentParser:
    argument_parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    argument_parser.add_argument("machine")
    argument_parser.add_argument("primitive", nargs="?", default="all")
    argument_parser.add_argument("threads", nargs="?", default="2..max")
    argument_parser.add_argument("--with", dest="with_", action="append", default=[])
    argument_parser.add_argument("--hold", type=int, default=0)
    argument_parser.add_argument("--think", type=int, default=0)
    argument_parser.add_argument("--ops", type=int, default=0)
    argument_parser.add_argument("--cores", type=int, default=1)
    argument_parser.add_argument("--seeds", type=int, default=len(MATRIX_SEEDS), help="0: lockstep")
    return argument_parser


def main() -> None:
    arguments = parser().parse_args()
    try:
        for machine in machines(arguments.machine):
            show(machine, arguments)
    except UncoreError as error:
        sys.exit(f"locks: {error}")


if __name__ == "__main__":
    main()

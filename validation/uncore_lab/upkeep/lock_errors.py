"""Prints the errors of lock times: simulated beside measured.

    python -m uncore_lab.upkeep.lock_errors MACHINE [PRIMITIVE [THREADS]] [--with KEY=VALUE ...]
                                      [--hold NS] [--think NS] [--ops N] [--cores N] [--seeds N]

MACHINE has figures of locks; lockhammer's name for it (x86-2) will do.  PRIMITIVE is the beginning
of a name, several separated by commas, or `all`.  A cell is threads: measured/simulated (error).
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


def show(machine: str, words: argparse.Namespace) -> None:
    most = lockhammer.read(machine).most
    counts = [n for n in thread_counts(words.threads, most) if n <= most]
    for primitive in named(words.primitive, (*PRIMITIVES, SLEEPING)):
        spots = [Spot(machine, primitive, words.hold, words.think, n) for n in counts]
        points = measure(spots, words.cores, given(words), words.ops, seeds(words))
        print(f"{machine} {primitive:16}", "  ".join(map(_cell, points)), flush=True)


def _cell(point: LockPoint) -> str:
    real, ours = point.spot.measured.median, point.simulated.median
    return f"{point.spot.threads}: {real:.0f}/{ours:.0f}({point.error:+.0f}%)"


def seeds(words: argparse.Namespace) -> tuple[int, ...]:
    return tuple(range(1, words.seeds + 1))


def given(words: argparse.Namespace) -> Overrides:
    return dict(pairs("--with", words.with_))


def named(text: str, known: Sequence[str] | Mapping[str, object]) -> list[str]:
    """Returns the primitives that begin with one of the comma-separated words."""
    found = [one for one in known if text == "all" or one.startswith(tuple(text.split(",")))]
    if not found:
        raise UncoreError(f"{text}: expected the beginning of one of {', '.join(known)}, or all")
    return found


def machines(text: str) -> list[str]:
    hosts = {lockhammer.read(name).host: name for name in lockhammer.carried()}
    known = [*hosts, *hosts.values()]
    wanted = list(hosts) if text == "all" else text.split(",")
    if unknown := [one for one in wanted if one not in known]:
        raise UncoreError(f"{unknown[0]}: expected one of {', '.join(known)}, or all")
    return [hosts.get(one, one) for one in wanted]


# ---- The command ---------------------------------------------------------------------------------


def parser() -> argparse.ArgumentParser:
    words = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    words.add_argument("machine")
    words.add_argument("primitive", nargs="?", default="all")
    words.add_argument("threads", nargs="?", default="2..max")
    words.add_argument("--with", dest="with_", action="append", default=[])
    words.add_argument("--hold", type=int, default=0)
    words.add_argument("--think", type=int, default=0)
    words.add_argument("--ops", type=int, default=0)
    words.add_argument("--cores", type=int, default=1)
    words.add_argument("--seeds", type=int, default=len(MATRIX_SEEDS), help="0: lockstep")
    return words


def main() -> None:
    words = parser().parse_args()
    try:
        for machine in machines(words.machine):
            show(machine, words)
    except UncoreError as error:
        sys.exit(f"locks: {error}")


if __name__ == "__main__":
    main()

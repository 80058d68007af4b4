"""Do loads return allowed values when harts share lines at random?

    python -m tests.tools.stress [--operations 100M] [--seed N]

This is the random tester. Harts execute the guest random_sharing.c, which accesses falsely shared
lines at random and checks every value, on every shape of machine, with every protocol and up to 64
harts. Small caches make evictions, recalls and writebacks meet probes all the time.

The output has one row per case: checked operations, violations and host seconds. Every violation is
printed with the command that repeats its run. The exit status is 0 if there was none, otherwise 1.

Interface for tests: CASES; `round_of(case, operations, seed)`, which returns the jobs of a case for
one seed; `with_caches` and `job`, which it calls. tests/engine runs a million operations.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from uncore import program
from uncore.errors import GuestError, UserError, suggestion
from uncore.execution import request
from uncore.execution.execute import execute
from uncore.job import Job
from uncore.protocol.tables import PROTOCOLS
from uncore.result import Point
from uncore.topology import Machine, load

GUEST = Path(__file__).parents[1] / "support/programs/random_sharing.c"
MIN_ROUND_OPERATIONS = 1_000  # enough for every hart to share lines
MAX_ROUND_OPERATIONS = 200_000  # for more operations, several seeds find more than one long run
UNITS = {"k": 10**3, "M": 10**6, "G": 10**9}

# Sets and ways of a core's caches: small caches, which evict a copy after a few accesses, and large
# caches, which keep a stale copy long enough to be detected.
TINY, ROOMY = (4, 2), (16, 4)
STRIDES = (64, 256, 1024)  # bytes from one shared line to the next; the seed selects one of these


class Case(NamedTuple):
    machine: str
    overrides: tuple[str, ...]
    threads: int
    options: dict[str, Any]

    def __str__(self) -> str:
        words = [value.split()[0] for value in self.overrides]
        return "-".join([self.machine, str(self.threads), *(w.rpartition(".")[2] for w in words)])


# Variants of resolvers of the teaching machines.
STRUCTURES = {
    "bus": [()],
    "ring": [
        ("system.data=inclusive 4KiB 2-way 10cy",),
        ("system.data=inclusive 4KiB 2-way 10cy", "system.resolver.unblock=completion"),
        ("system.resolver.knows=shadow-tags", "system.resolver.reply=via"),
    ],
    "mesh": [
        (
            "system.data=victim 4KiB 2-way 10cy",
            "system.resolver.entries=64",
            "system.resolver.ways=2",
        ),
    ],
    "ccx": [
        ("ccx.data=victim 2KiB 2-way 10cy",),
        ("ccx.data=inclusive 2KiB 2-way 10cy", "ccx.resolver.knows=inclusive"),
        (
            "ccx.data=inclusive 1KiB 1-way 10cy",
            "ccx.resolver.unblock=completion",
            "ccx.resolver.reply=via",
            "system.resolver.entries=32",
            "system.resolver.ways=2",
        ),
        ("ccx.resolver.knows=directory", "ccx.resolver.entries=16", "ccx.resolver.ways=2"),
    ],
}
# Machines whose atomics are performed at a resolver: at a root with or without a data cache, or at
# a join.
FAR = {
    "bus": (),
    "mesh": STRUCTURES["mesh"][0],
    "ccx": STRUCTURES["ccx"][2],
}
THREADS = {"bus": 8, "ring": 16, "mesh": 64, "ccx": 32}
# Machines with several memories, with harts that share a core, with two sockets, or with joins.
SHARED_CORE = {"placement": "siblings"}
MACHINES = [
    Case("core2q9550", ("core.store_buffer=1",), 4, {}),
    Case("atomd510", ("core.lr=shared",), 4, SHARED_CORE),
    Case("tr1950x", ("core.store_buffer=2",), 32, SHARED_CORE),
    Case("epyc7302x2", (), 64, SHARED_CORE | {"home": "interleave"}),
    Case("epyc7601x2", ("core.lr=shared",), 64, {"placement": "scatter", "home": "first-touch"}),
    Case("e52695v4x2", (), 48, {"placement": "scatter"}),
    Case("x5650x2", ("core.lr=shared", "core.store_buffer=2"), 24, SHARED_CORE),
    Case("x8275clx2", (), 64, {"home": "interleave"}),
    Case("r5950x", (), 32, {}),
]


def _cases() -> Iterator[Case]:
    for machine, structures in STRUCTURES.items():
        for overrides in structures:
            for protocol in PROTOCOLS:
                yield Case(machine, (f"protocol={protocol}", *overrides), THREADS[machine], {})
    for machine, overrides in FAR.items():
        for atomics in ("far-unless-owned", "far"):
            words = (f"core.atomics={atomics}", *overrides)
            yield Case(machine, words, THREADS[machine], {})
    yield from MACHINES


CASES = list(_cases())


def with_caches(case: Case, sets: int, ways: int) -> Machine:
    """Returns the case's machine with caches of this size. The L1 has a quarter of the lines."""
    machine = load(case.machine, case.overrides)
    l1 = {"l1_sets": sets // 2, "l1_ways": ways // 2}
    l2 = {"l2_sets": sets, "l2_ways": ways} if machine.core.l2_sets else {}
    return dataclasses.replace(machine, core=dataclasses.replace(machine.core, **l1, **l2))


def job(case: Case, machine: Machine, operations: int, **parameters: int) -> Job:
    """Returns a job of at least this many operations, on the case's machine or one derived from
    it.
    """
    parameters["ops"] = -(-operations // case.threads)
    return request.make_job(
        machine, program.compile(GUEST), (case.threads,), parameters=parameters, **case.options
    )


def round_of(case: Case, operations: int, seed: int) -> list[Job]:
    """Returns the jobs of one seed. Half of the operations use caches of each size."""
    stride = STRIDES[seed % len(STRIDES)]
    return [
        job(case, with_caches(case, *caches), -(-operations // 2), seed=seed, stride=stride)
        for caches in (TINY, ROOMY)
    ]


class Row(NamedTuple):
    operations: int
    violations: int
    seconds: float

    def show(self, name: str) -> None:
        numbers = f"{self.operations:>13,} {self.violations:>10} {self.seconds:>8.1f}"
        print(f"{numbers}  {name}", flush=True)


def run_case(case: Case, operations: int, seed: int, cores: int) -> Row:
    """Runs rounds of equal size with consecutive seeds, and prints violations."""
    rounds = -(-operations // MAX_ROUND_OPERATIONS)
    size = -(-operations // rounds)
    jobs = [job for number in range(rounds) for job in round_of(case, size, seed + number)]
    violations: list[str] = []

    def note_violation(job: Job, message: str) -> None:
        violations.append(message)
        arguments = f"{case} --seed {dict(job.parameters)['seed']} --operations {size}"
        print(
            f"VIOLATION {message}\n  repeat: python -m tests.tools.stress {arguments}", flush=True
        )

    def note_failures(job: Job, point: Point) -> None:
        for failure in point.failures:
            note_violation(job, failure)

    def note_error(job: Job, error: GuestError) -> None:
        note_violation(job, str(error))

    results = execute(jobs, cores, note_failures, note_error)
    if any(result.outcome.partial for result in results) and not violations:
        raise KeyboardInterrupt
    count = sum(point.ops for result in results for point in result.points)
    return Row(count, len(violations), sum(sum(result.host.seconds) for result in results))


def number(text: str) -> int:
    """Reads a number such as `2000000` or `2M`."""
    digits, unit = (text[:-1], UNITS[text[-1]]) if text[-1:] in UNITS else (text, 1)
    if not (digits.isascii() and digits.isdigit()):
        raise argparse.ArgumentTypeError(f"'{text}': write a number, such as 500k, 2M or 1G")
    return int(digits) * unit


def selected(names: Sequence[str]) -> list[Case]:
    """Returns the cases with these names, or all cases if there are no names."""
    by_name = {str(case): case for case in CASES}
    for name in names:
        if name not in by_name:
            raise UserError(f"no case is called '{name}'.{suggestion(name, by_name)}")
    return [by_name[name] for name in names or by_name]


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="tests.tools.stress")
    parser.add_argument("names", nargs="*", metavar="CASE", help="those of the rows; all for none")
    parser.add_argument("--operations", type=number, default="1M", help="of all cases: 2M, 100M")
    parser.add_argument("--seed", type=number, default="0", help="of the first round of each case")
    parser.add_argument("--cores", type=number, default=str(os.cpu_count() or 1))
    arguments = parser.parse_args(argv)
    cases = selected(arguments.names)
    operations_per_case = max(MIN_ROUND_OPERATIONS, -(-arguments.operations // len(cases)))
    print(f"{'operations':>13} {'violations':>10} {'host s':>8}  case")
    rows = []
    for case in cases:
        rows.append(run_case(case, operations_per_case, arguments.seed, max(1, arguments.cores)))
        rows[-1].show(str(case))
    total = Row(*(sum(column) for column in zip(*rows, strict=True)))  # type: ignore[arg-type]
    total.show(f"{len(cases)} cases, seeds from {arguments.seed}")
    return 1 if total.violations else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except UserError as error:
        sys.exit(f"tests.tools.stress: {error}")
    except KeyboardInterrupt:
        sys.exit(130)

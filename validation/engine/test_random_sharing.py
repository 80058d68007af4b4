"""Does every load return what it may, whatever harts do to shared lines, on every kind of machine?

The guest programs/random_sharing.c checks each of its accesses; small caches make evictions,
recalls and writebacks meet probes all the time.  A million checked operations in all;
`--all` runs ten million more, with other seeds.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from runs import broken, guest, point

from uncore.errors import GuestError
from uncore.protocol.tables import PROTOCOLS
from uncore.topology import Machine, load

OPERATIONS = 1_000_000
TINY, ROOMY = (4, 2), (16, 4)  # sets and ways of a core's caches


class Case(NamedTuple):
    machine: str
    overrides: tuple[str, ...]
    threads: int
    options: dict[str, Any]

    def __str__(self) -> str:
        words = [value.split()[0] for value in self.overrides]
        return "-".join([self.machine, str(self.threads), *(w.rpartition(".")[2] for w in words)])


# What the resolvers of the teaching machines can be.
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
# And machines whose atomics are done there: at a root with data or without, at a join.
FAR = {
    "bus": (),
    "mesh": STRUCTURES["mesh"][0],
    "ccx": STRUCTURES["ccx"][2],
}
THREADS = {"bus": 8, "ring": 16, "mesh": 64, "ccx": 32}
# Machines with several memories, harts that share a core, two sockets, joins of their own.
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


def cases() -> Iterator[Case]:
    for machine, structures in STRUCTURES.items():
        for overrides in structures:
            for protocol in PROTOCOLS:
                yield Case(machine, (f"protocol={protocol}", *overrides), THREADS[machine], {})
    for machine, overrides in FAR.items():
        yield Case(machine, ("core.atomics=far", *overrides), THREADS[machine], {})
    yield from MACHINES


CASES = list(cases())


def with_caches(case: Case, sets: int, ways: int) -> Machine:
    """The case's machine with caches of so many lines: the L1 has a quarter of them."""
    machine = load(case.machine, case.overrides)
    first = {"l1_sets": sets // 2, "l1_ways": ways // 2}
    second = {"l2_sets": sets, "l2_ways": ways} if machine.core.l2_sets else {}
    return dataclasses.replace(machine, core=dataclasses.replace(machine.core, **first, **second))


def share(
    machine: Machine,
    case: Case,
    operations: int,
    limits: dict[str, Any] | None = None,
    **words: Any,
) -> dict[str, Any]:
    words |= {"ops": operations // case.threads + 1} | case.options
    return point(machine, guest("random_sharing"), case.threads, limits, **words)


def check(case: Case, operations: int, **words: Any) -> None:
    """Half of them where a copy lives for a few accesses, half where a stale one would stay."""
    for caches in (TINY, ROOMY):
        outcome = share(with_caches(case, *caches), case, operations // 2, **words)
        assert not outcome["failures"]
        assert outcome["ops"] >= operations // 2


@pytest.mark.parametrize("case", CASES, ids=str)
def test_reads_every_load_what_it_may(case: Case) -> None:
    check(case, OPERATIONS // len(CASES), seed=CASES.index(case))


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 110))
@pytest.mark.parametrize("case", CASES, ids=str)
def test_reads_every_load_what_it_may_for_long(case: Case, seed: int) -> None:
    check(case, OPERATIONS // len(CASES), seed=seed, stride=(64, 256, 1024)[seed % 3])


@pytest.mark.parametrize("case", MACHINES, ids=str)
def test_shows_sharing_how_long_the_slices_are(case: Case) -> None:
    """Rule S2 again, where siblings share lines and every line is evicted all the time."""
    machine = with_caches(case, *TINY)
    whole = share(machine, case, 4000, stride=256)
    single = share(machine, case, 4000, {"lookahead": 0}, stride=256)
    assert [field for field in whole if whole[field] != single[field]] == []


@pytest.mark.parametrize(
    ("file", "row", "column", "cell", "protocol", "caches"),
    [
        ("client.table", "M", "ProbeM", "give+dirty>M", "mesi", ROOMY),
        ("client.table", "M", "Evict", "drop>I", "mesi", TINY),
        ("resolver.table", "W", "Upg", "probeM", "moesi", ROOMY),
    ],
)
def test_notices_sharing_a_broken_cell(
    tmp_path: Path,
    file: str,
    row: str,
    column: str,
    cell: str,
    protocol: str,
    caches: tuple[int, int],
) -> None:
    """The tester itself: it fails where the protocol is wrong.  Waiting for ever counts too."""
    place = broken(tmp_path, file, row, column, cell)
    case = Case("ccx", (), 8, {})
    machine = dataclasses.replace(with_caches(case, *caches), protocol=f"{place}:{protocol}")
    try:
        failures = share(machine, case, 20_000)["failures"]
    except GuestError as error:
        failures = [str(error)]
    assert failures

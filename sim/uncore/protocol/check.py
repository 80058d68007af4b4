"""Every proof on a protocol's tables, and what came of it (`uncore check`).

    plan(tables, everything, groups) -> the machines by their numbers, of all groups or of some
    proofs(tables, everything, groups) -> Iterator[Proof]
    cells_met(proofs) -> cells of the tables that some proof has reached

Two kinds. Walks visit every state that one line can reach in a small machine; random trials run a
few lines on larger ones. Both execute the templates the native engine executes, with nothing
between them and the tables but a network that keeps no order.
"""

from __future__ import annotations

import time
from collections.abc import Container, Iterable, Iterator
from typing import Any

import msgspec

from uncore import _native
from uncore.protocol import systems
from uncore.protocol.impossible import worded
from uncore.protocol.systems import RANDOM, CheckedSystem
from uncore.protocol.tables import Tables, pack

# operations of all drawn machines together; each machine chosen by hand gets as many
DRAWN_OPERATIONS = 1_000_000
TRIALS = 12
TOLD = 60  # steps of a random violation that are printed


class Proof(msgspec.Struct, frozen=True):
    """One machine walked or tried. What the other kind counts is None."""

    protocol: str
    group: str
    system: str
    states: int | None
    transitions: int | None
    depth: int | None
    complete: bool | None
    operations: int | None
    seconds: float
    reached: list[int]
    violation: str
    trace: list[str]


def plan(
    tables: Tables, everything: bool = False, groups: Container[str] = ()
) -> dict[int, CheckedSystem]:
    drawn = systems.trials(tables, seed=1, count=TRIALS)
    every = [*systems.walks(tables, everything), *systems.narrow(tables), *drawn]
    return {n: system for n, system in enumerate(every) if not groups or system.group in groups}


def proofs(
    tables: Tables, everything: bool = False, groups: Container[str] = ()
) -> Iterator[Proof]:
    """Runs them one after the other; a trial's seed is its number."""
    cells = pack(tables)
    for number, system in plan(tables, everything, groups).items():
        yield (trial if system.group == RANDOM else walk)(tables, cells, system, number)


def walk(tables: Tables, cells: list[int], system: CheckedSystem, _: int) -> Proof:
    start = time.perf_counter()
    result = _native.check.walk(cells, system.tree(), system.states, lines=system.lines)
    return _proof(tables, system, start, result)


def trial(tables: Tables, cells: list[int], system: CheckedSystem, seed: int) -> Proof:
    start = time.perf_counter()
    result = _native.check.trial(cells, system.tree(), 3, DRAWN_OPERATIONS // TRIALS, seed)
    return _proof(tables, system, start, result)


def _proof(tables: Tables, system: CheckedSystem, start: float, result: dict[str, Any]) -> Proof:
    seconds = round(time.perf_counter() - start, 3)
    counts = ("states", "transitions", "depth", "complete", "operations")
    return Proof(
        protocol=tables.name,
        group=system.group,
        system=str(system),
        seconds=seconds,
        reached=result["reached"],
        violation=worded(result["violation"], tables, addressed=False),
        trace=result["trace"][-TOLD:] if "operations" in result else result["trace"],
        **{count: result.get(count) for count in counts},
    )


def of(proofs: Iterable[Proof], tables: Tables) -> list[Proof]:
    return [proof for proof in proofs if proof.protocol == tables.name]


def cells_met(proofs: Iterable[Proof]) -> set[int]:
    return {cell for proof in proofs for cell in proof.reached}

"""Runs the proofs of a protocol's tables, and reports the results (`uncore check`).

    plan(tables, everything, groups) -> the machines of the groups, by number; () means all groups
    proofs(tables, everything, groups) -> Iterator[Proof]
    cells_met(proofs) -> cells of the tables that at least one proof has reached

There are two kinds of proof. A walk visits every state that one line can reach in a small machine;
a random trial runs a few lines on a larger machine. Both execute the same templates as the native
engine, on a network that does not keep messages in order.
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

# total number of operations on all randomly drawn machines
DRAWN_OPERATIONS = 1_000_000
RANDOM_TRIALS = 12
# A failed trial's trace has at most this many steps, the last ones before the violation.
MAX_TRACE_STEPS = 60


class Proof(msgspec.Struct, frozen=True):
    """The result of one walk or trial. Counts that this kind of proof does not have are None."""

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
    random_systems = systems.trials(tables, seed=1, count=RANDOM_TRIALS)
    all_systems = [
        *systems.walks(tables, everything),
        *systems.hand_chosen(tables),
        *random_systems,
    ]
    return {
        n: system for n, system in enumerate(all_systems) if not groups or system.group in groups
    }


def proofs(
    tables: Tables, everything: bool = False, groups: Container[str] = ()
) -> Iterator[Proof]:
    """Runs the proofs one after another. The seed of a trial is its number in the plan."""
    cells = pack(tables)
    for number, system in plan(tables, everything, groups).items():
        yield (trial if system.group == RANDOM else walk)(tables, cells, system, number)


def walk(tables: Tables, cells: list[int], system: CheckedSystem, _: int) -> Proof:
    start = time.perf_counter()
    result = _native.check.walk(cells, system.tree(), system.states, lines=system.lines)
    return _proof(tables, system, start, result)


def trial(tables: Tables, cells: list[int], system: CheckedSystem, seed: int) -> Proof:
    start = time.perf_counter()
    result = _native.check.trial(cells, system.tree(), 3, DRAWN_OPERATIONS // RANDOM_TRIALS, seed)
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
        trace=result["trace"][-MAX_TRACE_STEPS:] if "operations" in result else result["trace"],
        **{count: result.get(count) for count in counts},
    )


def of(proofs: Iterable[Proof], tables: Tables) -> list[Proof]:
    return [proof for proof in proofs if proof.protocol == tables.name]


def cells_met(proofs: Iterable[Proof]) -> set[int]:
    return {cell for proof in proofs for cell in proof.reached}

"""`uncore check`: every proof on a protocol's tables, and what came of it.

    main(["msi", "mesi"], everything=False, json=False) -> exit status, 1 on a violation
    proofs(tables, everything) -> Iterator[Proof]     the same for programs

Two kinds. Walks visit every state that one line can reach in a small machine; random trials run a
few lines on larger ones. Both execute the templates the native engine executes, with nothing
between them and the tables but a network that keeps no order.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from uncore import _native
from uncore.protocol import coverage, systems
from uncore.protocol.shapes import PROTOCOLS
from uncore.protocol.systems import System
from uncore.protocol.tables import Tables, load, pack
from uncore.report.progress import progress
from uncore.report.table import Column, emit

OPERATIONS = 1_000_000  # of the machines drawn together; those chosen by hand get as many each
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


def main(protocols: Sequence[str], *, everything: bool, json: bool) -> int:
    """Proves, prints a table (or JSON), then every counterexample."""
    names = list(protocols) or list(PROTOCOLS if everything else PROTOCOLS[:2])
    loaded = [load(name) for name in names]
    total = sum(len(plan(tables, everything)) for tables in loaded)
    found: list[Proof] = []
    with progress(total, "proving", "machines") as advance:
        for tables in loaded:
            for proof in proofs(tables, everything):
                found.append(proof)
                advance(1)
    if json:
        emit([msgspec.to_builtins(proof) for proof in found], True, [])
    else:
        show(loaded, found)
    return int(any(proof.violation for proof in found))


def plan(tables: Tables, everything: bool) -> list[System]:
    drawn = systems.trials(tables, seed=1, count=TRIALS)
    return [*systems.walks(tables, everything), *systems.narrow(tables), *drawn]


def proofs(tables: Tables, everything: bool = False) -> Iterator[Proof]:
    """Runs them one after the other; a trial's seed is its number."""
    cells = pack(tables)
    for number, system in enumerate(plan(tables, everything)):
        yield (trial if system.group == "random" else walk)(tables, cells, system, number)


def walk(tables: Tables, cells: list[int], system: System, _: int) -> Proof:
    start = time.perf_counter()
    result = _native.check.walk(cells, system.tree(), system.states, lines=system.lines)
    return _proof(tables, system, start, result)


def trial(tables: Tables, cells: list[int], system: System, seed: int) -> Proof:
    start = time.perf_counter()
    result = _native.check.trial(cells, system.tree(), 3, OPERATIONS // TRIALS, seed)
    return _proof(tables, system, start, result)


def _proof(tables: Tables, system: System, start: float, result: dict[str, Any]) -> Proof:
    seconds = round(time.perf_counter() - start, 3)
    counts = ("states", "transitions", "depth", "complete", "operations")
    return Proof(
        protocol=tables.name,
        group=system.group,
        system=str(system),
        seconds=seconds,
        reached=result["reached"],
        violation=result["violation"],
        trace=result["trace"][-TOLD:] if "operations" in result else result["trace"],
        **{count: result.get(count) for count in counts},
    )


# --- for people -----------------------------------------------------------------------------------


def show(loaded: Sequence[Tables], found: Sequence[Proof]) -> None:
    """A row for each group of machines; then the counterexamples and the cells nobody met."""
    rows = [row for tables in loaded for row in summary(tables, of(found, tables))]
    emit(rows, False, [
        Column("protocol", "protocol", left=True),
        Column("machines", "machines", left=True),
        Column("number", "count"),
        Column("states", "states", _number),
        Column("transitions", "transitions", _number),
        Column("operations", "operations", _number),
        Column("depth", "depth"),
        Column("cells met", "cells"),
        Column("seconds", "seconds", "{:.1f}".format),
        Column("verdict", "verdict", left=True),
    ])  # fmt: skip
    for proof in found:
        if proof.violation:
            print(f"{proof.protocol}, {proof.system}\n{proof.violation}:")
            print("\n".join(f"  {line}" for line in proof.trace))
    for tables in loaded:
        missed = coverage.expected(tables) - cells_met(of(found, tables))
        if missed and not any(proof.violation for proof in of(found, tables)):
            names = ", ".join(coverage.place(tables, cell) for cell in sorted(missed))
            print(f"{tables.name}: no proof has met {names}")


def of(found: Iterable[Proof], tables: Tables) -> list[Proof]:
    return [proof for proof in found if proof.protocol == tables.name]


def cells_met(found: Iterable[Proof]) -> set[int]:
    return {cell for proof in found for cell in proof.reached}


def summary(tables: Tables, found: Sequence[Proof]) -> Iterator[dict[str, Any]]:
    """One row a group, and one for all."""
    expected = coverage.expected(tables)
    for group in [*dict.fromkeys(proof.group for proof in found), "all"]:
        of_group = [proof for proof in found if group in ("all", proof.group)]
        met = len(expected & cells_met(of_group))
        yield {
            "protocol": tables.name,
            "machines": group,
            "count": len(of_group),
            "depth": max((p.depth for p in of_group if p.depth is not None), default=None),
            "cells": f"{met}/{len(expected)}",
            "seconds": sum(proof.seconds for proof in of_group),
            "verdict": verdict(of_group),
        } | {
            count: sum(getattr(proof, count) or 0 for proof in of_group)
            for count in ("states", "transitions", "operations")
        }


def verdict(found: Sequence[Proof]) -> str:
    violations = sum(bool(proof.violation) for proof in found)
    if violations:
        return f"VIOLATED on {violations}"
    cut = sum(proof.complete is False for proof in found)
    return f"holds; {cut} cut off" if cut else "holds"


def _number(value: int) -> str:
    return f"{value:,}" if value else "-"

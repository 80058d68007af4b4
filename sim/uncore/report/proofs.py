"""The report of `uncore check`: proofs by group of machines, and the share of mutants they detect.

show(loaded, proofs)          prints the table, then the shortest counterexample, or the table cells
                              that no proof met
show_mutants(scores, json)    prints kill rates, then the survivors and why they may survive
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from uncore.drawing.table import Column, emit, say
from uncore.protocol import coverage
from uncore.protocol.check import Proof, cells_met, of
from uncore.protocol.mutate import MutantScore
from uncore.protocol.systems import RANDOM
from uncore.protocol.tables import Tables, shipped_in
from uncore.report.message_chart import chart


def show(loaded: Sequence[Tables], proofs: Sequence[Proof], whole: bool = True) -> None:
    """Prints a row for each group of machines, then counterexamples.

    If all proofs ran (`whole`), it also prints the table cells that no proof met.
    """
    rows = [row for tables in loaded for row in summary(tables, of(proofs, tables))]
    emit(rows, False, COLUMNS)
    for tables in loaded:
        _print_violations([proof for proof in of(proofs, tables) if proof.violation])
        if shipped_files := shipped_in(tables):
            verb = "are" if len(shipped_files) > 1 else "is"
            say(f"{tables.name}: {', '.join(shipped_files)} {verb} as shipped")
        unmet_cells = coverage.expected(tables) - cells_met(of(proofs, tables))
        if whole and unmet_cells and not any(proof.violation for proof in of(proofs, tables)):
            names = ", ".join(coverage.place(tables, cell) for cell in sorted(unmet_cells))
            say(f"{tables.name}: no proof has met {names}")


def _print_violations(violated: Sequence[Proof]) -> None:
    """Prints the shortest counterexample as a chart, and kinds of violation on other machines."""
    if not violated:
        return
    shortest = min(violated, key=lambda proof: (proof.group == RANDOM, len(proof.trace)))
    print(f"{shortest.protocol}, {shortest.system}\n{shortest.violation}:")
    print("\n".join(f"  {line}" for line in chart(shortest.trace)))
    others = Counter(proof.violation for proof in violated if proof is not shortest)
    if others:
        print("on other machines (--json has each with its steps):")
    for violation, count in others.most_common():
        print(f"  {count} times: {violation}")


def _number(value: int) -> str:
    return f"{value:,}" if value else "-"


COLUMNS = [
    Column("protocol", "protocol", left=True, key=True),
    Column(
        "machines",
        "machines",
        left=True,
        key=True,
        about="group of machines, as --machine names it (2+1: cores below two joins)",
    ),
    Column("number", "count", about="number of machines in the group"),
    Column("states", "states", _number, about="different states reached"),
    Column("transitions", "transitions", _number, about="steps taken between them"),
    Column(
        "operations",
        "operations",
        _number,
        about="random operations, on machines that are too large for all states",
    ),
    Column("depth", "depth", about="steps from the start to the farthest state"),
    Column(
        "cells met",
        "cells",
        about="table cells that the proofs met, out of those that are reachable",
    ),
    Column("host s", "seconds", "{:.1f}".format, minor=True, about="this host's"),
    Column(
        "verdict", "verdict", left=True, about="holds, or the number of machines with a violation"
    ),
]


def summary(tables: Tables, proofs: Sequence[Proof]) -> Iterator[dict[str, Any]]:
    """Yields one row for each group of machines, and one for all machines."""
    expected = coverage.expected(tables)
    for group in [*dict.fromkeys(proof.group for proof in proofs), "all"]:
        of_group = [proof for proof in proofs if group in ("all", proof.group)]
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


def verdict(proofs: Sequence[Proof]) -> str:
    violations = sum(bool(proof.violation) for proof in proofs)
    if violations:
        return f"VIOLATED on {violations}"
    cut = sum(proof.complete is False for proof in proofs)
    return f"holds; {cut} cut off" if cut else "holds"


def show_mutants(scores: Sequence[MutantScore], json: bool) -> None:
    """Prints kill rates, and the survivors of the last score, which combines all protocols."""
    columns = [
        Column("protocol", "protocol", left=True),
        Column("mutants", lambda row: len(row["mutants"])),
        Column("killed", lambda row: len(row["mutants"]) - len(row["survivors"])),
        Column("rate", lambda row: f"{1 - len(row['survivors']) / len(row['mutants']):.1%}"),
        Column("not argued", lambda row: sum(not why for why in row["survivors"].values())),
    ]
    emit(
        [msgspec.to_builtins(score) for score in scores],
        json,
        columns,
        "protocols broken in one cell",
    )
    if not json:
        for name, why in scores[-1].survivors.items():
            say(f"survives: {name}\n    {why or 'NOT ARGUED'}")

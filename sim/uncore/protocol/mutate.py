"""Broken protocols, to see whether the proofs notice: what they let pass they do not prove.

    mutants(tables) -> Iterator[Mutant]     every table with one thing changed in one cell
    killed_by(mutant) -> str                the violation that the proofs find; empty: it survives
    python -m uncore.protocol.mutate mesi   the kill rate, and the survivors by name

A change drops one action (an Inv, an acknowledgement, the data), keeps the state where it should
change, or changes it to I.  Some survivors are right: a mutant that only asks more often than it
must is still a coherent protocol.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace

from uncore import _native
from uncore.protocol.coverage import expected, place
from uncore.protocol.shapes import Cell, Table
from uncore.protocol.systems import Level, System, joins, narrow, trials
from uncore.protocol.tables import Tables, load, pack
from uncore.report.progress import progress

# Actions that only say that there is nothing to do.
IDLE = {("client", "ack"), ("resolver", "supply"), ("resolver", "forget"), ("join", "answer")}
ENOUGH = 100_000  # states: a broken protocol shows it early, or has no end


@dataclass(frozen=True)
class Mutant:
    """`tables`, but for one cell: `name` says which and how."""

    name: str
    tables: Tables


def mutants(tables: Tables) -> Iterator[Mutant]:
    """All of them, in the order of the tables; not of cells that this protocol never meets."""
    met = {place(tables, cell) for cell in expected(tables)}
    for table in tables:
        for (row, column), cell in table.cells.items():
            if f"{table.shape.name} {row}/{column}" not in met:
                continue
            for change, changed in changes(table, row, cell):
                name = f"{table.shape.name} {row}/{column}: {cell.text} {change}"
                yield Mutant(name, with_cell(tables, table, (row, column), changed))


def changes(table: Table, row: str, cell: Cell) -> Iterator[tuple[str, Cell]]:
    if not cell.possible or cell.actions == ("stall",):
        return
    for action in cell.actions:
        if (table.shape.name, action) in IDLE:
            continue
        yield f"without {action}", replace(cell, actions=without(cell.actions, action))
    if table.shape.name == "client" and cell.next not in (None, row):
        yield "staying", replace(cell, next=None)
    if table.shape.name == "client" and cell.next not in (None, "I"):
        yield "to I", replace(cell, next="I")


def without(actions: tuple[str, ...], action: str) -> tuple[str, ...]:
    return tuple(a for a in actions if a != action)


def with_cell(tables: Tables, table: Table, key: tuple[str, str], cell: Cell) -> Tables:
    """A protocol that is `tables` everywhere else."""
    changed = replace(table, cells={**table.cells, key: cell})
    return Tables(tables.name, *(changed if other is table else other for other in tables))


def killed_by(mutant: Mutant) -> str:
    """The first violation found, the cheapest machines first."""
    cells = pack(mutant.tables)
    for system in systems(mutant.tables):
        if system.group == "random":
            found = _native.check.trial(cells, system.tree(), 3, 30_000, 1)["violation"]
        else:
            found = _native.check.walk(cells, system.tree(), system.states)["violation"]
        if found:
            return str(found)
    return ""


def systems(tables: Tables) -> list[System]:
    """Machines that take less than a second each, on which every cell is met."""
    few = Level("directory", "direct", "completion")
    early = Level("directory", "via", "response", "victim")
    bus, shared = (Level("snoop", data=data) for data in ("victim", "inclusive"))
    small = [
        System("2 cores", ((2,),), (root,), True, ENOUGH) for root in (few, early, bus, shared)
    ]
    small += [System("3 cores", ((3,),), (root,), states=ENOUGH) for root in (few, bus)]
    small += [
        System("2 joins", ((1, 1), (2,)), (join, few), states=ENOUGH) for join in joins(tables)
    ]
    return [*small, *narrow(tables), *trials(tables, seed=1, count=12)]


def main(protocol: str) -> None:
    """Prints the kill rate of one protocol, and who survives."""
    found = list(mutants(load(protocol)))
    survivors = []
    with progress(len(found), f"{protocol}: mutants", "mutants") as advance:
        for mutant in found:
            if not killed_by(mutant):
                survivors.append(mutant.name)
            advance(1)
    killed = len(found) - len(survivors)
    print(f"{protocol}: {killed} of {len(found)} mutants killed ({killed / len(found):.0%})")
    for name in survivors:
        print(f"  survives: {name}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "mesi")

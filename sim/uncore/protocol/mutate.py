"""Breaks protocols on purpose, to see whether the proofs notice: a proof that misses a fault proves
little.

    mutants(tables) -> Iterator[Mutant]     every table with one change in one cell
    killed_by(mutant) -> str                the violation that the proofs find; "": it survives
    score(tables, mutants) -> MutantScore   how many the proofs notice, and why the others survive
    together(scores) -> MutantScore         a change counts as noticed once one protocol notices it

A change drops one action (an Inv, an acknowledgement, the data), keeps the state where it should
change, or changes it to I.  Some survivors are legitimate: a mutant that only sends more requests
than necessary is still a coherent protocol.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from typing import Any

from uncore import _native
from uncore.protocol.coverage import expected, place
from uncore.protocol.systems import (
    RANDOM,
    CheckedLevel,
    CheckedSystem,
    joins,
    narrow,
    trials,
)
from uncore.protocol.table_shapes import Cell, Table
from uncore.protocol.tables import Tables, pack

# Words that a person could confuse with each word.
CONFUSED_ACTIONS = {
    ("client", "ack"): ("give",),
    ("client", "GetM"): ("GetS",),
    ("client", "Upg"): ("GetS",),
    ("resolver", "probeM"): ("probeS",),
    ("join", "probeM"): ("probeS",),
}
# rights granted by mistake; a protocol that lacks them uses the ones that it grants
MISTAKEN_RIGHTS = ("S", "E", "M")
# States at which a walk stops: intact protocols have fewer, but a mutant's may be endless.
MAX_MUTANT_STATES = 200_000


@dataclass(frozen=True)
class Mutant:
    """Protocol `tables`, with a change in one cell that `name` describes."""

    name: str
    tables: Tables


@dataclass(frozen=True)
class MutantScore:
    """Mutants of a protocol that the proofs notice, and those that survive."""

    protocol: str
    mutants: Sequence[str]
    survivors: Mapping[str, str]  # each with the reason why it may survive; "": unexplained

    @property
    def rate(self) -> float:
        return 1 - len(self.survivors) / len(self.mutants)

    @property
    def enough(self) -> bool:
        return self.rate >= MIN_KILLED_SHARE and all(self.survivors.values())


def mutants(tables: Tables) -> Iterator[Mutant]:
    """Yields all mutants in the order of the tables, except of cells that this protocol never
    meets.
    """
    granted = {cell.next for cell in tables.grant if cell.possible and cell.next not in (None, "I")}
    rights = (
        MISTAKEN_RIGHTS
        if set(MISTAKEN_RIGHTS) <= set(tables.client.rows)
        else sorted(map(str, granted))
    )
    reachable_cells = {place(tables, cell) for cell in expected(tables)}
    for table in tables:
        for (row, column), cell in table.cells.items():
            if f"{table.shape.name} {row}/{column}" not in reachable_cells:
                continue
            for change, changed in changes(table, row, cell, rights):
                name = f"{table.shape.name} {row}/{column}: {cell.text} {change}"
                yield Mutant(name, with_cell(tables, table, (row, column), changed))
        for row in table.rows:
            for first, second, description in swaps(table, row, reachable_cells):
                yield Mutant(
                    f"{table.shape.name} {row}: {description}",
                    _swapped(tables, table, row, first, second),
                )


def changes(
    table: Table, row: str, cell: Cell, rights: Sequence[str]
) -> Iterator[tuple[str, Cell]]:
    """Yields the mutants of one cell, each with a description."""
    if not cell.possible or cell.actions == ("stall",):
        return
    for action in cell.actions:
        yield f"without {action}", replace(cell, actions=without(cell.actions, action))
        for mistaken in CONFUSED_ACTIONS.get((table.shape.name, action), ()):
            instead = tuple(mistaken if a == action else a for a in cell.actions)
            yield f"{mistaken} instead of {action}", replace(cell, actions=instead)
    if table.shape.name in ("client", "transaction") and cell.next not in (None, row):
        yield "staying", replace(cell, next=None)
    if table.shape.name == "client" and cell.next not in (None, "I"):
        yield "to I", replace(cell, next="I")
    # Grants of an Amo stay as they are: it receives a value and no right.
    if table.shape.name in ("resolver", "grant") and cell.next not in (None, "I"):
        for right in rights:
            if right != cell.next:
                yield f"granting {right}", replace(cell, next=right)


def swaps(table: Table, row: str, met: set[str]) -> Iterator[tuple[str, str, str]]:
    """Yields pairs of a client row's cells that lead to different states: (column, column,
    change).
    """
    if table.shape.name != "client":
        return
    leading = [
        column
        for column in table.columns
        if table[row, column].possible
        and table[row, column].next
        and f"{table.shape.name} {row}/{column}" in met
    ]
    for first, second in combinations(leading, 2):
        if table[row, first].next != table[row, second].next:
            yield first, second, f"next states of {first} and {second} swapped"


def without(actions: tuple[str, ...], action: str) -> tuple[str, ...]:
    return tuple(a for a in actions if a != action)


def with_cell(tables: Tables, table: Table, key: tuple[str, str], cell: Cell) -> Tables:
    """Returns `tables` with another cell in one of them."""
    return _with(tables, table, replace(table, cells={**table.cells, key: cell}))


def _swapped(
    tables: Tables, table: Table, row: str, first_column: str, second_column: str
) -> Tables:
    first, second = table[row, first_column], table[row, second_column]
    cells = table.cells | {
        (row, first_column): replace(first, next=second.next),
        (row, second_column): replace(second, next=first.next),
    }
    return _with(tables, table, replace(table, cells=cells))


def _with(tables: Tables, table: Table, changed: Table) -> Tables:
    return Tables(tables.name, *(changed if other is table else other for other in tables))


def killed_by(mutant: Mutant) -> str:
    """Returns the first violation found, trying the cheapest machines first; "" if none is
    found.
    """
    cells = pack(mutant.tables)
    violations = (proof(cells, system)["violation"] for system in systems(mutant.tables))
    return next(filter(None, violations), "")


def proof(cells: list[int], system: CheckedSystem) -> dict[str, Any]:
    """Runs the walk, or the random trial, of one machine."""
    result: dict[str, Any]
    if system.group == RANDOM:
        result = _native.check.trial(cells, system.tree(), 3, 30_000, 1)
    else:
        result = _native.check.walk(cells, system.tree(), system.states)
    return result


def systems(tables: Tables) -> list[CheckedSystem]:
    """Returns machines that take less than a second each, the quickest first."""
    narrow_home = CheckedLevel("directory", "direct", "completion")
    early = CheckedLevel("directory", "via", "response", "victim")
    bus, shared = (CheckedLevel("snoop", data=data) for data in ("victim", "inclusive"))
    chosen = []
    for join in joins(tables):  # a core that is alone loses its right only by recalls
        three_levels = CheckedSystem(
            "1 core, three levels", ((1,), (1,), (1,)), (join, join, narrow_home), join.operates
        )
        chosen += [
            three_levels,
            CheckedSystem("2 cores, two levels", ((2,), (1,)), (join, narrow_home)),
        ]
    chosen += [*narrow(tables), *trials(tables, seed=1, count=12)]
    for root, owned in product((narrow_home, early, bus, shared), (False, True)):
        chosen.append(CheckedSystem("2 cores", ((2,),), (root,), True, owned))
    broadcast = replace(narrow_home, pointers=1)
    chosen += [CheckedSystem("3 cores", ((3,),), (root,)) for root in (narrow_home, bus, broadcast)]
    chosen += [
        CheckedSystem("2 joins", ((1, 1), (2,)), (join, narrow_home)) for join in joins(tables)
    ]
    return [replace(system, states=MAX_MUTANT_STATES) for system in chosen]


# Survivors that are still coherent, at most slower: patterns of mutants' names, each with the
# reason.
HARMLESS_MUTANTS = {
    r"client (S|IS|IM|SM)/ProbeS: .*without shared": "only says that a copy stays here: a"
    " reader's right, E or S, hangs on it only where nobody else has a copy, and in MSI never",
    r"client [EF]/Probe[SM]: .*without give": "the copy is clean, so the level's own data are as"
    " new; they come from there",
    r"client [EFM]/ProbeS: .* to I": "gives its copy up where it need not: the resolver lists a"
    " sharer that has dropped silently, as any may",
    r"client [EF]/ProbeS: .*without shared": "the resolver may take the copy for gone: the reader"
    " is granted what a sole reader is, and this copy has nothing to supply",
    r"client SM/ProbeM: ack>IM give": "the copy that waits for an upgrade is as new as the level's"
    " own data, and who has it may hand it over",
    r"client [SO]M/Load: hit without hit": "the load waits until its core's upgrade is granted,"
    " which it is",
    r"client SM/(Inv|ProbeM): ack>IM staying": "a resolver that has invalidated the copy answers"
    " the upgrade with data, and data fill SM as they fill IM",
    r"client MI/Probe[SM]: .*staying": "nobody probes a client for a line it has handed over; its"
    " Put is found stale by the resolver, in MI as in II",
    r"client MI: next states": "MI and II differ only in what they answer to probes that do not"
    " come any more once ownership was handed over",
    r"resolver R/Get[SM]: lost without lost": "without a join below, the owner that asks anew is"
    " listed alone, and an owner that is granted again is an owner",
    r"resolver U/Evict: probeM": "a snooping resolver evicts nothing that children rely on: it asks"
    " them all whatever its own store holds",
    r"resolver [WBU]/GetS: probeS>F granting S": "the reader listed as the forwarder has a plain"
    " copy: asked for the data, it has none to give, as if it had dropped its F and read again",
    r"join W above/ProbeS: probeS": "the owner below is clean (F): this level's data are as new",
    r"grant GetS/\w+: [EF] granting S": "less than could be granted: a write then asks, and the"
    " next reader is served by the level's data",
    r"transaction .*: .* without (open|close)": "the transaction's record, for the log, which other"
    " tests compare; nothing is sent or remembered by it",
    r"transaction put/\w+: .* without ack": "an eviction answers nobody; a Put goes on up"
    " only under O, where its missing answer is noticed",
    r"transaction read/Dropped: .* without share": "without E no owner drops its copy, so none is"
    " listed, and what is granted is decided by the second poll",
    r"transaction read_unblocked/Answers: .* without share": "in MOESI a read takes no data over:"
    " the owner is listed still, as one that dropped a clean copy is, and its next answer counts",
    r"join N below/Probe[SM]: wait": "no child has a copy: what is under way is the completion of a"
    " grant that was given back already",
}
MIN_KILLED_SHARE = 0.9


def argued(mutant: str) -> str:
    """Returns why a mutant may survive; "" if HARMLESS_MUTANTS has no reason."""
    return next(
        (reason for pattern, reason in HARMLESS_MUTANTS.items() if re.match(pattern, mutant)), ""
    )


def score(
    tables: Tables, mutants_: Sequence[Mutant], done: Callable[[], None] = lambda: None
) -> MutantScore:
    """Tries the mutants of `tables`; calls `done` after each."""
    survivors = {}
    for mutant in mutants_:
        if not killed_by(mutant):
            survivors[mutant.name] = argued(mutant.name)
        done()
    return MutantScore(tables.name, [mutant.name for mutant in mutants_], survivors)


def together(scores: Sequence[MutantScore]) -> MutantScore:
    """Merges the scores of several protocols.

    Protocols share most rows of the tables, so a change counts as noticed once one of them notices.
    """
    names = {name for score_ in scores for name in score_.mutants}
    killed = {name for score_ in scores for name in score_.mutants if name not in score_.survivors}
    return MutantScore("together", sorted(names), {n: argued(n) for n in sorted(names - killed)})

"""Tests the proofs by mutation: breaks protocols on purpose, and counts the faults that are found.

    mutants(tables) -> Iterator[Mutant]     the protocol with one cell changed, for every change
    killed_by(mutant) -> str                the violation that the proofs find, or "" if none
    score(tables, mutants_) -> MutantScore  the mutants that survive the proofs, with the reasons
    in_all_protocols(scores) -> MutantScore the mutants that survive in all protocols

A change drops one action (an Inv, an acknowledgement, the data), omits a change of state, or
changes the state to I. Some mutants may survive, because a protocol that only sends more requests
than necessary is still coherent.
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
    hand_chosen,
    joins,
    trials,
)
from uncore.protocol.table_shapes import Cell, Table
from uncore.protocol.tables import Tables, pack

# actions, each with the other actions with which an author could confuse it
CONFUSED_ACTIONS = {
    ("client", "ack"): ("give",),
    ("client", "GetM"): ("GetS",),
    ("client", "Upg"): ("GetS",),
    ("resolver", "probeM"): ("probeS",),
    ("join", "probeM"): ("probeS",),
}
# Rights that could be granted by mistake. If a protocol lacks one of these states, the rights that
# it grants are used instead.
MISTAKEN_RIGHTS = ("S", "E", "M")
# Number of states at which a walk stops. Correct protocols have fewer states, but a mutant may have
# infinitely many.
MAX_MUTANT_STATES = 200_000


@dataclass(frozen=True)
class Mutant:
    """A protocol with a change in one cell, which `name` describes."""

    name: str
    tables: Tables


@dataclass(frozen=True)
class MutantScore:
    """The mutants of a protocol, and those that survive the proofs."""

    protocol: str
    mutants: Sequence[str]
    survivors: Mapping[str, str]  # name -> the reason why it may survive; "": unexplained

    @property
    def rate(self) -> float:
        return 1 - len(self.survivors) / len(self.mutants)

    @property
    def enough(self) -> bool:
        return self.rate >= MIN_KILLED_SHARE and all(self.survivors.values())


def mutants(tables: Tables) -> Iterator[Mutant]:
    """Yields all mutants in the order of the tables. It skips cells that this protocol cannot
    reach.
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
    # Grants of an Amo are not changed, because it receives a value and no right.
    if table.shape.name in ("resolver", "grant") and cell.next not in (None, "I"):
        for right in rights:
            if right != cell.next:
                yield f"granting {right}", replace(cell, next=right)


def swaps(table: Table, row: str, reachable: set[str]) -> Iterator[tuple[str, str, str]]:
    """Yields pairs of cells of a client row that lead to different states, as (column, column,
    description).
    """
    if table.shape.name != "client":
        return
    changing_columns = [
        column
        for column in table.columns
        if table[row, column].possible
        and table[row, column].next
        and f"{table.shape.name} {row}/{column}" in reachable
    ]
    for first, second in combinations(changing_columns, 2):
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
    """Returns the first violation that a proof finds, starting with the quickest machine; "" if no
    proof finds one.
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
    bus, inclusive_bus = (CheckedLevel("snoop", data=data) for data in ("victim", "inclusive"))
    machines = []
    for join in joins(tables):  # a core without siblings loses its right only by recalls
        three_levels = CheckedSystem(
            "1 core, three levels", ((1,), (1,), (1,)), (join, join, narrow_home), join.operates
        )
        machines += [
            three_levels,
            CheckedSystem("2 cores, two levels", ((2,), (1,)), (join, narrow_home)),
        ]
    machines += [*hand_chosen(tables), *trials(tables, seed=1, count=12)]
    for root, far_owned in product((narrow_home, early, bus, inclusive_bus), (False, True)):
        machines.append(CheckedSystem("2 cores", ((2,),), (root,), True, far_owned))
    broadcast = replace(narrow_home, pointers=1)
    machines += [
        CheckedSystem("3 cores", ((3,),), (root,)) for root in (narrow_home, bus, broadcast)
    ]
    machines += [
        CheckedSystem("2 joins", ((1, 1), (2,)), (join, narrow_home)) for join in joins(tables)
    ]
    return [replace(system, states=MAX_MUTANT_STATES) for system in machines]


# Mutants that may survive, because they are still coherent and only slower: patterns of their
# names, each with the reason.
HARMLESS_MUTANTS = {
    r"client (S|IS|IM|SM)/ProbeS: .*without shared": "the flag only tells that a copy stays. It"
    " decides between E and S for the reader only if there is no other copy, and never in MSI",
    r"client [EF]/Probe[SM]: .*without give": "the copy is clean, so the level's own data are as"
    " new, and are sent instead",
    r"client [EFM]/ProbeS: .* to I": "the client gives up a copy without need: the resolver"
    " lists it as a sharer, but any sharer may have dropped its copy silently",
    r"client [EF]/ProbeS: .*without shared": "the resolver may assume that the copy is gone: the"
    " reader is granted the right of a sole reader, and this copy need not supply data",
    r"client SM/ProbeM: ack>IM give": "the copy that waits for an upgrade is as new as the level's"
    " own data, so the client may send it",
    r"client [SO]M/Load: hit without hit": "the load waits until its core's upgrade is granted,"
    " which always happens",
    r"client SM/(Inv|ProbeM): ack>IM staying": "a resolver that has invalidated the copy answers"
    " the upgrade with data, and SM handles data as IM does",
    r"client MI/Probe[SM]: .*staying": "no resolver probes a client for a line that it has given"
    " up; the resolver finds its Put stale, in MI as in II",
    r"client MI: next states": "MI and II differ only in their answers to probes, and none comes"
    " after ownership has been given up",
    r"resolver R/Get[SM]: lost without lost": "without a join below, the owner that requests"
    " again is the only holder listed, and becomes the owner again",
    r"resolver U/Evict: probeM": "children do not depend on the copy that a snooping resolver"
    " evicts: it probes all of them anyway",
    r"resolver [WBU]/GetS: probeS>F granting S": "the reader that is listed as the forwarder has S:"
    " it sends no data when it is probed, as if it had dropped F and read again",
    r"join W above/ProbeS: probeS": "the owner below is clean (F): this level's data are as new",
    r"grant GetS/\w+: [EF] granting S": "the right is less than possible: a later write needs a"
    " request, and the next reader gets the level's data",
    r"transaction .*: .* without (open|close)": "the action only writes the log, which other tests"
    " compare; it sends no message and changes no state",
    r"transaction put/\w+: .* without ack": "an eviction has no requester to answer; a Put goes on"
    " to the level above only with O, where the missing answer is noticed",
    r"transaction read/Dropped: .* without share": "without E no owner drops its copy, so none is"
    " listed, and the second poll decides the right",
    r"transaction read_unblocked/Answers: .* without share": "in MOESI a read takes over no data:"
    " the owner is still listed, like one that dropped a clean copy, and its next answer counts",
    r"join N below/Probe[SM]: wait": "no child has a copy: only an Unblock is under way, for a"
    " grant that was given back already",
}
MIN_KILLED_SHARE = 0.9


def reason_to_survive(mutant: str) -> str:
    """Returns the reason why a mutant may survive; "" if HARMLESS_MUTANTS has none."""
    return next(
        (reason for pattern, reason in HARMLESS_MUTANTS.items() if re.match(pattern, mutant)), ""
    )


def score(
    tables: Tables, mutants_: Sequence[Mutant], done: Callable[[], None] = lambda: None
) -> MutantScore:
    """Runs the proofs on the mutants of `tables`; calls `done` after each mutant."""
    survivors = {}
    for mutant in mutants_:
        if not killed_by(mutant):
            survivors[mutant.name] = reason_to_survive(mutant.name)
        done()
    return MutantScore(tables.name, [mutant.name for mutant in mutants_], survivors)


def in_all_protocols(scores: Sequence[MutantScore]) -> MutantScore:
    """Merges the scores of several protocols.

    Protocols share most rows of the tables, so a change survives only if it survives in all
    protocols.
    """
    names = {name for score_ in scores for name in score_.mutants}
    killed = {name for score_ in scores for name in score_.mutants if name not in score_.survivors}
    return MutantScore(
        "together", sorted(names), {n: reason_to_survive(n) for n in sorted(names - killed)}
    )

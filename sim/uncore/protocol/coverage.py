"""Finds the cells that a protocol can reach, to compare them with the cells that proofs have
reached.

    expected(tables)            positions, in packed order, of the cells that the protocol can reach
    place(tables, position)     "client M/ProbeS", for reports

A cell is expected if it is possible and its row can be entered. The states of the client that can
be entered are those to which cells lead from I, given the rights of the grant table.
"""

from __future__ import annotations

from uncore.protocol.table_shapes import DATA
from uncore.protocol.tables import Tables, layout


def expected(tables: Tables) -> frozenset[int]:
    """Returns the positions of all cells that the protocol can reach. Complete proofs reach all of
    them.
    """
    reachable = {
        "client": (states(tables), events(tables)),
        "transaction": (phases(tables), transaction_events(tables)),
    }
    placements = positions(tables)
    return frozenset(
        number
        for number, (table, row, column) in enumerate(placements)
        if table
        and getattr(tables, table)[row, column].possible
        and (
            table not in reachable or (row in reachable[table][0] and column in reachable[table][1])
        )
        # a probe from above has no requester among the children, so row R does not occur
        and not (table == "join" and row.startswith("R "))
    )


def positions(tables: Tables) -> tuple[tuple[str, str, str], ...]:
    """Returns (table, row, column) of every packed cell; empty strings for a cell that the protocol
    lacks.
    """
    return tuple(
        (place[0].shape.name, *place[1:]) if place else ("", "", "") for place in layout(tables)
    )


def place(tables: Tables, position: int) -> str:
    table, row, column = positions(tables)[position]
    return f"{table} {row}/{column}"


def events(tables: Tables) -> frozenset[str]:
    """Returns the client's events in this protocol. Data events are included only for rights that
    the protocol grants.
    """
    granted = {cell.next for cell in tables.grant if cell.possible}
    return frozenset(
        event
        for event in tables.client.columns
        if not event.startswith(DATA) or event.removeprefix(DATA) in granted
    )


def transaction_events(tables: Tables) -> frozenset[str]:
    """Returns the events of the transaction table that can occur in this protocol.

    Not every protocol has reads, shared grants, or copies that are dropped silently.
    """
    entered, absent = states(tables), set[str]()
    cells = [tables.client[row, event] for row in entered for event in events(tables)]
    reached_actions = {action for cell in cells if cell.possible for action in cell.actions}
    granted = {cell.next for cell in tables.grant if cell.possible and cell.next != "I"}
    if "GetS" not in reached_actions:
        absent |= {"Read"}
    if "drop" not in reached_actions:
        absent |= {"Dropped"}
    if all(right and "hit" in tables.client[right, "Store"].actions for right in granted):
        absent |= {"Overlap", "UnblockS"}
    return frozenset(tables.transaction.columns) - absent


def phases(tables: Tables) -> frozenset[str]:
    """Returns the phases of the transaction table that can be reached from idle."""
    phases_, new_rows = set[str](), {"idle"}
    while new_rows:
        phases_ |= new_rows
        cells = [
            tables.transaction[row, event]
            for row in new_rows
            for event in transaction_events(tables)
        ]
        new_rows = {cell.next for cell in cells if cell.possible and cell.next} - phases_
    return frozenset(phases_)


def states(tables: Tables) -> frozenset[str]:
    """Returns the states of the client table that can be reached from I."""
    reachable, new_rows = set[str](), {"I"}
    while new_rows:
        reachable |= new_rows
        cells = [tables.client[row, event] for row in new_rows for event in events(tables)]
        new_rows = {cell.next for cell in cells if cell.possible and cell.next} - reachable
    return frozenset(reachable)

"""Which cells of a protocol there are to reach, and which a proof has reached.

    expected(tables)            positions, in packed order, of the cells the protocol can meet
    place(tables, position)     "client M/ProbeS", for people

A cell is expected if it is possible and its row can be entered: the client's states are those that
its cells lead to from I, given what the grant table grants.
"""

from __future__ import annotations

from uncore.protocol.tables import Tables

DATA = {"S": "DataS", "F": "DataF", "E": "DataE", "M": "DataM"}


def expected(tables: Tables) -> frozenset[int]:
    """The positions of all cells that a complete proof meets."""
    entered = states(tables)
    places = positions(tables)
    return frozenset(
        number
        for number, (table, row, column) in enumerate(places)
        if (cell := getattr(tables, table)[row, column]).possible
        and (table != "client" or (row in entered and column in events(tables)))
        and not (table == "join" and row.startswith("R "))  # above, nobody is the requester
        and cell
    )


def positions(tables: Tables) -> tuple[tuple[str, str, str], ...]:
    """(table, row, column) of every packed cell."""
    return tuple(
        (table.shape.name, row, column)
        for table in tables
        for row in table.rows
        for column in table.columns
    )


def place(tables: Tables, position: int) -> str:
    table, row, column = positions(tables)[position]
    return f"{table} {row}/{column}"


def events(tables: Tables) -> frozenset[str]:
    """The client's events that this protocol has: data come with the rights it grants."""
    granted = {cell.next for cell in tables.grant if cell.possible}
    absent = {event for right, event in DATA.items() if right not in granted}
    return frozenset(tables.client.columns) - absent


def states(tables: Tables) -> frozenset[str]:
    """The client's states that cells lead to from I."""
    found, new = set[str](), {"I"}
    while new:
        found |= new
        cells = [tables.client[row, event] for row in new for event in events(tables)]
        new = {cell.next for cell in cells if cell.possible and cell.next} - found
    return frozenset(found)

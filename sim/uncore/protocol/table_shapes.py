"""Shapes of the protocol's tables, a table, and a cell.

The order of events and actions comes from the native module alone (`names`); states are the rows of
the client table, whatever they are called, and data come as one event for each (`DataS`).
Invariant: a Table has no hole: every cell is a transition, a stall, or impossible for a reason its
file states.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

HERE = Path(__file__).parent
DATA = "Data"  # and a state: data that come with this right
IN_JOINS = ("Stays",)  # the client events that the upper half of a join has alone
# protocols in the tables beside this file, whose rows are tagged with these names
VARIANTS = ("msi", "mesi", "mesif", "moesi", "mosi")
# Beside them a shipped protocol is a folder of tables, like a user's own, and the tag whose rows
# are taken, there and of the shipped tables that the folder lacks.
FOLDERS = {
    "migratory": ("migratory", "mesi"),
    "migratory-mesif": ("migratory", "mesif"),
    "migratory-moesi": ("migratory", "moesi"),
}
PROTOCOLS = (*VARIANTS, *FOLDERS)


@dataclass(frozen=True)
class Shape:
    """Shape of one table: the beginning of its head, and its names."""

    name: str
    file: str
    head: str
    rows: tuple[str, ...]
    columns: str
    actions: str | None
    omitted: tuple[str, ...] = ()  # rows that cannot be written, and why they cannot happen
    reason: str = ""
    leads_to: str = ""  # the names that may stand behind > in a cell
    ordered: bool = False  # a cell's actions are written in the order in which they are done
    optional: tuple[str, ...] = ()  # columns that not every protocol has


SHAPES = (
    Shape("client", "client.table", "state", ("states",), "client_events", "client_actions",
          leads_to="states", optional=IN_JOINS),
    Shape("resolver", "resolver.table", "children", ("children",), "requests", "resolver_actions",
          leads_to="states"),
    Shape("grant", "resolver.table", "answers", ("requests",), "answers", None,
          ("Put", "Evict"), "neither is granted anything", leads_to="states",
          optional=("passed",)),
    Shape("join", "join.table", "children waits", ("children", "waits"), "probes", "join_actions",
          ("R", "U"), "a snooping resolver stands at the root only"),
    Shape("transaction", "transaction.table", "phase", ("phases",), "transaction_events",
          "transaction_actions", leads_to="phases", ordered=True),
)  # fmt: skip


@dataclass(frozen=True)
class Cell:
    """One cell: what happens, or why it cannot.  `next` is None where the state stays."""

    actions: tuple[str, ...] = ()
    next: str | None = None
    reason: str = ""
    text: str = ""

    @property
    def possible(self) -> bool:
        return not self.reason


@dataclass(frozen=True)
class Table:
    """One table in native order: `table["M", "ProbeS"]`, `table["W idle", "Inv"]`."""

    shape: Shape
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: dict[tuple[str, str], Cell]

    def __getitem__(self, key: tuple[str, str]) -> Cell:
        return self.cells[key]

    def __iter__(self) -> Iterator[Cell]:
        return (self.cells[row, column] for row in self.rows for column in self.columns)


@cache
def names() -> dict[str, list[str]]:
    """The names every table is made of, in native order."""
    from uncore._native import protocol_names  # noqa: PLC0415 (machines are read to build it)

    return dict(protocol_names())

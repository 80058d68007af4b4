"""The shapes of the protocol's tables, and the types of a table and a cell.

Only the native module defines the order of events and actions (`names`). States are the rows of the
client table and may have any names; each has its own event for arriving data (`DataS`).
Invariant: a Table is complete: every cell is a transition, a stall, or impossible for a reason that
its file states.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

HERE = Path(__file__).parent
DATA = "Data"  # prefix of a data event, before the state that the data grant
JOIN_EVENTS = ("Stays",)  # client events that occur only in the upper half of a join
# protocols of the tables in this folder, whose rows are tagged with these names
VARIANTS = ("msi", "mesi", "mesif", "moesi", "mosi")
# Other shipped protocols are folders of tables, like those of users, each with a tag. The tag
# selects rows in the tables of the folder, and in the shipped tables that replace missing ones.
PROTOCOL_FOLDERS = {
    "migratory": ("migratory", "mesi"),
    "migratory-mesif": ("migratory", "mesif"),
    "migratory-moesi": ("migratory", "moesi"),
}
PROTOCOLS = (*VARIANTS, *PROTOCOL_FOLDERS)


@dataclass(frozen=True)
class Shape:
    """Shape of one table: its head and the kinds of its rows and columns."""

    name: str
    file: str
    head: str
    rows: tuple[str, ...]
    columns: str
    actions: str | None
    # rows that a file must not contain, because `reason` makes them impossible
    omitted: tuple[str, ...] = ()
    reason: str = ""
    leads_to: str = ""  # kind of the names that may follow > in a cell: states or phases
    ordered: bool = False  # True: a cell must list its actions in the order of execution
    optional: tuple[str, ...] = ()  # columns that only some protocols have


SHAPES = (
    Shape("client", "client.table", "state", ("states",), "client_events", "client_actions",
          leads_to="states", optional=JOIN_EVENTS),
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
    """One cell: its actions, or the reason why it is impossible. If `next` is None, the state does
    not change.
    """

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
    """Returns the names of each kind (events, actions, phases ...), in native order."""
    from uncore._native import protocol_names  # noqa: PLC0415 (machines are read to build it)

    return dict(protocol_names())

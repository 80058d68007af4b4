"""The protocol's tables: lookups of cells.

A lookup that finds an impossible cell raises a ProtocolError.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from uncore.engine.reference.message import ProtocolError
from uncore.protocol import tables
from uncore.protocol.impossible import UNIT
from uncore.protocol.states import StateProperties

if TYPE_CHECKING:
    from uncore.protocol.table_shapes import Cell
    from uncore.topology.machine import Machine


class Protocol(StateProperties):
    """The tables of one protocol, and the properties of its states."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(tables.of(machine.protocol, machine.tables))
        self.line = machine.line
        # the right that a root always holds, which is also granted to a writer
        self.full_right = self.tables.grant["GetM", "nobody"].next or ""
        # the right that is granted to a reader if others share the line
        self.shared_right = self.tables.grant["GetS", "outside"].next or ""
        self.has_stays = "Stays" in self.tables.client.columns
        passed = self.tables.grant.cells.get(("GetS", "passed"))
        # the right that is granted if an owner passes the line on, or "" if owners never do
        self.passed_right = passed.next if passed and passed.next else ""

    def client(self, state: str, event: str, line: int) -> Cell:
        return self._possible("client", state, event, line)

    def resolver(self, children: str, request: str, line: int) -> Cell:
        return self._possible("resolver", children, request, line)

    def grant(self, request: str, answers: str, line: int) -> Cell:
        return self._possible("grant", request, answers, line)

    def join(self, children: str, phase: str, probe: str, line: int) -> Cell:
        return self._possible("join", f"{children} {phase}", probe, line)

    def _possible(self, table: str, row: str, column: str, line: int) -> Cell:
        cell: Cell = getattr(self.tables, table)[row, column]
        if not cell.possible:
            raise ProtocolError(
                f"{table} in {row} met {column}, which its table declares impossible"
                f" (line {line * self.line // UNIT})"
            )
        return cell

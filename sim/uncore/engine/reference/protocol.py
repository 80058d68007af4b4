"""The protocol's tables, and what their states are.

A state is asked for by what its row says, never by its name, so that a protocol of a user's own may
have states of its own.  A cell that cannot be is an error of the machine or of the tables.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from uncore.engine.reference.message import ProtocolError
from uncore.protocol import tables
from uncore.protocol.table_shapes import DATA

if TYPE_CHECKING:
    from uncore.protocol.table_shapes import Cell
    from uncore.topology.machine import Machine

REQUESTS = ("GetS", "GetM", "Upg")


class Protocol:
    """The tables of one protocol."""

    def __init__(self, machine: Machine) -> None:
        self.tables = tables.of(machine.protocol, machine.tables)
        client = self.tables.client
        self.grants = [event for event in client.columns if event.startswith(DATA)] + ["Grant"]
        # A root's right for good, as who is granted a write has it.
        self.full_right = self.tables.grant["GetM", "nobody"].next or ""
        self.shared_right = self.tables.grant["GetS", "outside"].next or ""  # beside others

    # ---- cells -----------------------------------------------------------------------------------

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
                f"{table} in {row} met {column}, which its table declares impossible (line {line})"
            )
        return cell

    # ---- states ----------------------------------------------------------------------------------

    def hits(self, state: str, wish: str) -> bool:
        """Does the right suffice for Load or Store?"""
        return self._does(state, wish, "hit")

    def may_load(self, state: str) -> bool:
        return self.hits(state, "Load")

    def may_store(self, state: str) -> bool:
        return self.hits(state, "Store")

    def shares(self, state: str) -> bool:
        """Others may read the line as well."""
        return self.may_load(state) and not self.may_store(state)

    def may_evict(self, state: str) -> bool:
        cell = self.tables.client[state, "Evict"]
        return cell.possible and "stall" not in cell.actions

    def owns(self, state: str) -> bool:
        """A client in it hands its data over when it is asked to give the line up."""
        return self._does(state, "ProbeM", "give")

    def forwards(self, state: str) -> bool:
        """It hands clean data to a reader, though others have them too."""
        return self.owns(state) and not self.is_dirty(state) and not self.may_store(state)

    def is_dirty(self, state: str) -> bool:
        """Its data may differ from the level below."""
        return self._does(state, "ProbeM", "dirty")

    def waits_for_grant(self, state: str) -> bool:
        return any(self.tables.client[state, event].possible for event in self.grants)

    def holds_copy(self, state: str) -> bool:
        """The client has the line's data: it may read them, owns them, or upgrades them."""
        grant = self.tables.client[state, "Grant"]
        upgrades = grant.possible and not request_of(grant)
        return self.may_load(state) or self.owns(state) or upgrades

    def _does(self, state: str, event: str, action: str) -> bool:
        return bool(state) and action in self.tables.client[state, event].actions


def request_of(cell: Cell) -> str:
    """The request that a cell sends; "" if none."""
    return next((kind for kind in REQUESTS if kind in cell.actions), "")

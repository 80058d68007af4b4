"""Properties of the client's states, and the role that each plays.

    states = StateProperties(tables)
    states.may_store("M")       what the state's row of the client table says
    states.role("V")            "modified": a name for people, by what the state is

Invariant: a state is asked for by its row, never by its name, so that a protocol of a user's own
may have states of its own.  The native engine derives the same (sim/native/coherence/states.hh).
"""

from __future__ import annotations

from uncore.protocol.table_shapes import DATA, Cell
from uncore.protocol.tables import Tables

REQUESTS = ("GetS", "GetM", "Upg")


class StateProperties:
    """Properties of each state of a protocol's client table."""

    def __init__(self, tables: Tables) -> None:
        self.tables = tables
        columns = tables.client.columns
        self.grants = [event for event in columns if event.startswith(DATA)] + ["Grant"]

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

    def is_written(self, state: str) -> bool:
        """A store there changes nothing."""
        cell = self.tables.client[state, "Store"]
        return self.may_store(state) and cell.next in (None, state)

    def waits_for_grant(self, state: str) -> bool:
        return any(self.tables.client[state, event].possible for event in self.grants)

    def is_transient(self, state: str) -> bool:
        """A request or a writeback is under way."""
        return self.waits_for_grant(state) or self.tables.client[state, "PutAck"].possible

    def holds_copy(self, state: str) -> bool:
        """The client has the line's data: it may read them, owns them, or upgrades them."""
        grant = self.tables.client[state, "Grant"]
        upgrades = grant.possible and not request_of(grant)
        return self.may_load(state) or self.owns(state) or upgrades

    def role(self, state: str) -> str:
        """The state of MOESI and MESIF that it is like; "waiting" or "invalid" without a copy."""
        if not self.holds_copy(state):
            return "waiting" if self.is_transient(state) else "invalid"
        if self.may_store(state):
            return "modified" if self.is_dirty(state) else "exclusive"
        if self.owns(state):
            return "owned" if self.is_dirty(state) else "forwarding"
        return "shared"

    def _does(self, state: str, event: str, action: str) -> bool:
        return bool(state) and action in self.tables.client[state, event].actions


def request_of(cell: Cell) -> str:
    """The request that a cell sends; "" if none."""
    return next((kind for kind in REQUESTS if kind in cell.actions), "")

"""Properties of the client's states, and the common name of each.

    states = StateProperties(tables)
    states.may_store("M")       a property, derived from the state's row of the client table
    states.role("V")            "modified": a common name, derived from the state's properties

Invariant: properties follow from a state's row, never from its name, so that a user's protocol may
define its own states. The native engine derives the same properties
(sim/native/coherence/states.hh).
"""

from __future__ import annotations

from uncore.protocol.table_shapes import DATA, Cell
from uncore.protocol.tables import Tables

REQUEST_ACTIONS = ("GetS", "GetM", "Upg")


class StateProperties:
    """Properties of each state of a protocol's client table."""

    def __init__(self, tables: Tables) -> None:
        self.tables = tables
        columns = tables.client.columns
        self.grants = [event for event in columns if event.startswith(DATA)] + ["Grant"]

    def hits(self, state: str, event: str) -> bool:
        """Returns True if the state's right suffices for `event`, which is Load or Store."""
        return self._does(state, event, "hit")

    def may_load(self, state: str) -> bool:
        return self.hits(state, "Load")

    def may_store(self, state: str) -> bool:
        return self.hits(state, "Store")

    def shares(self, state: str) -> bool:
        """Returns True if other clients may read the line at the same time."""
        return self.may_load(state) and not self.may_store(state)

    def may_evict(self, state: str) -> bool:
        cell = self.tables.client[state, "Evict"]
        return cell.possible and "stall" not in cell.actions

    def owns(self, state: str) -> bool:
        """Returns True if a client in this state sends its data when it gets a ProbeM."""
        return self._does(state, "ProbeM", "give")

    def forwards(self, state: str) -> bool:
        """Returns True if a sharer in this state sends its clean data to readers (F)."""
        return self.owns(state) and not self.is_dirty(state) and not self.may_store(state)

    def is_dirty(self, state: str) -> bool:
        """Returns True if the state's data differ, or may differ, from those of the level above."""
        return self._does(state, "ProbeM", "dirty")

    def is_written(self, state: str) -> bool:
        """Returns True if a store does not change the state."""
        cell = self.tables.client[state, "Store"]
        return self.may_store(state) and cell.next in (None, state)

    def waits_for_grant(self, state: str) -> bool:
        return any(self.tables.client[state, event].possible for event in self.grants)

    def is_transient(self, state: str) -> bool:
        """Returns True if a request or a writeback is under way."""
        return self.waits_for_grant(state) or self.tables.client[state, "PutAck"].possible

    def holds_copy(self, state: str) -> bool:
        """Returns True if the client has the line's data: it may read them, owns them, or waits for
        an upgrade.
        """
        grant = self.tables.client[state, "Grant"]
        upgrades = grant.possible and not request_of(grant)
        return self.may_load(state) or self.owns(state) or upgrades

    def role(self, state: str) -> str:
        """Returns the name of the most similar state of MOESI and MESIF; for a state without a
        copy, "waiting" or "invalid".
        """
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
    """Returns the request that a cell sends; "" if none."""
    return next((kind for kind in REQUEST_ACTIONS if kind in cell.actions), "")

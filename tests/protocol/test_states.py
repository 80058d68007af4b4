"""Does a state's role depend only on its row of the client table, and not on its name?"""

import pytest
from tests.differential.jobs import SUPPORT

from uncore.protocol.states import StateProperties
from uncore.protocol.tables import load

MESI = {"I": "invalid", "S": "shared", "E": "exclusive", "M": "modified"}
WITHOUT_COPY = {"IS": "waiting", "IM": "waiting", "II": "waiting"}
ROLES = {
    "mesi": MESI | WITHOUT_COPY | {"SM": "shared", "MI": "owned"},
    "mesif": MESI | WITHOUT_COPY | {"F": "forwarding"},
    "moesi": MESI | WITHOUT_COPY | {"O": "owned", "OM": "owned"},
    str(SUPPORT / "protocols/vi"): {
        "I": "invalid",
        "V": "modified",
        "IV": "waiting",
        "VI": "owned",
        "II": "waiting",
    },
}


@pytest.mark.parametrize("protocol", ROLES)
def test_roles_of_states_follow_from_their_rows(protocol: str) -> None:
    properties = StateProperties(load(protocol))
    roles = {state: properties.role(state) for state in ROLES[protocol]}
    assert roles == ROLES[protocol]


@pytest.mark.parametrize("protocol", ["moesi", str(SUPPORT / "protocols/vi")])
def test_states_with_a_request_or_writeback_under_way_are_transient(protocol: str) -> None:
    tables = load(protocol)
    transient = {s for s in tables.client.rows if StateProperties(tables).is_transient(s)}
    assert transient == {state for state in tables.client.rows if len(state) == 2}

"""Does `uncore show` state the number of transfers of a load with a following store, and its
source?"""

from __future__ import annotations

import pytest

from uncore.protocol.table_shapes import PROTOCOLS
from uncore.topology import explained_text, load, migration
from uncore.topology.load import shipped

KNOWN = {
    "epyc7601x2": "2 transfers (a load of a written line shares it: read locks of two EPYC 7601",
    "x6130x2": "2 transfers (a load of a written line shares it: read locks of E5-2650L v4",
    "graviton2": "2 transfers (a load of a written line shares it: retry loops of 16 cores",
    "x8375cx2": "1 transfer (a load of a written line takes it: open-telemetry/opentelemetry-rust",
    "w93495x": "1 transfer (as icelake-mesh, the mesh before it)",
    "ccx:2x4": "2 transfers",
}
NOT_MEASURED = {"r7900x", "r3900x", "graviton3", "m1pro", "i912900k", "power10x4", "la3a6000"}


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_migratory_protocols_and_no_others_pass_lines_on(protocol: str) -> None:
    machine = load("ring:4", [f"protocol={protocol}"])
    assert migration.passes_lines(machine) == protocol.startswith("migratory")


@pytest.mark.parametrize("name", KNOWN)
def test_show_states_the_number_of_transfers_and_its_source(name: str) -> None:
    machine = load(name)
    text = "load, then change, of a line written elsewhere: " + KNOWN[name]
    assert text in explained_text(machine)
    assert migration.open_choice(machine) == ""


@pytest.mark.parametrize("name", sorted(NOT_MEASURED))
def test_unmeasured_machine_states_its_alternative_protocol(name: str) -> None:
    machine = load(name)
    other = machine.alternative_protocol
    assert f"nobody has measured it, and with protocol={other} it is 1 transfer" in (
        migration.open_choice(machine)
    )
    assert f"2 transfers (not measured; 1 transfer with protocol={other})" in explained_text(
        machine
    )
    assert migration.passes_lines(load(name, [f"protocol={other}"]))


def test_show_offers_no_alternative_if_the_user_chose_the_protocol() -> None:
    chosen = load("r7900x", ["protocol=migratory-moesi"])
    assert migration.open_choice(chosen) == ""
    assert migration.open_choice(load("r7900x", ["alternative_protocol=none"])) == ""


@pytest.mark.parametrize("name", shipped())
def test_alternative_protocol_of_a_shipped_machine_is_its_migratory_or_plain_variant(
    name: str,
) -> None:
    machine = load(name)
    if other := machine.alternative_protocol.removeprefix("none"):
        kin = "mesi" if other == "migratory" else other.removeprefix("migratory-")
        assert machine.protocol in (kin, other)

"""Are the shipped protocols coherent on every small machine, and do the proofs find broken ones?"""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest

from uncore import _native
from uncore.cli.app import main
from uncore.protocol import check, coverage, mutate
from uncore.protocol.mutate import with_cell
from uncore.protocol.systems import CheckedLevel, CheckedSystem
from uncore.protocol.table_shapes import PROTOCOLS, Cell
from uncore.protocol.tables import Tables, load, pack

HOME = CheckedLevel("directory", "direct", "completion")
RING = CheckedLevel("directory", "via", "response", "inclusive")
COMPLEX = CheckedLevel("shadow-tags", "via", "response", "victim", grants=2)
THREE = CheckedSystem("3 cores", ((3,),), (HOME,))
JOINED = CheckedSystem("1+1 cores", ((1, 1), (2,)), (COMPLEX, HOME))


def walk(tables: Tables, system: CheckedSystem) -> dict[str, object]:
    result: dict[str, object] = _native.check.walk(pack(tables), system.tree(), system.states)
    return result


def broken(tables: Tables, place: str, row: str, column: str, cell: Cell) -> Tables:
    return with_cell(tables, getattr(tables, place), (row, column), cell)


OTHERS = [name for name in PROTOCOLS if name not in ("msi", "mesi")]
LONG = [pytest.param(name, marks=pytest.mark.long) for name in OTHERS]


@pytest.mark.bulk
@pytest.mark.parametrize("protocol", ["msi", "mesi", *LONG])
def test_every_proof_holds_and_together_they_meet_every_cell(protocol: str) -> None:
    tables = load(protocol)
    proofs = list(check.proofs(tables))
    assert [(p.system, p.violation) for p in proofs if p.violation] == []
    assert all(proof.complete for proof in proofs if proof.states)
    missed = coverage.expected(tables) - check.cells_met(proofs)
    assert {coverage.place(tables, cell) for cell in missed} == set()
    assert sum(proof.operations or 0 for proof in proofs) >= check.DRAWN_OPERATIONS * 0.99


@pytest.mark.parametrize("protocol", OTHERS)
def test_proofs_hold_for_protocols_other_than_msi_and_mesi(protocol: str) -> None:
    for system in (THREE, JOINED):
        result = walk(load(protocol), system)
        assert (result["violation"], result["complete"]) == ("", True)


def test_plans_of_single_groups_add_up_to_the_whole_plan_with_the_same_seeds() -> None:
    tables = load("msi")
    whole = check.plan(tables)
    groups = {system.group for system in whole.values()}
    parts = [check.plan(tables, groups=[group]) for group in groups]
    assert len(groups) > 5 and sum(map(len, parts)) == len(whole)
    assert all(part.items() <= whole.items() for part in parts)


def test_check_proves_only_the_named_machines(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["check", "msi", "--machine", "2-cores, two-lines"])
    out = capsys.readouterr().out
    assert ended.value.code == 0 and "no proof has met" not in out
    assert re.findall(r"^msi +(\S+) +(\d+)", out, re.MULTILINE) == [
        ("2-cores", "18"),
        ("two-lines", "1"),
        ("all", "19"),
    ]


# Changes that break a table, and the error that each must cause.
BREAKS = [
    ("resolver", "S", "GetM", Cell(), "exclude each other|old data"),
    ("client", "S", "Inv", Cell(("ack",)), "exclude each other|old data"),
    ("client", "M", "ProbeM", Cell(("give",), "I"), "old data"),
    ("client", "M", "Evict", Cell(("drop",), "I"), "old data"),
    ("client", "MI", "PutAck", Cell(), "never come to rest"),
    ("client", "IM", "DataM", Cell(("fill",), "M"), "never come to rest"),
    ("grant", "GetS", "shared", Cell((), "E"), "exclude each other"),
    ("resolver", "W", "GetS", Cell(), "exclude each other|old data"),
    ("transaction", "write", "Answers", Cell(("revoke", "grant"), "idle"), "in idle met Unblock"),
    ("transaction", "write", "Unblock", Cell(), "never come to rest"),
    ("transaction", "read", "UnblockS", Cell(), "out of range"),
    ("transaction", "putter", "Missing", Cell((), "idle"), "never come to rest"),
]


@pytest.mark.parametrize(("place", "row", "column", "cell", "found"), BREAKS)
def test_proof_finds_a_broken_table(
    place: str, row: str, column: str, cell: Cell, found: str
) -> None:
    violation = str(walk(broken(load("mesi"), place, row, column, cell), THREE)["violation"])
    assert any(arguments in violation for arguments in found.split("|")), violation


FAR_BREAKS = [
    ("resolver", "S", "Amo", Cell(), "can read old data"),
    ("resolver", "W", "Amo", Cell(), "found old data|can read old data"),
    ("resolver", "W", "Amo", Cell(("probeS",)), "found old data|can read old data"),
    ("transaction", "amo", "Answers", Cell(("operate",), "idle"), "old data"),
    ("client", "S", "Amo", Cell(("hit",)), "old data"),
    ("client", "S", "Amo", Cell(), "neither hits nor asks"),
]


@pytest.mark.parametrize(("place", "row", "column", "cell", "found"), FAR_BREAKS)
def test_proof_finds_a_broken_far_atomic(
    place: str, row: str, column: str, cell: Cell, found: str
) -> None:
    far = CheckedSystem("2 cores, far", ((2,),), (HOME,), far=True)
    violation = str(walk(broken(load("mesi"), place, row, column, cell), far)["violation"])
    assert any(arguments in violation for arguments in found.split("|")), violation


def test_proof_finds_a_broken_join_below_the_root() -> None:
    tables = broken(load("mesi"), "join", "S idle", "Inv", Cell())
    assert walk(tables, THREE)["violation"] == ""  # this machine has no join
    assert walk(tables, JOINED)["violation"] != ""


def test_a_cell_declared_impossible_is_an_error_when_it_is_met() -> None:
    tables = broken(load("mesi"), "client", "S", "Inv", Cell(reason="never"))
    assert "client in S met Inv" in str(walk(tables, THREE)["violation"])


def test_transaction_that_loops_in_its_table_is_reported_as_an_error() -> None:
    tables = broken(
        load("mesi"), "transaction", "read", "Dropped", Cell(("share", "resume"), "above")
    )
    assert "round in its table for ever" in str(walk(tables, JOINED)["violation"])


def trace(result: dict[str, object]) -> Sequence[str]:
    steps = result["trace"]
    assert isinstance(steps, list)
    return steps


def test_a_counterexample_is_a_shortest_sequence_of_messages() -> None:
    tables = broken(load("mesi"), "client", "S", "Inv", Cell(("ack",)))
    steps = trace(walk(tables, CheckedSystem("2 cores", ((2,),), (HOME,))))
    assert any(step.startswith("Inv root to core") for step in steps)
    assert "=S" in steps[-1] and "=M" in steps[-1]  # a reader and a writer at the same time
    assert len(steps) < 25


def test_two_walks_of_one_machine_count_equal_states() -> None:
    first, second = (walk(load("msi"), THREE) for _ in range(2))
    assert first == second


def test_states_that_differ_by_exchanging_equal_cores_count_as_one_state() -> None:
    """Two equal cores below one resolver have fewer states than two cores below different
    resolvers.
    """
    alike = walk(load("msi"), CheckedSystem("alike", ((2,),), (HOME,)))
    apart = walk(load("msi"), CheckedSystem("told apart", ((1, 1), (2,)), (RING, HOME)))
    assert int(str(alike["states"])) < int(str(apart["states"]))


def test_random_trial_finds_the_violation_of_a_walk_and_is_reproducible() -> None:
    tables = broken(load("mesi"), "client", "S", "Inv", Cell(("ack",)))
    system = CheckedSystem("random", ((4, 4), (2,)), (COMPLEX, HOME))
    first, again = (
        _native.check.trial(pack(tables), system.tree(), 3, 100_000, 7) for _ in range(2)
    )
    assert first["violation"] and first["trace"]
    assert first == again


def test_walk_that_ends_at_its_limit_reports_the_limit() -> None:
    result = walk(load("mesi"), CheckedSystem("cut", ((3,),), (HOME,), states=1000))
    assert result["complete"] is False
    assert result["violation"] == ""


def test_ctrl_c_ends_a_walk() -> None:
    def interrupt(states: int) -> bool:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        _native.check.walk(pack(load("mesi")), THREE.tree(), THREE.states, interrupt)


@pytest.mark.bulk
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_small_machines_for_mutants_meet_all_but_two_cells(protocol: str) -> None:
    tables = load(protocol)
    met = {c for s in mutate.systems(tables) for c in mutate.proof(pack(tables), s)["reached"]}
    missed = {coverage.place(tables, cell) for cell in coverage.expected(tables) - met}
    assert missed <= {"join N below/ProbeS", "join N below/ProbeM"}


@pytest.mark.parametrize(
    "every",
    [pytest.param(4, marks=pytest.mark.bulk), pytest.param(1, marks=pytest.mark.long)],
)
def test_most_broken_protocols_are_noticed_and_each_survivor_is_explained(every: int) -> None:
    """This test tries only MSI; `uncore check --mutants` tries all four protocols, because they
    tolerate different mistakes.
    """
    broken_ones = list(mutate.mutants(load("msi")))[::every]
    survivors = [mutant.name for mutant in broken_ones if not mutate.killed_by(mutant)]
    assert len(broken_ones) >= 200 // every
    assert len(survivors) < 0.15 * len(broken_ones)
    assert [name for name in survivors if not mutate.reason_to_survive(name)] == []

"""Can a user's folder of tables be proved, run by both engines, and stored in a job?"""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from tests.differential.jobs import COMPLETION, DIRECT, RESPONSE, SUPPORT, VIA, Case, make
from tests.support import runs

from uncore import topology
from uncore.engine import initial_memory as boot
from uncore.errors import GuestError, UserError
from uncore.execution.execute import execute
from uncore.job import Job
from uncore.protocol import check, coverage
from uncore.protocol.tables import SHIPPED, load
from uncore.study.compare import agreement

VI = SUPPORT / "protocols/vi"
OWN = f"protocol={VI}"
SHORT_RUN = (("ops", 150),)  # longer runs have no other kinds of transactions
# roots that snoop or have a directory, joins with and without data, and far atomics; all caches
# have few lines
CASES = {
    "a bus": Case("bus:4", "random", 4, (OWN,), SHORT_RUN, tiny=True),
    "a ring with data": Case(
        "ring:5",
        "random",
        5,
        (OWN, f"system.{VIA}", f"system.{RESPONSE}", "system.data=inclusive 4KiB 2-way 10cy"),
        SHORT_RUN,
        tiny=True,
    ),
    "a ring without": Case(
        "ring:5",
        "random",
        5,
        (OWN, f"system.{DIRECT}", f"system.{COMPLETION}", "system.resolver.knows=shadow-tags"),
        SHORT_RUN,
        tiny=True,
    ),
    "two levels": Case("ccx:2x3", "random", 6, (OWN,), SHORT_RUN, tiny=True),
    "three levels": Case("three-level", "random", 6, (OWN,), SHORT_RUN, tiny=True),
    "far atomics": Case("ccx:2x3", "counter/atomic", 6, (OWN, "core.atomics=far")),
    "a lock": Case("ccx:2x3", "lock/mcs", 3, (OWN,)),
}


def test_example_protocol_has_five_states_with_its_own_names() -> None:
    assert load(str(VI)).client.rows == ("I", "V", "IV", "VI", "II")


@pytest.mark.parametrize("engine", ["native", "reference"])
def test_a_cell_declared_impossible_is_named_with_file_row_column_and_reason(
    engine: str, tmp_path: Path
) -> None:
    """The folder has its own join.table, which declares that sharers are never invalidated."""
    shipped = (SHIPPED / "join.table").read_text()
    wrong, rows = re.subn(r"S idle +\| .*", "S idle | - !never !never", shipped)
    assert rows == 1
    (tmp_path / "join.table").write_text(wrong + "never:    nobody else writes\n")
    own = Case("ccx:2x2", "counter/atomic", 4, (f"protocol={tmp_path}:mesi",))
    with pytest.raises(GuestError) as caught:
        execute([replace(make(own), engine=engine)])
    head = str(caught.value).splitlines()[0]
    assert re.search(r"join.table, row 'S idle', column (ProbeM|Inv) was met, declared impossible:"
                     r" nobody else writes \(the line of 0x8[0-9a-f]+\)$", head), head  # fmt: skip


@pytest.mark.bulk
def test_example_protocol_is_proved_like_the_shipped_protocols() -> None:
    tables = load(str(VI))
    proofs = list(check.proofs(tables))
    assert [(p.system, p.violation) for p in proofs if p.violation] == []
    missed = coverage.expected(tables) - check.cells_met(proofs)
    # A child that asks for V gets V and keeps it during its transaction, so these cells do not
    # occur.
    assert {coverage.place(tables, cell) for cell in missed} == {"transaction above/Short"}


LONG = ("a ring with data", "two levels", "three levels")
SOME = [pytest.param(c, marks=pytest.mark.bulk) if c in LONG else c for c in CASES]


@pytest.mark.parametrize("case", SOME)
def test_both_engines_log_the_same_transactions_with_own_tables(case: str) -> None:
    comparison = agreement.compare(make(CASES[case]), ("native", "reference"))
    assert comparison.equal, comparison.difference


def test_readers_of_the_example_protocol_never_share_a_line() -> None:
    machine = topology.load("bus:4", [OWN])
    log, _ = runs.logged(machine, "refcount/atomic", 4)
    assert set(log["op"]) <= {"GetM", "Put"}
    assert set(log["right"]) == {"V"} | ({""} if "Put" in set(log["op"]) else set())


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """Writes a machine file that names a protocol folder in the same directory."""
    shutil.copytree(VI, tmp_path / "mine")
    path = tmp_path / "own.toml"
    text = (SUPPORT / "three_levels.toml").read_text()
    path.write_text(text.replace("name    =", 'protocol = "./mine"\nname    =', 1))
    return path


def test_machine_file_may_name_a_protocol_folder_relative_to_itself(machine: Path) -> None:
    loaded = topology.load(machine)
    assert loaded.protocol == "mine"
    assert next(file for file, _ in loaded.tables) == "client.table"


def test_job_contains_its_tables_and_runs_without_the_protocol_folder(machine: Path) -> None:
    job = runs.job(topology.load(machine), "counter/atomic", 2)
    shutil.rmtree(machine.parent / "mine")
    again = Job.of(job.document(), job.program)
    assert again.document() == job.document()
    assert runs.native.run(again, frozenset()) == runs.native.run(job, frozenset())


def test_jobs_differ_if_their_tables_do_and_not_if_only_comments_do(machine: Path) -> None:
    first = topology.load(machine)
    table = machine.parent / "mine/client.table"
    table.write_text("# another comment\n" + table.read_text())
    assert topology.load(machine) == first
    table.write_text(table.read_text().replace("hit", "hit>V", 1))
    assert topology.load(machine) != first


def test_job_names_a_shipped_protocol_and_does_not_contain_its_tables() -> None:
    assert "tables" not in runs.job("bus:4", "counter/atomic", 2).document()["machine"]


def test_mistake_in_a_table_is_reported_with_the_lines_of_machine_file_and_table(
    machine: Path,
) -> None:
    table = machine.parent / "mine/client.table"
    table.write_text(table.read_text().replace("fill+unblock>V", "fill+unblock>W"))
    with pytest.raises(UserError) as error:
        topology.load(machine)
    assert f"{machine}:" in str(error.value)
    assert f"{table}:10: read 'fill+unblock>W', expected a state" in str(error.value)


def test_a_right_needs_a_column_for_the_data_that_come_with_it(machine: Path) -> None:
    table = machine.parent / "mine/resolver.table"
    table.write_text(table.read_text().replace("GetM    | V", "GetM    | IV"))
    with pytest.raises(UserError, match="grants IV, expected a state with a column DataIV"):
        topology.load(machine)


def test_missing_protocol_folder_is_reported(machine: Path) -> None:
    shutil.rmtree(machine.parent / "mine")
    with pytest.raises(UserError, match="expected a folder of tables; there is none at"):
        topology.load(machine)


def test_unknown_protocol_of_a_machine_is_refused_with_the_nearest_known_name() -> None:
    with pytest.raises(UserError, match="Did you mean 'mesi'"):
        topology.load("bus:4", ["protocol=mesj"])


def test_engine_with_its_own_protocols_refuses_a_users_protocol() -> None:
    with pytest.raises(UserError, match="reads no tables"):
        boot.memory(runs.job(topology.load("bus:4", [OWN]), "counter/atomic", 2))


def test_protocol_that_passes_lines_needs_a_passed_column_for_readers(tmp_path: Path) -> None:
    for path in (SHIPPED / "migratory").glob("*.table"):
        shutil.copy(path, tmp_path)
    file = tmp_path / "resolver.table"
    head, answers, rows = file.read_text().partition("answers ")
    without = re.sub(r"  (passed|D|!moved)$", "", answers + rows, flags=re.MULTILINE)
    file.write_text(head + without)
    with pytest.raises(UserError, match="M/ProbeS passes the line on, expected a column passed"):
        load(f"{tmp_path}:mesi")

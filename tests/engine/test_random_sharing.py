"""Does every load return an allowed value when harts share lines at random, on every machine?

Runs the cases of tests/tools/stress.py with a million checked operations in total. `--all` runs ten
million more with other seeds, and `python -m tests.tools.stress` runs any number.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest
from tests.support.runs import broken, guest, point
from tests.tools import stress
from tests.tools.stress import CASES, MACHINES, ROOMY, TINY, Case, with_caches

from uncore.engine import native
from uncore.errors import GuestError
from uncore.job import Job
from uncore.topology import Machine

LONG_RUN_OPERATIONS = 1_000_000


def outcome(job: Job, **limits: int) -> dict[str, Any]:
    return native.run(job, frozenset(), **limits)


def check(case: Case, operations: int, seed: int) -> None:
    points = [outcome(job) for job in stress.round_of(case, operations, seed)]
    assert not [failure for point in points for failure in point["failures"]]
    assert sum(point["ops"] for point in points) >= operations


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_load_returns_an_allowed_value(case: Case) -> None:
    check(case, LONG_RUN_OPERATIONS // len(CASES), CASES.index(case))


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 110))
@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_load_of_a_long_run_returns_an_allowed_value(case: Case, seed: int) -> None:
    check(case, LONG_RUN_OPERATIONS // len(CASES), seed)


def test_far_atomic_completes_even_if_its_line_is_evicted_while_locked() -> None:
    """C6, C8: a posted atomic lets its hart continue."""
    overrides = {"protocol": "mesif", "core.atomics": "far-unless-owned"}
    result = point(
        "x8275clx2", guest("random_sharing"), 48,
        placement="siblings", overrides=overrides, ops=60, lines=4,
    )  # fmt: skip
    assert result["failures"] == [] and result["ops"] == 48 * 60


@pytest.mark.parametrize("case", MACHINES, ids=str)
def test_outcome_of_random_sharing_is_the_same_without_lookahead(case: Case) -> None:
    """S2: siblings share lines, and lines are evicted all the time."""
    job = stress.job(case, with_caches(case, *TINY), 4000, stride=256)
    ahead, step_by_step = outcome(job), outcome(job, lookahead=0)
    assert [field for field in ahead if ahead[field] != step_by_step[field]] == []


@pytest.mark.parametrize(
    ("file", "row", "column", "cell", "protocol", "caches"),
    [
        ("client.table", "M", "ProbeM", "give+dirty>M", "mesi", ROOMY),
        ("client.table", "M", "Evict", "drop>I", "mesi", TINY),
        ("resolver.table", "B [moesi,mosi]", "Upg", "probeM+via>M", "moesi", ROOMY),
    ],
)
def test_random_sharing_detects_a_broken_table_cell(
    tmp_path: Path,
    file: str,
    row: str,
    column: str,
    cell: str,
    protocol: str,
    caches: tuple[int, int],
) -> None:
    """If one cell of a protocol table is wrong, the program must detect it, or its harts wait for
    ever.
    """
    tables = broken(tmp_path, file, row, column, cell)
    case = Case("ccx", (), 8, {})
    machine = dataclasses.replace(with_caches(case, *caches), protocol=f"{tables}:{protocol}")
    try:
        failures = outcome(stress.job(case, machine, 20_000))["failures"]
    except GuestError as error:
        failures = [str(error)]
    assert failures


def test_a_violation_is_counted_and_can_be_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command ends with status 1, and prints the arguments that repeat the run with the
    violation.
    """
    tables = broken(tmp_path, "client.table", "M", "ProbeM", "give+dirty>M")
    load_unbroken = stress.load

    def load_broken(name: str, overrides: tuple[str, ...]) -> Machine:
        machine = load_unbroken(name, overrides)
        return dataclasses.replace(machine, protocol=f"{tables}:mesi") if name == "ccx" else machine

    monkeypatch.setattr(stress, "load", load_broken)
    monkeypatch.setattr(stress, "CASES", [Case("ccx", (), 8, {}), CASES[0]])
    assert stress.main(["--operations", "4k", "--seed", "7", "--cores", "1"]) == 1
    first = capsys.readouterr().out.splitlines()
    arguments = next(line for line in first if "repeat:" in line).partition("tests.tools.stress ")[
        2
    ]
    assert stress.main([*arguments.split(), "--cores", "2"]) == 1
    violations = {line for line in first if "VIOLATION" in line}
    assert violations and violations <= set(capsys.readouterr().out.splitlines())
    assert stress.main([str(CASES[0]), "--operations", "2k", "--cores", "1"]) == 0

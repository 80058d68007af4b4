"""Can every mutant of the list be tried, and do the tests detect as many mutants as they should?"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.mutants import tried
from tests.mutants.__main__ import main
from tests.mutants.mutant_list import TOP, Mutant, all_mutants
from tests.mutants.trial import NOTICED, UNNOTICED

MIN_MUTANTS = 120

MUTANTS = all_mutants()
FUNCTIONS = {
    name
    for path in (TOP / "tests").rglob("test_*.py")
    for name in re.findall(r"def (test_\w+)\(", path.read_text())
}


def exists(test: str) -> bool:
    """Returns whether the file of a test exists, and its function in any file, because files
    import tests from each other.
    """
    file, _, call = test.partition("::")
    function = call.partition("[")[0]
    return (TOP / "tests" / file).exists() and (not function or function in FUNCTIONS)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_changes_its_file_at_one_place(mutant: Mutant) -> None:
    text = (TOP / mutant.file).read_text()
    assert mutant.applied(text) != text


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_names_the_rule_that_it_breaks_and_its_tests(
    mutant: Mutant,
) -> None:
    assert mutant.breaks and mutant.tests
    assert [test for test in mutant.tests if not exists(test)] == []


def test_names_of_mutants_are_unique() -> None:
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS) >= MIN_MUTANTS


def test_stale_mutant_is_reported_with_the_remedy() -> None:
    with pytest.raises(ValueError, match=r"mutant .* occurs 0 times, not once"):
        MUTANTS[0].applied("another text")


def test_records_name_existing_mutants_and_tests() -> None:
    records = tried.read()
    assert records.keys() <= {mutant.name for mutant in MUTANTS}
    missing = [
        record.by
        for record in records.values()
        if record.outcome == NOTICED and not exists(record.by)
    ]
    assert missing == []


def test_table_counts_tried_and_detected_mutants(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tried, "FILE", tmp_path / "tried.csv")
    tried.FILE.write_text('mutant,date,outcome,by\na,2026-11-01,noticed,"x.py::t[1,2]"\n')
    tried.note("b", UNNOTICED, "")
    tried.note("a", NOTICED, "y.py::t[1,2]")
    assert [tried.read()[name].by for name in "ab"] == ["y.py::t[1,2]", ""]
    fields = {"file": "f", "before": "1", "after": "2", "breaks": "r", "area": "here"}
    mutants = [Mutant(name=name, **fields) for name in "abc"]
    equivalent = Mutant(name="d", equivalent="no change", **fields)
    (_, row_of_area, row_of_all) = tried.table([*mutants, equivalent])
    assert row_of_area.split()[:5] == ["here", "3", "2", "1", "50"]
    assert row_of_all.split()[:5] == ["all", "3", "2", "1", "50"]


@pytest.mark.long
def test_tests_detect_each_mutant() -> None:
    assert main([]) == 0

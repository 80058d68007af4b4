"""Can every mutant of the kept list be tried, and do the tests notice as many as they should?"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.mutants import tried
from tests.mutants.__main__ import main
from tests.mutants.mutant_list import TOP, Mutant, kept
from tests.mutants.trial import NOTICED, UNNOTICED

MIN_MUTANTS = 120

KEPT = kept()


@pytest.mark.parametrize("mutant", KEPT, ids=lambda mutant: mutant.name)
def test_a_mutant_changes_one_place_of_its_file(mutant: Mutant) -> None:
    text = (TOP / mutant.file).read_text()
    assert mutant.applied(text) != text


@pytest.mark.parametrize("mutant", KEPT, ids=lambda mutant: mutant.name)
def test_a_mutant_says_which_rule_it_breaks_and_which_tests_are_meant_for_it(
    mutant: Mutant,
) -> None:
    assert mutant.breaks and mutant.tests
    missing = [t for t in mutant.tests if not (TOP / "tests" / t.partition("::")[0]).exists()]
    assert missing == []


def test_names_of_mutants_are_unique() -> None:
    assert len({mutant.name for mutant in KEPT}) == len(KEPT) >= MIN_MUTANTS


def test_stale_mutant_is_reported_with_the_remedy() -> None:
    with pytest.raises(ValueError, match=r"mutant .* occurs 0 times, not once"):
        KEPT[0].applied("another text")


def test_records_name_existing_mutants_and_tests() -> None:
    last = tried.read()
    assert last.keys() <= {mutant.name for mutant in KEPT}
    noticed = [one for one in last.values() if one.outcome == NOTICED]
    missing = [n.by for n in noticed if not (TOP / "tests" / n.by.partition("::")[0]).exists()]
    assert missing == []


def test_table_counts_tried_and_noticed_mutants(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tried, "FILE", tmp_path / "tried.csv")
    tried.FILE.write_text('mutant,date,outcome,by\na,2026-11-01,noticed,"x.py::t[1,2]"\n')
    tried.note("b", UNNOTICED, "")
    tried.note("a", NOTICED, "y.py::t[1,2]")
    assert [tried.read()[name].by for name in "ab"] == ["y.py::t[1,2]", ""]
    rest = {"file": "f", "before": "1", "after": "2", "breaks": "r", "area": "here"}
    mutants = [Mutant(name=name, **rest) for name in "abc"]
    same = Mutant(name="d", equivalent="no change", **rest)
    (_, here, every) = tried.table([*mutants, same])
    assert here.split()[:5] == ["here", "3", "2", "1", "50"]
    assert every.split()[:5] == ["all", "3", "2", "1", "50"]


@pytest.mark.long
def test_tests_detect_each_mutant() -> None:
    assert main([]) == 0

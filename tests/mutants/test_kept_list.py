"""Can every mutant of the kept list be tried, and do the tests notice as many as they should?"""

from __future__ import annotations

import pytest
from tests.mutants.__main__ import main
from tests.mutants.mutant_list import TOP, Mutant, kept

LEAST = 120  # mutants

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


def test_names_tell_mutants_apart() -> None:
    assert len({mutant.name for mutant in KEPT}) == len(KEPT) >= LEAST


def test_a_change_that_no_longer_applies_is_told_with_what_to_do() -> None:
    with pytest.raises(ValueError, match=r"mutant .* occurs 0 times, not once"):
        KEPT[0].applied("another text")


@pytest.mark.long
def test_the_tests_notice_what_breaks_a_rule() -> None:
    assert main([]) == 0

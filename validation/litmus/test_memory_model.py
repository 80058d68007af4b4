"""Does any run show a value that the memory model forbids, and would these tests notice?"""

from __future__ import annotations

from collections import Counter

import pytest

from uncore.litmus import axioms, run, shapes
from uncore.litmus.events import Litmus, Outcome

TESTS = {test.name: test for test in shapes.tests()}
ROUNDS = 12  # of each test on each machine: about 20,000 rounds in all

# The outcome a shape is about, and who allows it: facts of the literature (Owens, Sarkar and Sewell
# 2009 for TSO; the manual's examples for RVWMO).
WEAK: dict[str, tuple[Outcome, bool, bool]] = {
    "MP": ((1, 0, 1, 1), True, False),
    "SB": ((0, 0, 1, 1), True, True),
    "LB": ((1, 1, 1, 1), True, False),
    "S": ((1, 2, 1), True, False),
    "R": ((0, 1, 2), True, True),
    "2+2W": ((1, 1), True, False),
    "IRIW": ((1, 0, 1, 0, 1, 1), True, False),
    "WRC": ((1, 1, 0, 1, 1), True, False),
    "RWC": ((1, 0, 0, 1, 1), True, True),
    "CoRR": ((1, 0, 1), False, False),
    "SB+fence rw,rw": ((0, 0, 1, 1), False, False),
    "SB+fence.tso": ((0, 0, 1, 1), True, True),
    "SB+amo.aqrl": ((0, 0, 1, 1), False, False),
    "MP+fence+dep": ((1, 0, 1, 1), False, False),
    "MP+fence+po": ((1, 0, 1, 1), True, False),
    "LB+dep": ((1, 1, 1, 1), False, False),
    "IRIW+fence rw,rw": ((1, 0, 1, 0, 1, 1), False, False),
}


@pytest.mark.parametrize("name", WEAK)
def test_the_axioms_allow_what_is_known_to_be_allowed(name: str) -> None:
    outcome, rvwmo, tso = WEAK[name]
    assert (outcome in axioms.cached(TESTS[name], False)) is rvwmo
    assert (outcome in axioms.cached(TESTS[name], True)) is tso


def test_total_store_order_allows_nothing_that_rvwmo_forbids() -> None:
    for test in TESTS.values():
        assert axioms.cached(test, True) <= axioms.cached(test, False)


@pytest.fixture(scope="module")
def seen() -> dict[str, Counter[Outcome]]:
    """All tests on all machines, added up."""
    total = {name: Counter[Outcome]() for name in TESTS}
    for number, setting in enumerate(run.SETTINGS):
        for test, outcomes in run.observe(list(TESTS.values()), setting, ROUNDS, number).items():
            total[test.name] += outcomes
    return total


@pytest.mark.parametrize("name", TESTS)
def test_no_test_shows_a_forbidden_outcome(seen: dict[str, Counter[Outcome]], name: str) -> None:
    assert seen[name].total() == ROUNDS * len(run.SETTINGS)
    assert run.forbidden(TESTS[name], seen[name]) == []


@pytest.mark.parametrize("name", ["SB", "R"])
def test_the_store_buffer_is_seen(name: str) -> None:
    """A machine that never shows what it may would pass the tests above by being too slow."""
    assert WEAK[name][0] in often(TESTS[name])


@pytest.mark.parametrize("name", ["SB+fence rw,rw", "R+fence rw,rw"])
def test_fences_that_do_nothing_are_noticed(name: str) -> None:
    assert not run.forbidden(TESTS[name], often(TESTS[name]))
    assert run.forbidden(TESTS[name], often(TESTS[name], fences=False))


def often(test: Litmus, **limits: bool) -> Counter[Outcome]:
    """One test, many times, where its harts are far apart."""
    far = next(setting for setting in run.SETTINGS if setting.machine == "x8275clx2")
    return run.observe([test], far, 400, 3, **limits)[test]

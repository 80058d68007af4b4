"""Does no run show a value that the memory model forbids, and would these tests detect such a
value?
"""

from __future__ import annotations

import csv
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from uncore.study.litmus import axioms, run
from uncore.study.litmus import classics as shapes
from uncore.study.litmus.events import Link, Litmus, LitmusAccess, Outcome, Style

TESTS = {test.name: test for test in shapes.tests()}
ROUNDS = 12  # rounds of each test on each machine, about 20,000 in total

# For each test: its outcome of interest, whether RVWMO allows it, and whether TSO does. Sources are
# Owens, Sarkar and Sewell 2009 for TSO, and the examples of the RISC-V manual for RVWMO.
KNOWN_OUTCOMES: dict[str, tuple[Outcome, bool, bool]] = {
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
    "R+fence.tso": ((0, 1, 2), True, True),
    "MP+fence.tso": ((1, 0, 1, 1), False, False),
    "2+2W+fence.tso": ((1, 1), False, False),
    "SB+amo.aqrl": ((0, 0, 1, 1), False, False),
    "SB+amo": ((0, 0, 1, 1), True, False),
    "MP+amo": ((1, 0, 1, 1), True, False),
    "R+amo": ((0, 1, 2), True, False),
    "2+2W+amo": ((1, 1), True, False),
    "MP+fence+dep": ((1, 0, 1, 1), False, False),
    "MP+fence+po": ((1, 0, 1, 1), True, False),
    "LB+dep": ((1, 1, 1, 1), False, False),
    "IRIW+fence rw,rw": ((1, 0, 1, 0, 1, 1), False, False),
    "IRIW+fence r,r": ((1, 0, 1, 0, 1, 1), False, False),
    "2+2W+fence w,w": ((1, 1), False, False),
    "R+stores lrsc": ((0, 1, 2), True, False),
    "MP+fence+ctrl": ((1, 0, 1, 1), True, False),  # rule 11 orders stores only
    "MP+y amo.aq/rl": ((1, 0, 1, 1), False, False),
    "SB+y amo.aq/rl": ((0, 0, 1, 1), True, False),
    "LB+ctrl": ((1, 1, 1, 1), False, False),
    "S+fence+ctrl": ((1, 2, 1), False, False),
    "PPO": ((1, 1, 0, 1, 1, 1), True, False),
    "PPO+fence+dep": ((1, 1, 0, 1, 1, 1), False, False),  # rule 12, the manual's PPOAA
    "PPO+fence+ctrl": ((1, 1, 0, 1, 1, 1), True, False),  # the manual's PPOCA
    "SRR+fence+dep": ((1, 0, 1, 1, 0), False, False),
    "SRR+fence+po": ((1, 0, 1, 1, 0), True, False),
}


@pytest.mark.parametrize("name", KNOWN_OUTCOMES)
def test_axioms_agree_with_the_literature_on_allowed_outcomes(name: str) -> None:
    outcome, rvwmo, tso = KNOWN_OUTCOMES[name]
    assert (outcome in axioms.cached_outcomes(TESTS[name], False)) is rvwmo
    assert (outcome in axioms.cached_outcomes(TESTS[name], True)) is tso


@pytest.mark.parametrize(("style", "forwarded"), [("plain", True), ("amo", False), ("lrsc", False)])
def test_load_reads_the_value_of_a_plain_store_early_but_not_that_of_an_atomic(
    style: Style, forwarded: bool
) -> None:
    """Rule 3 of RVWMO. In the outcome in question each hart reads the value that it wrote, and the
    initial value of the other location.
    """
    threads = tuple(
        (
            LitmusAccess(True, own, 1, style=style),
            LitmusAccess(False, own, 0),
            LitmusAccess(False, other, 0, link="fence r,r"),
        )
        for own, other in ("xy", "yx")
    )
    outcomes = axioms.allowed_outcomes(Litmus("SB", "rfi", threads))
    assert ((1, 0, 1, 0, 1, 1) in outcomes) is forwarded


@pytest.mark.parametrize(("link", "reordered"), [("dep", False), ("po", True)])
def test_store_waits_for_the_address_of_an_earlier_access(link: Link, reordered: bool) -> None:
    """Rule 13 of RVWMO: the store does not depend on the first load, but the address of the load
    between them does.
    """
    writer = (LitmusAccess(True, "x", 1), LitmusAccess(True, "y", 1, link="fence rw,rw"))
    reader = (
        LitmusAccess(False, "y"),
        LitmusAccess(False, "z", link=link),
        LitmusAccess(True, "x", 2),
    )
    outcomes = axioms.allowed_outcomes(Litmus("SRR", "address", (writer, reader)))
    assert ((1, 0, 1, 1, 0) in outcomes) is reordered


def test_total_store_order_allows_nothing_that_rvwmo_forbids() -> None:
    for test in TESTS.values():
        assert axioms.cached_outcomes(test, True) <= axioms.cached_outcomes(test, False)


@pytest.fixture(scope="module")
def outcomes_of_all_machines() -> dict[str, Counter[Outcome]]:
    """Runs all tests on all machines and adds up the outcomes."""
    total = {name: Counter[Outcome]() for name in TESTS}
    for number, setting in enumerate(run.LITMUS_SETTINGS):
        for test, outcomes in run.observe(list(TESTS.values()), setting, ROUNDS, number).items():
            total[test.name] += outcomes
    return total


@pytest.mark.parametrize("name", TESTS)
def test_no_forbidden_outcome_occurs(
    outcomes_of_all_machines: dict[str, Counter[Outcome]], name: str
) -> None:
    assert outcomes_of_all_machines[name].total() == ROUNDS * len(run.LITMUS_SETTINGS)
    assert run.forbidden_outcomes(TESTS[name], outcomes_of_all_machines[name]) == []


@pytest.mark.parametrize("name", ["SB", "R", "SB+fence.tso", "R+fence.tso"])
def test_reorderings_by_the_store_buffer_occur(name: str) -> None:
    """Without this, a machine could pass the tests above only because it never reorders
    anything.
    """
    assert KNOWN_OUTCOMES[name][0] in outcomes_of_many_rounds(TESTS[name])


@pytest.mark.parametrize("name", ["SB+fence rw,rw", "R+fence rw,rw"])
def test_forbidden_outcomes_occur_if_fences_have_no_effect(name: str) -> None:
    assert not run.forbidden_outcomes(TESTS[name], outcomes_of_many_rounds(TESTS[name]))
    assert run.forbidden_outcomes(TESTS[name], outcomes_of_many_rounds(TESTS[name], fences=False))


@pytest.fixture(scope="module")
def outcomes_of_weak_cores() -> dict[str, Counter[Outcome]]:
    """Runs all tests on all machines with weakly ordered cores (H8), and adds up the outcomes."""
    return run_on_weak_cores(4, 1)


def run_on_weak_cores(rounds: int, seed: int) -> dict[str, Counter[Outcome]]:
    total = {name: Counter[Outcome]() for name in TESTS}
    for number, setting in enumerate(run.LITMUS_SETTINGS):
        observed = run.observe(list(TESTS.values()), setting, rounds, seed + number, "weak")
        for test, outcomes in observed.items():
            total[test.name] += outcomes
    return total


def test_no_outcome_that_rvwmo_forbids_occurs_on_weak_cores(
    outcomes_of_weak_cores: dict[str, Counter[Outcome]],
) -> None:
    forbidden = {
        name: run.forbidden_outcomes(TESTS[name], outcomes_of_weak_cores[name], "weak")
        for name in TESTS
    }
    assert {name: outcomes for name, outcomes in forbidden.items() if outcomes} == {}


@pytest.mark.parametrize(
    "name",
    "MP SB R 2+2W RWC PPO SB+fence.tso R+fence.tso SB+amo MP+amo R+amo 2+2W+amo".split(),
)
def test_outcomes_that_rvwmo_allows_occur_on_weak_cores(name: str) -> None:
    assert KNOWN_OUTCOMES[name][0] in outcomes_of_many_rounds(TESTS[name], "weak")


def test_weak_cores_perform_no_store_before_an_earlier_load() -> None:
    """Load buffering, which RVWMO allows, never occurs (H8)."""
    assert KNOWN_OUTCOMES["LB"][0] not in outcomes_of_many_rounds(TESTS["LB"], "weak")


FENCED_ON_WEAK_CORES = (
    "MP+fence rw,rw",
    "2+2W+fence w,w",
    "IRIW+fence r,r",
    "MP+fence.tso",
    "2+2W+fence.tso",
)


@pytest.mark.parametrize("name", FENCED_ON_WEAK_CORES)
def test_weak_cores_show_forbidden_outcomes_if_fences_have_no_effect(name: str) -> None:
    assert not run.forbidden_outcomes(
        TESTS[name], outcomes_of_many_rounds(TESTS[name], "weak"), "weak"
    )
    assert run.forbidden_outcomes(
        TESTS[name], outcomes_of_many_rounds(TESTS[name], "weak", fences=False), "weak"
    )


@pytest.mark.parametrize(
    ("shape", "fence"), [("SB", "fence r,r"), ("SB", "fence.tso"), ("MP", "fence r,w")]
)
def test_a_fence_that_orders_reads_waits_for_an_amo_in_the_buffer(shape: str, fence: Link) -> None:
    """H8.10: an AMO also reads, so accesses after a fence that orders reads wait for the AMO."""
    first = LitmusAccess(True, "x", 1, style="amo")
    threads = {
        "SB": (
            (first, LitmusAccess(False, "y", link=fence)),
            (replace(first, location="y"), LitmusAccess(False, "x", link=fence)),
        ),
        "MP": (
            (first, LitmusAccess(True, "y", 1, link=fence)),
            (LitmusAccess(False, "y"), LitmusAccess(False, "x", link="fence r,r")),
        ),
    }
    test = Litmus(shape, f"amo+{fence}", threads[shape])
    assert KNOWN_OUTCOMES[shape][0] not in axioms.cached_outcomes(test, False)
    assert not run.forbidden_outcomes(test, outcomes_of_many_rounds(test, "weak"), "weak")
    assert run.forbidden_outcomes(test, outcomes_of_many_rounds(test, "weak", fences=False), "weak")


@pytest.mark.parametrize("order", ["tso", "weak"])
def test_long_runs_show_exactly_the_outcomes_that_fence_tso_allows(order: run.Order) -> None:
    """fence_tso.csv records half a million rounds in each memory order, of every test with this
    fence.
    """
    recorded: dict[str, Counter[Outcome]] = {
        name: Counter() for name in TESTS if "fence.tso" in name
    }
    with Path(__file__).with_name("fence_tso.csv").open() as file:
        for row in csv.DictReader(file):
            if row["order"] == order:
                outcome = tuple(map(int, row["outcome"].split()))
                recorded[row["test"]][outcome] += int(row["times"])
    assert sum(outcomes.total() for outcomes in recorded.values()) >= 500_000
    for name, outcomes in recorded.items():
        assert set(outcomes) <= axioms.cached_outcomes(TESTS[name], order == "tso"), name
    for name in ("SB+fence.tso", "R+fence.tso"):
        assert set(recorded[name]) == axioms.cached_outcomes(TESTS[name], order == "tso")


@pytest.mark.long
def test_no_outcome_that_rvwmo_forbids_occurs_in_a_million_rounds() -> None:
    rounds = -(-1_000_000 // (len(TESTS) * len(run.LITMUS_SETTINGS)))
    for name, outcomes in run_on_weak_cores(rounds, 100).items():
        assert run.forbidden_outcomes(TESTS[name], outcomes, "weak") == [], name


def outcomes_of_many_rounds(
    test: Litmus, order: run.Order = "tso", **limits: bool
) -> Counter[Outcome]:
    """Runs a test many times. In total store order the harts must be far apart; in weak order a bus
    is enough.
    """
    machine, rounds = {"tso": ("x8275clx2", 400), "weak": ("bus:4", 800)}[order]
    setting = next(setting_ for setting_ in run.LITMUS_SETTINGS if setting_.machine == machine)
    return run.observe([test], setting, rounds, 3, order, **limits)[test]

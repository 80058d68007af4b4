"""Does the reference engine implement each rule of docs/model.md, in the same order?

The docstring of each function cites the number of its rule (tests/tools/rules.py).
"""

from __future__ import annotations

from collections import defaultdict

from tests.tools import rules

# Rules that no function implements, with the reason.
RULES_WITHOUT_FUNCTION = {
    "C6.8": "follows from the other rules",
    "H1.5": "the hart library, which both engines use, implements it",
    "H9.5": "this engine neither translates addresses nor runs Linux programs",
    "H10.1": "the hart library implements it",
    "H10.2": "the same",
    "H10.3": "the same",
    "H10.4": "the same",
    "I5.3": "the program reads it in initial memory (uncore.engine.initial_memory)",
    "S1": "harts never sleep in this engine",
    "S2": "cores never run ahead in this engine",
    "W2.1": "uncore.support.steady finds the steady state in the spans of either engine",
    "W2.2": "the same",
    "W2.3": "the same",
    "W3": "uncore.result.Point computes it",
    "W4.1": "uncore.execution.enough chooses the lengths of runs, for either engine",
    "W4.2": "the same",
    "W4.3": "the same",
    "W4.4": "the same",
    "W4.5": "the same",
    "L8": "uncore.result.log sorts a log when it is read",
    "D1": "a deviation in the protocol's tables",
    "D2": "a deviation that follows from R7",
    "D3": "a deviation in the protocol's tables",
}
# Rules of which two modules implement a part each.
RULES_IN_TWO_MODULES = {
    # the rank of messages about lines, and of messages about registers
    "T2.3": {"time", "interrupts"},
    "C1": {"client", "caches"},  # the rules of every client, and those of a core
    "C3.1": {"client", "caches"},
    "C7.1": {"port", "hart"},  # the test for a reservation, and the wait
    "C9.2": {"contended", "entry"},  # receiving reports of contention, and sending them
    "H6.5": {"hart", "core"},  # detecting that a hart mostly pauses, and the shares of its siblings
    "R3": {"children", "writeback"},  # the children to probe, and the account to charge
    "R4": {"client", "grants"},  # the owner's part, and the resolver's
    # which requests are completed, and when a transaction closes
    "R5.1": {"children", "transaction"},
    "R5.2": {"children", "transaction"},
    "R7.2": {"capacity", "writeback"},  # the choice of victims, and the data that are stored
    "R7.3": {"capacity", "writeback"},
    "R7.4": {"capacity", "writeback"},
    "I2": {"hart", "interrupts"},
    "W1.1": {"hart", "core"},  # measuring one hart, and whether any hart of a core is measured
}


def test_every_rule_has_a_function() -> None:
    cited = {number for citation in rules.citations() for number in citation.numbers}
    leaves = {number for number in rules.rules() if not rules.parts(number)}
    assert leaves - cited == RULES_WITHOUT_FUNCTION.keys()


def test_every_cited_rule_is_on_the_page() -> None:
    numbers = set(rules.rules())
    unknown = [citation for citation in rules.citations() if set(citation.numbers) - numbers]
    assert not unknown


def test_the_rules_of_a_module_are_in_the_order_of_the_page() -> None:
    order = rules.rules()
    positions: dict[str, list[int]] = defaultdict(list)
    for citation in rules.citations():
        positions[citation.module].append(order.index(citation.numbers[0]))
        assert list(citation.numbers) == sorted(citation.numbers, key=order.index), citation
    assert {module for module, numbers in positions.items() if numbers != sorted(numbers)} == set()


def test_rules_in_two_modules_are_exactly_the_listed_rules() -> None:
    modules: dict[str, set[str]] = defaultdict(set)
    for citation in rules.citations():
        for number in citation.numbers:
            modules[number].add(citation.module)
    shared = {number: names for number, names in modules.items() if len(names) > 1}
    assert shared == RULES_IN_TWO_MODULES

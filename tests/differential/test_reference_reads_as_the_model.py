"""Does the reference engine have each rule of docs/model.md, in the same order?

Each function cites the number of its rule in its docstring (tests/tools/rules.py).
"""

from __future__ import annotations

from collections import defaultdict

from tests.tools import rules

# Rules that have no function, with the reason.
NO_FUNCTION = {
    "C6.8": "follows from the others",
    "H1.5": "the hart library, which both engines have, does it",
    "H9.5": "neither translates addresses, nor runs programs of Linux, here",
    "I5.3": "memory's first words tell the program (uncore.engine.initial_memory)",
    "S1": "harts never sleep here",
    "S2": "cores never run ahead here",
    "W2.1": "the steady state is found in the spans that an engine gives (uncore.support.steady)",
    "W2.2": "the same",
    "W2.3": "the same",
    "W3": "a point says it of itself (uncore.result.Point)",
    "W4.1": "lengths are searched around engines (uncore.execution.enough)",
    "W4.2": "the same",
    "W4.3": "the same",
    "W4.4": "the same",
    "W4.5": "the same",
    "L8": "the reader of a log sorts it (uncore.result.log)",
    "D1": "a deviation that the tables have",
    "D2": "a deviation that follows from R7",
    "D3": "a deviation that the tables have",
}
# Rules that two modules implement, each a part.
TWO_SIDES = {
    "T2.3": {"time", "interrupts"},  # rank of a message about a line; about a register
    "C1": {"client", "caches"},  # the rules of every client, and those of a core
    "C3.1": {"client", "caches"},
    "C7.1": {"port", "hart"},  # is there a reservation to wait for; the wait
    "C9.2": {"contended", "entry"},  # learning of contention; reporting it
    "H6.5": {"hart", "core"},  # a hart that pauses most of its time; the siblings' shares
    "R3": {"children", "writeback"},  # children to ask; account to charge
    "R4": {"client", "grants"},  # the owner, the resolver
    "R5.1": {"children", "transaction"},  # requests to complete; moment of closing
    "R5.2": {"children", "transaction"},
    "R7.2": {"capacity", "writeback"},  # victims; data kept
    "R7.3": {"capacity", "writeback"},
    "R7.4": {"capacity", "writeback"},
    "I2": {"hart", "interrupts"},
    "W1.1": {"hart", "core"},  # a hart is measured, or one of a core is
}


def test_every_rule_has_a_function() -> None:
    cited = {number for citation in rules.citations() for number in citation.numbers}
    leaves = {number for number in rules.rules() if not rules.parts(number)}
    assert leaves - cited == NO_FUNCTION.keys()


def test_every_cited_rule_is_on_the_page() -> None:
    numbers = set(rules.rules())
    unknown = [citation for citation in rules.citations() if set(citation.numbers) - numbers]
    assert not unknown


def test_the_rules_of_a_module_are_in_the_order_of_the_page() -> None:
    order = rules.rules()
    places: dict[str, list[int]] = defaultdict(list)
    for citation in rules.citations():
        places[citation.module].append(order.index(citation.numbers[0]))
        assert list(citation.numbers) == sorted(citation.numbers, key=order.index), citation
    assert {module for module, numbers in places.items() if numbers != sorted(numbers)} == set()


def test_each_rule_is_in_one_module_unless_it_is_listed_with_two() -> None:
    modules: dict[str, set[str]] = defaultdict(set)
    for citation in rules.citations():
        for number in citation.numbers:
            modules[number].add(citation.module)
    shared = {number: where for number, where in modules.items() if len(where) > 1}
    assert shared == TWO_SIDES

"""Does `uncore conflicts` name the pairs of operations that conflict, and the line they share?"""

from __future__ import annotations

import json
from pathlib import Path

PROGRAM = str(Path(__file__).parent / "programs/kinds.c")


def verdicts(uncore, *arguments):
    result = uncore("conflicts", *arguments, "--json")
    assert result.status == 0, result.err
    return {(pair["a"], pair["b"]): pair for pair in json.loads(result.out)}


def test_operations_conflict_if_one_writes_a_line_that_the_other_touches(uncore):
    pairs = verdicts(uncore, PROGRAM, "--set", "ops=20")
    conflicting = {pair for pair, what in pairs.items() if not what["conflict_free"]}
    assert conflicting == {("add", "add"), ("add", "look")}
    (line,) = pairs["add", "look"]["lines"]
    assert line["holds"] == ["*sum"] and line["same_bytes"]
    assert all("kinds.c:" in position for position in (*line["wrote"], *line["touched"]))
    assert len(pairs) == 6


def test_conflict_caused_only_by_layout_is_marked(uncore):
    pairs = verdicts(uncore, PROGRAM, "--set", "ops=20", "--set", "apart=8")
    own = pairs["own", "own"]
    assert not own["conflict_free"] and not any(line["same_bytes"] for line in own["lines"])
    assert pairs["look", "own"]["conflict_free"]


def test_open_of_any_descriptor_commutes_but_open_of_the_lowest_does_not(uncore):
    """The rule of kernel/open is the example of Clements et al.: open() must return the lowest free
    descriptor, or may return any. Operations without marked kinds count as one kind.
    """
    assert not verdicts(uncore, "kernel/open")["open", "open"]["conflict_free"]
    assert all(
        p["conflict_free"] for p in verdicts(uncore, "kernel/open", "--set", "rule=any").values()
    )
    assert not verdicts(uncore, "lock/ticket")["operation", "operation"]["conflict_free"]
    assert "*sum" in uncore("conflicts", PROGRAM).out

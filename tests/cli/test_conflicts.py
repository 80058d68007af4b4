"""Does `uncore conflicts` name the pairs of operations that conflict on a line, and the line?"""

from __future__ import annotations

import json
from pathlib import Path

PROGRAM = str(Path(__file__).parent / "programs/kinds.c")


def verdicts(uncore, *arguments):
    result = uncore("conflicts", *arguments, "--json")
    assert result.status == 0, result.err
    return {(pair["a"], pair["b"]): pair for pair in json.loads(result.out)}


def test_conflicts_follow_from_lines_written_and_touched(uncore):
    pairs = verdicts(uncore, PROGRAM, "--set", "ops=20")
    conflicting = {pair for pair, what in pairs.items() if not what["conflict_free"]}
    assert conflicting == {("add", "add"), ("add", "look")}
    (line,) = pairs["add", "look"]["lines"]
    assert line["holds"] == ["*sum"] and line["same_bytes"]
    assert all("kinds.c:" in position for position in (*line["wrote"], *line["touched"]))
    assert len(pairs) == 6


def test_conflict_of_layout_alone_is_marked(uncore):
    pairs = verdicts(uncore, PROGRAM, "--set", "ops=20", "--set", "apart=8")
    own = pairs["own", "own"]
    assert not own["conflict_free"] and not any(line["same_bytes"] for line in own["lines"])
    assert pairs["look", "own"]["conflict_free"]


def test_any_descriptor_commutes_where_the_lowest_does_not(uncore):
    """Clements' example; operations without marked kinds count as a single kind."""
    assert not verdicts(uncore, "kernel/open")["open", "open"]["conflict_free"]
    assert all(
        p["conflict_free"] for p in verdicts(uncore, "kernel/open", "--set", "rule=any").values()
    )
    assert not verdicts(uncore, "lock/ticket")["operation", "operation"]["conflict_free"]
    assert "*sum" in uncore("conflicts", PROGRAM).out

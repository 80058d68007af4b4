"""Does a saved result that was edited by hand give a job or a message, and never a crash?

The hash is computed anew for the edited content, as anybody can do who edits a file, so the edited
numbers reach the native engine.  `python -m tests.tools.fuzz result` runs longer.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tools import edits, fuzz

SAVED = msgspec.json.decode(fuzz.seeds("result")[0])
PLACES_IN_JOB = [("job", *position) for position in edits.places(SAVED["job"])]


@settings(derandomize=True, deadline=None, max_examples=100)
@given(
    changes=st.lists(
        st.tuples(st.sampled_from(PLACES_IN_JOB), st.sampled_from(edits.SCRAPS)),
        min_size=1,
        max_size=2,
    )
)
def test_edited_job_is_accepted_or_refused_with_a_message(changes: list[edits.Change]) -> None:
    fuzz.survive(fuzz.result, msgspec.json.encode(edits.edited(SAVED, changes)))


@pytest.mark.parametrize(
    ("position", "value", "message"),
    [
        (("machine", "links", 0, "control"), -1, r"job\.machine: .*>= 0.*links\[0\]\.control"),
        (("machine", "links", 0, "source"), 99, r"links: source: 99 is no stop; expected 0 to"),
        (("machine", "resolvers", 0, "children"), [0, 0], r"0 stands at another place"),
        (("machine", "resolvers", 0, "children"), [0, 2], r"2 is no core and no resolver before"),
        (("machine", "resolvers", 0, "parents"), [2], r"parents: expected \[\], whose child it is"),
        (("machine", "resolvers", 0, "knows"), "all", r"job\.machine: .*knows"),
        (("machine", "links"), [], r"links: not every stop can be reached"),
        (("machine", "threads_per_core"), 0, r"threads_per_core"),
        (("machine", "threads"), [1], r"threads: 1 numbers; expected one for each of 2 cores"),
        (("machine", "kinds"), [{"name": "small", "cores": [0]}], r"`core`.*kinds"),
        (("machine", "core", "l1_sets"), 0, r"l1_sets"),
        (("machine", "resolvers", 0, "grants"), 2**31, r"<= 65536.*grants"),
        (("machine", "memories"), [], r"memories: expected at least one"),
        (("watchdog",), -1, r"job\.watchdog: "),
        (("program",), 3, r"job\.program: "),
        (("luck",), 3, r"job\.luck: no job has this"),
    ],
)
def test_edited_result_is_refused_with_the_reason(
    position: edits.Place, value: Any, message: str
) -> None:
    changed = edits.edited(SAVED, [(("job", *position), value)])
    answer = fuzz.survive(fuzz.result, msgspec.json.encode(changed))
    assert re.search(message, answer), answer

"""Is a saved result that somebody edited by hand a job or a message, and never a crash?

The hash fits again, as whoever edits a file can make it; so the numbers reach the native engine.
Longer: `python -m validation.fuzz result`.
"""

from __future__ import annotations

import copy
import re
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from validation import fuzz

SAVED = msgspec.json.decode(fuzz.seeds("result")[0])
SCRAPS = [
    None,
    True,
    "",
    "none",
    "ü",
    [],
    {},
    1.5,
    -1,
    0,
    1,
    2,
    7,
    2**20,
    2**31,
    2**32,
    2**63,
    2**64,
]

Path = tuple[Any, ...]


def paths(value: Any, here: Path = ()) -> list[Path]:
    """Every value inside; of a long list the first ones."""
    found = [here] if here else []
    inner = value.items() if isinstance(value, dict) else enumerate(value[:9])
    for key, one in inner if isinstance(value, (dict, list)) else ():
        found += paths(one, (*here, key)) if isinstance(one, (dict, list)) else [(*here, key)]
    return found


JOB = paths(SAVED["job"])


def edited(changes: list[tuple[Path, Any]]) -> bytes:
    result = copy.deepcopy(SAVED)
    for path, value in changes:
        inner: Any = result["job"]
        try:
            for key in path[:-1]:
                inner = inner[key]
            inner[path[-1]] = value
        except (TypeError, IndexError, KeyError):
            continue  # another change has removed the place
    return msgspec.json.encode(result)


@settings(derandomize=True, deadline=None, max_examples=100)
@given(
    changes=st.lists(
        st.tuples(st.sampled_from(JOB), st.sampled_from(SCRAPS)), min_size=1, max_size=2
    )
)
def test_is_an_edited_job_a_job_or_a_message(changes: list[tuple[Path, Any]]) -> None:
    fuzz.survive(fuzz.result, edited(changes))


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("machine", "links", 0, "control"), -1, r"job\.machine: .*>= 0.*links\[0\]\.control"),
        (("machine", "links", 0, "source"), 99, r"links: source: 99 is no stop; expected 0 to"),
        (("machine", "resolvers", 0, "children"), [0, 0], r"0 stands at another place"),
        (("machine", "resolvers", 0, "children"), [0, 2], r"2 is no core and no resolver before"),
        (("machine", "resolvers", 0, "parents"), [2], r"parents: expected \[\], whose child it is"),
        (("machine", "resolvers", 0, "knows"), "all", r"job\.machine: .*knows"),
        (("machine", "links"), [], r"links: not every stop can be reached"),
        (("machine", "threads_per_core"), 0, r"threads_per_core"),
        (("machine", "core", "l1_sets"), 0, r"l1_sets"),
        (("machine", "memories"), [], r"memories: expected at least one"),
        (("watchdog",), -1, r"job\.watchdog: "),
        (("program",), 3, r"job\.program: "),
        (("luck",), 3, r"job\.luck: no job has this"),
    ],
)
def test_says_what_is_wrong(path: Path, value: Any, message: str) -> None:
    said = fuzz.survive(fuzz.result, edited([(path, value)]))
    assert re.search(message, said), said

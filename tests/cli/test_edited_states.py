"""Is a saved state that was edited refused with a message, instead of a crash or a wrong result?"""

from __future__ import annotations

import hashlib
import random
from pathlib import Path

import msgspec
import pytest
from tests.tools import drawn

from uncore import _native
from uncore.engine.native import state_file

pytestmark = pytest.mark.skipif(
    _native.Arena.make() is None, reason="sanitizers keep their own memory"
)

EDITS = 200
RUN = "run bus:2 lock/ticket --threads 2 --repeat 1 --seed 1 --set ops=2 --save-at begin --state it"


@pytest.fixture
def state(uncore) -> bytes:
    assert uncore(*RUN.split()).status == 0
    return Path("it").read_bytes()


def forged(state: bytes, **changes: object) -> bytes:
    """Returns the state with a changed head, whose digest and size are computed anew."""
    head, _, packed = state.partition(b"\n")[2].partition(b"\n")
    content = msgspec.json.encode(msgspec.json.decode(head) | changes) + b"\n" + packed
    digest = hashlib.sha256(content).hexdigest()
    return f"{state_file.SCHEMA} {digest} {len(content)}\n".encode() + content


def test_randomly_edited_state_is_refused(uncore, state):
    rng = random.Random(45)
    for _ in range(EDITS):
        changed = drawn.corrupted(rng, state)
        if changed == state:
            continue
        Path("edited").write_bytes(changed)
        result = uncore("run", "--from", "edited")
        assert (result.status, result.out) == (2, ""), result
        assert "not a saved run, or a damaged one" in result.err


def test_changed_digit_of_the_digest_or_the_size_is_refused(uncore, state):
    first = state.index(b"\n")
    for position in range(first - 70, first):
        digit = b"1" if state[position : position + 1] != b"1" else b"2"
        Path("edited").write_bytes(state[:position] + digit + state[position + 1 :])
        assert uncore("run", "--from", "edited").status == 2, position


def test_unchanged_state_with_a_recomputed_digest_is_accepted(uncore, state):
    Path("same").write_bytes(forged(state))
    assert uncore("run", "--from", "same").status == 0


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"size": 1 << 40}, "damaged"),
        ({"size": (1 << 20) + 1}, "damaged"),
        ({"size": 0}, "damaged"),
        ({"size": -1}, "damaged"),
        ({"at": "now"}, "damaged"),
        ({"made_by": ["another", "native"]}, "another copy of uncore"),
        ({"command": "boot"}, "write uncore boot --from"),
    ],
)
def test_state_with_a_forged_head_is_refused(uncore, state, changes, message):
    Path("forged").write_bytes(forged(state, **changes))
    result = uncore("run", "--from", "forged")
    assert (result.status, message in result.err) == (2, True), result.err


def test_state_that_unpacks_to_more_bytes_than_its_head_says_is_refused(uncore, state):
    bomb = state_file.zstd.compress(bytes(1 << 26))
    head = state.partition(b"\n")[2].partition(b"\n")[0]
    Path("bomb").write_bytes(forged(b"\n" + head + b"\n" + bomb, size=1 << 20))
    result = uncore("run", "--from", "bomb")
    assert (result.status, "damaged" in result.err) == (2, True), result.err


@pytest.mark.parametrize("more", [1, state_file.PIECE_BYTES + 1])
def test_state_with_trailing_bytes_is_refused(uncore, state, more):
    Path("more").write_bytes(forged(state + bytes(more)))
    result = uncore("run", "--from", "more")
    assert (result.status, "damaged" in result.err) == (2, True), result.err


@pytest.mark.parametrize("path", ["/dev/zero", "/dev/null", ".", "/proc/self/mem"])
def test_file_that_is_no_saved_state_is_refused(uncore, path):
    assert uncore("run", "--from", path).status == 2

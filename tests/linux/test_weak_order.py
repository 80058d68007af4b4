"""Does a program of Linux find on weakly ordered cores what it finds on others (K4.4)?"""

from __future__ import annotations

import pytest
from tests.linux.programs import ran

SLOW_STORES, OLD_LOADS = {"chance.store": "5us"}, {"chance.load": "10us"}
WORDS = [
    *(("calls", word) for word in ("locked 7", "spins 2", "events_wait", "senders")),
    *(("asks", word) for word in ("futex_ops", "masked_waits", "remaps")),
    *(("waits", word) for word in ("pipes", "pool", "timers")),
    *(("talks", word) for word in ("pairs", "echoes")),
    *(("shares", word) for word in ("file_locks", "one_of_a_pool", "streams")),
    ("ranks", "the_driven_go_elsewhere"),
]


@pytest.mark.parametrize("draws", [SLOW_STORES, OLD_LOADS], ids=["stores", "loads"])
@pytest.mark.parametrize(("guest", "words"), WORDS)
def test_calls_order_what_threads_have_done(guest: str, words: str, draws: dict[str, str]) -> None:
    overrides = {"core.order": "weak", **draws}
    point = ran(*words.split(), guest=guest, harts=4, overrides=overrides)
    assert point.failures == []


@pytest.mark.parametrize("draws", [SLOW_STORES, OLD_LOADS], ids=["stores", "loads"])
@pytest.mark.parametrize(("word", "passes"), [("fences", True), ("calls", True), ("", False)])
def test_only_fences_and_system_calls_order_what_a_program_does(
    word: str, passes: bool, draws: dict[str, str]
) -> None:
    overrides = {"core.order": "weak", **draws}
    points = [
        ran(word, guest="hands", harts=2, overrides=overrides, seeds=(seed,))
        for seed in range(1, 9)
    ]
    assert all(point.failures == [] for point in points) is passes


def test_order_that_a_program_lacks_hides_where_memory_is_ordered_totally() -> None:
    assert ran("", guest="hands").failures == []

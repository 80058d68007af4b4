"""Do system calls order the accesses of threads on weakly ordered cores as well (K4.4)?"""

from __future__ import annotations

import pytest
from tests.linux.programs import run_guest

DELAYED_STORES, STALE_LOADS = {"chance.store": "5us"}, {"chance.load": "10us"}
WORDS = [
    *(("calls", word) for word in ("locked 7", "spins 2", "events_wait", "senders")),
    *(("asks", word) for word in ("futex_ops", "masked_waits", "remaps")),
    *(("waits", word) for word in ("pipes", "pool", "timers")),
    *(("talks", word) for word in ("pairs", "echoes")),
    *(("shares", word) for word in ("file_locks", "one_of_a_pool", "streams")),
    ("ranks", "preempted_thread_moves_to_another_hart"),
]


@pytest.mark.parametrize("draws", [DELAYED_STORES, STALE_LOADS], ids=["stores", "loads"])
@pytest.mark.parametrize(("guest", "words"), WORDS)
def test_programs_ordered_by_system_calls_work_on_weakly_ordered_cores(
    guest: str, words: str, draws: dict[str, str]
) -> None:
    overrides = {"core.order": "weak", **draws}
    point = run_guest(*words.split(), guest=guest, harts=4, overrides=overrides)
    assert point.failures == []


@pytest.mark.parametrize("draws", [DELAYED_STORES, STALE_LOADS], ids=["stores", "loads"])
@pytest.mark.parametrize(("word", "passes"), [("fences", True), ("calls", True), ("", False)])
def test_handover_is_correct_only_with_fences_or_system_calls(
    word: str, passes: bool, draws: dict[str, str]
) -> None:
    overrides = {"core.order": "weak", **draws}
    points = [
        run_guest(word, guest="hands", harts=2, overrides=overrides, seeds=(seed,))
        for seed in range(1, 9)
    ]
    assert all(point.failures == [] for point in points) is passes


def test_handover_without_fences_succeeds_in_total_store_order() -> None:
    assert run_guest("", guest="hands").failures == []

"""Guests by subject, each asked by words: does every call do what it does on Linux?"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.linux.programs import program, ran
from tests.linux.test_elsewhere import QEMU, on_qemu

WORDS = {
    "asks": "missing futex_ops real_time pending masked_waits queued remaps times_on_harts"
    " reserved",
    "waits": "pipes long_writes broken_pipes closed_pipes epolls edges once nested nested_deeply"
    " in_turn pool masked timers signal_files selects",
    "talks": "pairs datagrams over_loopback refused unix_names shut_down echoes nowhere_to",
    "files": "written named devices mapped stored mapped_by_all appended sparse lists",
    "shares": "file_locks exclusive_pollers one_of_a_pool exclusive_is_for_good streams sequences"
    " datagrams cut_off all_of_it large",
}
EACH = [(guest, word) for guest, words in WORDS.items() for word in words.split()]
# Elsewhere these depend on the user, and on the computer's other work.
HERE_ALONE = [
    *(("asks", word) for word in ("priorities", "real_time", "times_on_harts_only")),
    *(("shares", "parts_that_wrap"), ("shares", "as_long_for_many"), ("files", "told")),
]
ALONE_ON_A_HART = "the_most_urgent_first an_urgent_one_runs_at_once the_most_urgent_is_woken_first"
ALONE_ON_A_HART += " turns_by_policy yields_to_its_like children_begin_anew_if_asked"
RANKS = [(word, harts) for word in ALONE_ON_A_HART.split() for harts in (1, 4)]
RANKS += [(f"the_{word}", 2) for word in ("driven_go_elsewhere", "urgent_interrupt")]
RANKS += [("harts_take_the_urgent", 2)]


@pytest.mark.parametrize(("guest", "word"), [*EACH, *HERE_ALONE])
@pytest.mark.parametrize("harts", [1, 4])
def test_calls_do_what_linux_does(guest: str, word: str, harts: int) -> None:
    assert ran(word, guest=guest, harts=harts).failures == []


@pytest.mark.parametrize("line", ["128B", "256B"])
@pytest.mark.parametrize(
    ("guest", "word"), [("files", "mapped"), ("asks", "remaps"), ("waits", "pool")]
)
def test_calls_write_correctly_to_wide_lines(guest: str, word: str, line: str) -> None:
    """A2: pages of which a call writes each byte, and words that other threads wait for."""
    assert ran(word, guest=guest, harts=2, overrides={"line": line}).failures == []


@pytest.mark.parametrize(("word", "harts"), RANKS)
def test_urgent_threads_run_first(word: str, harts: int) -> None:
    assert ran(word, guest="ranks", harts=harts).failures == []


@pytest.mark.skipif(QEMU is None, reason="qemu-riscv64 is not installed")
@pytest.mark.parametrize(("guest", "word"), EACH)
def test_output_and_status_are_those_of_another_linux(
    guest: str, word: str, tmp_path: Path
) -> None:
    here = ran(word, guest=guest, harts=4)
    assert (here.output, here.failures) == on_qemu(program(guest), tmp_path, word)

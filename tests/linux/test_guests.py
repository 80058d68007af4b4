"""Do system calls do what they do on Linux? Each test program checks one subject by word."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.linux.programs import program, run_guest
from tests.linux.test_elsewhere import QEMU, on_qemu

WORDS = {
    "asks": "missing futex_ops real_time pending masked_waits queued remaps times_on_harts"
    " reserved",
    "waits": "pipes long_writes broken_pipes closed_pipes epolls edges once nested nested_deeply"
    " in_turn pool masked timers signal_files selects",
    "talks": "pairs datagrams over_loopback refused unix_names shut_down echoes unconnected_socket",
    "files": "written named devices mapped stored mapped_by_all appended sparse lists",
    "shares": "file_locks exclusive_pollers one_of_a_pool exclusive_cannot_be_changed streams"
    " sequences datagrams datagram_is_truncated receive_waits_for_all large",
}
MAX_QEMU_RUNS = 5
EACH = [(guest, word) for guest, words in WORDS.items() for word in words.split()]
# On another system these depend on the user and on the other work of the computer.
SIMULATED_ONLY = [
    *(("asks", word) for word in ("priorities", "real_time", "times_on_harts_only")),
    *(
        ("shares", "invalid_parts_are_refused"),
        ("shares", "write_time_is_independent_of_waiters"),
        ("files", "statfs"),
    ),
]
ON_ONE_HART = [
    "highest_priority_runs_first",
    "woken_thread_of_higher_priority_preempts_its_waker",
    "highest_priority_is_woken_first",
    "only_round_robin_switches_between_equals",
    "yield_runs_equals_only",
    "reset_on_fork_gives_the_default_policy",
]
RANKS = [(word, harts) for word in ON_ONE_HART for harts in (1, 4)]
RANKS += [("preempted_thread_moves_to_another_hart", 2)]
RANKS += [("other_hart_is_interrupted_for_a_higher_priority", 2)]
RANKS += [("harts_take_higher_priorities_from_other_queues", 2)]


@pytest.mark.parametrize(("guest", "word"), [*EACH, *SIMULATED_ONLY])
@pytest.mark.parametrize("harts", [1, 4])
def test_calls_do_what_linux_does(guest: str, word: str, harts: int) -> None:
    assert run_guest(word, guest=guest, harts=harts).failures == []


@pytest.mark.parametrize("line", ["128B", "256B"])
@pytest.mark.parametrize(
    ("guest", "word"), [("files", "mapped"), ("asks", "remaps"), ("waits", "pool")]
)
def test_calls_write_correctly_to_lines_wider_than_64_bytes(
    guest: str, word: str, line: str
) -> None:
    """A2: calls write whole pages, and words on which other threads wait."""
    assert run_guest(word, guest=guest, harts=2, overrides={"line": line}).failures == []


@pytest.mark.parametrize(("word", "harts"), RANKS)
def test_threads_are_scheduled_by_policy_and_priority(word: str, harts: int) -> None:
    assert run_guest(word, guest="ranks", harts=harts).failures == []


@pytest.mark.skipif(QEMU is None, reason="qemu-riscv64 is not installed")
@pytest.mark.parametrize(("guest", "word"), EACH)
def test_output_and_exit_status_of_guests_are_those_under_qemu(
    guest: str, word: str, tmp_path: Path
) -> None:
    point = run_guest(word, guest=guest, harts=4)
    # Guests give their threads time by pauses, which are too short while the host is busy.
    answers = [on_qemu(program(guest), tmp_path, word)]
    while answers[-1] != (point.output, point.failures) and len(answers) < MAX_QEMU_RUNS:
        answers.append(on_qemu(program(guest), tmp_path, word))
    assert (point.output, point.failures) in answers

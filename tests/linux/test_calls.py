"""Do system calls do what they do on Linux? The test programs check that by their exit status."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec import UnsetType
from tests.linux.programs import job, run_guest

from uncore.errors import GuestError, UserError
from uncore.execution.execute import execute
from uncore.program import read_folder


@pytest.mark.parametrize(
    "words",
    [
        ("memory",),
        ("sleeps",),
        ("requeued",),
        ("signals",),
        ("alarms",),
        ("polls",),
        ("barriers",),
        ("places", "4"),
        ("locked", "7"),
        ("yields", "5"),
        ("spins", "3"),
        ("events",),
        ("events_wait",),
        ("events_are_interrupted",),
        ("descriptors",),
        ("limits",),
        ("probes", "4"),
        ("ranges",),
        ("senders",),
        ("faults",),
        ("process_signals",),
        ("awaited",),
    ],
    ids=lambda words: words[0],
)
@pytest.mark.parametrize("harts", [1, 4])
def test_calls_do_what_linux_does(words: tuple[str, ...], harts: int) -> None:
    if words[0] in ("places", "probes"):
        words = (words[0], str(harts))
    assert run_guest(*words, harts=harts, machine="ccx:2x4").failures == []


def test_signal_ends_a_sleep_even_if_it_arrives_as_the_sleep_begins() -> None:
    assert run_guest("signals_end_sleeps", harts=2).failures == []


def test_wake_up_after_a_timeout_does_not_end_the_next_sleep() -> None:
    assert run_guest("late_wakes_end_no_sleep", harts=2).failures == []


def test_file_in_use_outlives_its_closed_descriptor(tmp_path: Path) -> None:
    (tmp_path / "some").mkdir()
    (tmp_path / "some/text").write_text("a" * 5000)
    assert run_guest("reopened", harts=4, files=read_folder(tmp_path)).failures == []


def test_program_receives_its_arguments_with_the_thread_count() -> None:
    point = run_guest("words", "two words", "{threads}", harts=4)
    assert point.output == "words\ntwo words\n4\n"


def test_exit_status_other_than_0_is_a_failed_check() -> None:
    assert run_guest("status", "7").failures == ["exit status 7"]


def test_unknown_call_ends_a_strict_run_with_its_name_and_location() -> None:
    with pytest.raises(GuestError, match=r"system call 425 \(io_uring_setup\).*\n.*\n.*call6|run"):
        run_guest("unknown", strict_calls=True)


def test_unknown_call_returns_enosys_and_the_result_names_it_once() -> None:
    point = run_guest("missing", guest="asks")
    assert point.failures == [] and point.output == "before\nafter\n"
    assert point.missing_calls == ["io_uring_setup (425)", "unknown (9999)"]
    assert isinstance(run_guest("status", "0").missing_calls, UnsetType)


def test_memory_that_is_not_touched_costs_no_instructions() -> None:
    point = run_guest("memory")
    assert point.instructions is not None and point.instructions < 10_000


def test_deadlock_lists_every_thread() -> None:
    with pytest.raises(GuestError) as error:
        run_guest("deadlock")
    text = str(error.value)
    assert "thread 1000 sleeping" in text and "thread 1001 sleeping" in text
    assert "in futex" in text and "on woken" in text and "sleep_on" in text


def test_store_to_unmapped_memory_names_its_line() -> None:
    with pytest.raises(GuestError, match=r"a store to memory that is not mapped.*(\n.*)*calls.c"):
        run_guest("nowhere")


def test_program_that_exceeds_the_memory_of_the_machine_is_stopped() -> None:
    with pytest.raises(GuestError, match="out of memory: the program has touched all 8 MiB"):
        run_guest("allocates", overrides={"memory.size": "8MiB"}, machine="ccx:2x4")


def test_program_reads_files_of_the_given_folder(tmp_path: Path) -> None:
    (tmp_path / "some").mkdir()
    (tmp_path / "some/text").write_text("a line\n")
    files = read_folder(tmp_path)
    assert run_guest("file", "/files/some/../some/text", files=files).output == "a line\n"
    assert run_guest("file", "/files/none", files=files).failures == ["exit status 2"]


def test_files_in_sys_describe_the_machine() -> None:
    siblings = run_guest(
        "file", "/sys/devices/system/cpu/cpu1/topology/core_siblings_list", harts=4
    )
    assert siblings.output == "0-3\n"
    assert run_guest("file", "/sys/devices/system/cpu/online", harts=3).output == "0-2\n"


@pytest.mark.parametrize("engine", ["reference"])
def test_reference_engine_refuses_programs_of_linux(engine: str) -> None:
    with pytest.raises(UserError, match="a program of Linux: reference runs workloads"):
        execute([job("words", engine=engine, seeds=())])

"""Is a Linux program that cannot run, or never ends, reported with one message?"""

from __future__ import annotations

import struct
import sys
from pathlib import Path

import pytest
from tests.linux.programs import BARE, job, program, run_guest

from uncore.errors import GuestError, UserError
from uncore.execution.execute import execute
from uncore.program import Program, build, compile_for_linux

# Offsets of fields in the header of an ELF file.
MACHINE_OFFSET, TYPE_OFFSET, ENTRY_OFFSET, HEADERS_OFFSET, COUNT_OFFSET = 18, 16, 24, 32, 56


def damaged(offset: int, value: int) -> Program:
    data = bytearray(program().data)
    struct.pack_into("<H", data, offset, value)
    return Program("calls", Path("calls"), bytes(data))


def test_elf_for_another_processor_is_refused() -> None:
    with pytest.raises(UserError, match="for another processor; expected 64-bit little-endian"):
        damaged(MACHINE_OFFSET, 62)


def test_shared_library_is_refused() -> None:
    data = bytearray(program().data)
    struct.pack_into("<H", data, TYPE_OFFSET, 3)
    struct.pack_into("<Q", data, ENTRY_OFFSET, 0)
    with pytest.raises(UserError, match="a shared library, which has no beginning of its own"):
        Program("calls", Path("calls"), bytes(data))


def test_program_that_needs_shared_libraries_is_refused() -> None:
    data = program().data
    (headers,) = struct.unpack_from("<Q", data, HEADERS_OFFSET)
    (count,) = struct.unpack_from("<H", data, COUNT_OFFSET)
    last = headers + 56 * (count - 1)  # header of the last segment, which loads no bytes
    altered = data[:last] + struct.pack("<I", 3) + data[last + 4 :]  # PT_INTERP
    with pytest.raises(UserError, match=r"calls: linked dynamically.*link with -static"):
        Program("calls", Path("calls"), altered)


def test_unsupported_instruction_is_reported_with_its_line() -> None:
    with pytest.raises(
        GuestError, match=r"an instruction that is not there at .*\n(.*\n)*.*calls.c"
    ):
        run_guest("vectors")


def test_endless_program_without_marks_is_stopped_only_by_a_limit() -> None:
    forever = job("forever", watchdog=100_000_000)
    with pytest.raises(GuestError, match="--max-time"):
        execute([forever], engine_options={"max_time": "1ms"})


def test_watchdog_does_not_stop_a_program_that_sleeps() -> None:
    assert run_guest("sleeps", watchdog=100_000_000).failures == []


def test_watchdog_stops_a_program_that_marks_operations_but_does_none() -> None:
    with pytest.raises(GuestError, match="no operation in 1 simulated ms; --watchdog allows more"):
        run_guest("spins", guest="ends", watchdog=1_000_000_000)


def test_program_that_exceeds_max_memory_is_stopped_with_that_option_named() -> None:
    with pytest.raises(GuestError, match="--max-memory"):
        execute([job("allocates")], engine_options={"max_memory": "4MiB"})


def test_more_threads_than_harts_of_the_machine_are_refused() -> None:
    with pytest.raises(UserError, match=r"--threads 9: ccx:2x4 .* has room for 8 threads"):
        job("words", harts=9)


def test_clone_beyond_the_limit_of_threads_fails_as_on_linux() -> None:
    """Beyond /proc/sys/kernel/pid_max threads, clone() returns EAGAIN and the program continues."""
    point = run_guest("crowds", harts=4)
    assert (point.output, point.failures) == ("32768\n", [])


def test_ids_of_ended_threads_are_used_again() -> None:
    assert run_guest("serial", harts=2, system="free").failures == []


def test_fork_is_refused() -> None:
    with pytest.raises(GuestError, match=r"it starts another process .* there is one only"):
        run_guest("forks")


def test_execve_is_refused() -> None:
    with pytest.raises(GuestError, match=r"it starts another program \(execve\)"):
        run_guest("executes", guest="asks")


def test_compiler_errors_of_a_linux_source_are_shown(tmp_path: Path) -> None:
    (tmp_path / "lock.c").write_text("int main(void) { return nothing; }\n")
    with pytest.raises(UserError, match=r"lock.c: does not compile:\n(.*\n)*.*lock.c:1:.*nothing"):
        compile_for_linux(tmp_path / "lock.c", (), BARE)


def test_missing_second_source_is_named(tmp_path: Path) -> None:
    (tmp_path / "lock.c").write_text("int main(void) { return 0; }\n")
    with pytest.raises(UserError, match=r"other.c: cannot be read"):
        compile_for_linux(tmp_path / "lock.c", (tmp_path / "other.c",), ())


def test_message_for_a_missing_header_does_not_blame_a_missing_c_library(tmp_path: Path) -> None:
    (tmp_path / "lock.c").write_text("#include <other.h>\nint main(void) { return 0; }\n")
    with pytest.raises(UserError, match=r"'other.h' file not found") as error:
        compile_for_linux(tmp_path / "lock.c", (), BARE)
    assert "There is no C library" not in str(error.value)


def test_note_on_a_slow_compilation_is_printed_only_on_a_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(build, "SILENT_COMPILE_S", 0.001)
    source = tmp_path / "slow.c"
    source.write_text("void _start(void) {}\n")
    for is_person in (False, True):
        monkeypatch.setattr(sys.stderr, "isatty", lambda is_terminal=is_person: is_terminal)
        compile_for_linux(source, (), (*BARE, f"-DPERSON={is_person:d}"))
        assert ("slow.c: compiling; its C or C++ library" in capsys.readouterr().err) == is_person

"""Is a program that cannot run here, or never ends, told so in one message?"""

from __future__ import annotations

import struct
import sys
from pathlib import Path

import pytest
from tests.linux.programs import BARE, job, program, ran

from uncore.errors import GuestError, UserError
from uncore.execution.execute import execute
from uncore.program import Program, build, compile_for_linux

# offsets in the header of an ELF
MACHINE_AT, TYPE_AT, ENTRY_AT, HEADERS_AT, COUNT_AT = 18, 16, 24, 32, 56


def damaged(at: int, value: int) -> Program:
    data = bytearray(program().data)
    struct.pack_into("<H", data, at, value)
    return Program("calls", Path("calls"), bytes(data))


def test_elf_for_another_processor_is_refused() -> None:
    with pytest.raises(UserError, match="for another processor; expected 64-bit little-endian"):
        damaged(MACHINE_AT, 62)


def test_shared_library_is_refused() -> None:
    data = bytearray(program().data)
    struct.pack_into("<H", data, TYPE_AT, 3)
    struct.pack_into("<Q", data, ENTRY_AT, 0)
    with pytest.raises(UserError, match="a shared library, which has no beginning of its own"):
        Program("calls", Path("calls"), bytes(data))


def test_program_that_needs_shared_libraries_is_refused() -> None:
    data = program().data
    (headers,) = struct.unpack_from("<Q", data, HEADERS_AT)
    (count,) = struct.unpack_from("<H", data, COUNT_AT)
    last = headers + 56 * (count - 1)  # the last segment, of which no byte is loaded
    altered = data[:last] + struct.pack("<I", 3) + data[last + 4 :]  # PT_INTERP
    with pytest.raises(UserError, match=r"calls: linked dynamically.*link with -static"):
        Program("calls", Path("calls"), altered)


def test_unsupported_instruction_is_reported_with_its_line() -> None:
    with pytest.raises(
        GuestError, match=r"an instruction that is not there at .*\n(.*\n)*.*calls.c"
    ):
        ran("vectors")


def test_a_program_that_marks_nothing_and_never_ends_is_given_up_by_a_limit_alone() -> None:
    forever = job("forever", watchdog=100_000_000)
    with pytest.raises(GuestError, match="--max-time"):
        execute([forever], engine_options={"max_time": "1ms"})


def test_a_program_that_only_sleeps_lives() -> None:
    assert ran("sleeps", watchdog=100_000_000).failures == []


def test_a_program_that_marks_operations_and_does_none_is_given_up() -> None:
    with pytest.raises(GuestError, match="no operation in 1 simulated ms; --watchdog allows more"):
        ran("spins", guest="ends", watchdog=1_000_000_000)


def test_a_limit_of_memory_is_named() -> None:
    with pytest.raises(GuestError, match="--max-memory"):
        execute([job("allocates")], engine_options={"max_memory": "4MiB"})


def test_more_threads_than_harts_are_refused() -> None:
    with pytest.raises(UserError, match=r"--threads 9: ccx:2x4 .* has room for 8 threads"):
        job("words", harts=9)


def test_threads_without_end_are_refused_as_by_linux() -> None:
    """Makes more threads than /proc/sys/kernel/pid_max: EAGAIN, and the program goes on."""
    point = ran("crowds", harts=4)
    assert (point.output, point.failures) == ("32768\n", [])


def test_ids_of_threads_that_have_ended_are_used_again() -> None:
    assert ran("serial", harts=2, system="free").failures == []


def test_starting_another_process_is_refused() -> None:
    with pytest.raises(GuestError, match=r"it starts another process .* there is one only"):
        ran("forks")


def test_executing_another_program_is_refused() -> None:
    with pytest.raises(GuestError, match=r"it starts another program \(execve\)"):
        ran("executes", guest="asks")


def test_compiler_errors_of_a_linux_source_are_shown(tmp_path: Path) -> None:
    (tmp_path / "lock.c").write_text("int main(void) { return nothing; }\n")
    with pytest.raises(UserError, match=r"lock.c: does not compile:\n(.*\n)*.*lock.c:1:.*nothing"):
        compile_for_linux(tmp_path / "lock.c", (), BARE)


def test_missing_second_source_is_named(tmp_path: Path) -> None:
    (tmp_path / "lock.c").write_text("int main(void) { return 0; }\n")
    with pytest.raises(UserError, match=r"other.c: cannot be read"):
        compile_for_linux(tmp_path / "lock.c", (tmp_path / "other.c",), ())


def test_a_header_that_is_missing_is_not_taken_for_a_c_library(tmp_path: Path) -> None:
    (tmp_path / "lock.c").write_text("#include <other.h>\nint main(void) { return 0; }\n")
    with pytest.raises(UserError, match=r"'other.h' file not found") as error:
        compile_for_linux(tmp_path / "lock.c", (), BARE)
    assert "There is no C library" not in str(error.value)


def test_person_is_told_what_a_slow_compilation_waits_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(build, "SILENT_COMPILE_S", 0.001)
    source = tmp_path / "slow.c"
    source.write_text("void _start(void) {}\n")
    for is_person in (False, True):
        monkeypatch.setattr(sys.stderr, "isatty", lambda told=is_person: told)
        compile_for_linux(source, (), (*BARE, f"-DPERSON={is_person:d}"))
        assert ("slow.c: compiling; its C or C++ library" in capsys.readouterr().err) == is_person

"""Does every invalid program give a message of one line, and never a traceback?"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from uncore.errors import UserError
from uncore.program import Program, abi, compile, find, load, shipped


@pytest.fixture
def valid_elf() -> bytes:
    return find("lock/ticket").data


@pytest.fixture
def refusal(tmp_path: Path) -> Callable[[bytes], str]:
    """Returns a function that loads a file of the given bytes and returns the error message."""

    def refusal_of(data: bytes) -> str:
        path = tmp_path / "bad.elf"
        path.write_bytes(data)
        with pytest.raises(UserError) as error:
            load(path)
        message = str(error.value)
        assert message.startswith(str(path)) and "\n" not in message
        return message

    return refusal_of


def patch(data: bytes, offset: int, new: bytes) -> bytes:
    return data[:offset] + new + data[offset + len(new) :]


def test_file_that_is_no_elf_is_refused(refusal) -> None:
    assert "not an ELF file" in refusal(b"")
    assert "not an ELF file" in refusal(b"#!/bin/sh\n" * 100)


def test_elf_for_another_processor_is_refused(refusal, valid_elf: bytes) -> None:
    assert "RISC-V" in refusal(patch(valid_elf, 18, b"\x3e\x00"))
    assert "32-bit" in refusal(patch(valid_elf, 4, b"\x01"))


def test_object_file_is_refused(refusal, valid_elf: bytes) -> None:
    assert "an object or a library" in refusal(patch(valid_elf, 16, b"\x01\x00"))


def test_elf_truncated_anywhere_is_refused(refusal, valid_elf: bytes) -> None:
    for length in [
        5,
        40,
        63,
        64,
        65,
        *range(100, len(valid_elf), len(valid_elf) // 40),
        len(valid_elf) - 1,
    ]:
        assert "truncated" in refusal(valid_elf[:length])


def test_elf_without_the_symbol_of_the_stacks_is_refused(refusal, valid_elf: bytes) -> None:
    assert "has no symbols" in refusal(valid_elf.replace(b"uc_stacks", b"xx_stacks"))


def test_operation_kinds_that_are_not_text_are_refused(refusal) -> None:
    """The names of kinds are read when the program is loaded, not after the run."""
    program = next(candidate for candidate in shipped() if len(candidate.kinds) > 1)
    data, kinds = program.data, "|".join(program.kinds).encode()
    assert "section .uc.kinds is damaged" in refusal(data.replace(kinds, b"\xff" * len(kinds)))


def test_elf_that_is_no_workload_is_refused_with_the_reason(refusal, valid_elf: bytes) -> None:
    assert "no boot block" in refusal(valid_elf.replace(b".uc.boot", b".xx.boot"))
    assert "another version" in refusal(valid_elf.replace(abi.MAGIC, b"uncore9\0"))
    assert "no symbols" in refusal(valid_elf.replace(b"uc_record\0", b"xx_record\0"))
    assert "type 'u46'" in refusal(valid_elf.replace(b"\0u64\0", b"\0u46\0"))


def test_randomly_damaged_elf_is_refused_or_can_be_used(tmp_path: Path, valid_elf: bytes) -> None:
    """If a damaged file is accepted, it can also be patched and its symbols can be looked up."""
    rng = random.Random(1)
    refused = 0
    for _ in range(120):
        data = bytearray(valid_elf)
        damaged_bytes = rng.choice([64, 400, len(data)])
        for _ in range(rng.choice([1, 1, 2, 8])):
            offset = rng.randrange(4, damaged_bytes)
            # The section headers are at the end of the file, so damage is often placed there.
            offset = len(data) - offset if rng.random() < 0.3 else offset
            data[offset] = rng.randrange(256)
        try:
            use_everything(Program("bad", tmp_path / "bad.elf", bytes(data)))
        except UserError:
            refused += 1
    assert 10 < refused < 110


def use_everything(program: Program) -> None:
    program.patched_elf(harts=2, values={p.name: p.show(p.default) for p in program.params})
    assert program.patched(harts=2)
    for pc in range(program.entry, program.entry + 64, 4):
        program.symbol_at(pc)
        program.source_line(pc)
    assert program.summary is not None and program.sha256


@pytest.mark.parametrize("path", ["/nonexistent/lock.elf", "/nonexistent/lock.c", "/"])
def test_unreadable_file_is_refused(path: str) -> None:
    with pytest.raises(UserError, match=rf"{path}: cannot be read: "):
        compile(path) if path.endswith(".c") else load(path)


def test_message_about_an_unknown_workload_suggests_the_nearest_name() -> None:
    with pytest.raises(
        UserError, match=r"'lock/tiket'.*Did you mean 'lock/ticket' or .*`uncore list`"
    ):
        find("lock/tiket")


def test_compiler_errors_of_a_c_file_are_shown(tmp_path: Path) -> None:
    source = tmp_path / "mine.c"
    source.write_text('#include "uncore.h"\nvoid uc_main(unsigned id, unsigned n) { oops; }\n')
    with pytest.raises(UserError) as error:
        compile(source)
    message = str(error.value)
    assert message.count("undeclared identifier 'oops'") == 1
    assert f"{source}:2:" in message
    assert "Traceback" not in message and "zig" not in message


def test_c_file_without_uc_main_is_refused(tmp_path: Path) -> None:
    source = tmp_path / "mine.c"
    source.write_text('#include "uncore.h"\n')
    with pytest.raises(UserError, match="uc_main"):
        compile(source)


def test_workload_is_recompiled_if_its_own_header_changes(tmp_path: Path) -> None:
    (tmp_path / "own.h").write_text('UC_PARAM(u64, own, 1, "things", "of my own");\n')
    source = tmp_path / "mine.c"
    source.write_text(
        '#include "uncore.h"\n#include "own.h"\nvoid uc_main(unsigned id, unsigned n) {'
        " (void)id; (void)n; }\n"
    )
    first = compile(source)
    assert (first.name, first.path) == ("mine", source)
    assert compile(source).sha256 == first.sha256
    (tmp_path / "own.h").write_text('UC_PARAM(u64, own, 2, "things", "of my own");\n')
    assert compile(source).parameter("own").default == 2

"""Is an ELF file refused whose parts overlap so much that copies would fill the memory?"""

from __future__ import annotations

import struct
import tracemalloc
from pathlib import Path

import pytest

from uncore.errors import UserError
from uncore.program import Program
from uncore.program.elf import MAX_OVERLAP

EXIT = struct.pack("<3I", 0x05D00893, 0x00000513, 0x00000073)  # li a7, 93; li a0, 0; ecall
BASE, TEXT, SYMBOL = 0x10000, 0x1000, struct.Struct("<IBBHQQ")


def section(kind: int, offset: int, size: int, link: int = 0) -> bytes:
    return struct.pack("<IIQQQQIIQQ", 0, kind, 0, 0, offset, size, link, 0, 8, 24)


def overlapping(loads: int = 1, tables: int = 1, names: tuple[int, ...] = (0,)) -> bytes:
    """Makes a program with `loads` segments of the same bytes, `tables` tables of the same symbols,
    and one symbol for each place in one long text at which its name starts.
    """
    text = EXIT.ljust(16, b"\0") + b"A" * 20_000 + b"\0"
    symbols = b"".join(SYMBOL.pack(at, 0x12, 0, 1, BASE + TEXT, 12) for at in names)
    strings_offset, symbols_offset = TEXT + 16, TEXT + len(text)
    heads = [section(0, 0, 0), section(3, strings_offset, len(text) - 16)]
    heads += [section(2, symbols_offset, len(symbols), 1)] * tables
    heads_offset = symbols_offset + len(symbols)
    code = struct.pack("<IIQQQQQQ", 1, 5, 0, BASE, BASE, TEXT + 16, TEXT + 16, 0x1000)
    data = [
        struct.pack("<IIQQQQQQ", 1, 6, TEXT, 0, 0x100000 + n * 0x10000, 20_000, 20_000, 0x1000)
        for n in range(loads - 1)
    ]
    counts = (64, 56, loads, 64, len(heads), 1)
    ident = b"\x7fELF" + bytes([2, 1, 1, 0]) + bytes(8)
    head = ident + struct.pack("<HHIQQQI6H", 2, 243, 1, BASE + TEXT, 64, heads_offset, 5, *counts)
    return (head + code + b"".join(data)).ljust(TEXT, b"\0") + text + symbols + b"".join(heads)


def read(data: bytes) -> Program:
    return Program("overlapping", Path("overlapping"), data)


def test_many_symbols_may_share_one_name() -> None:
    assert len(read(overlapping(names=(1,) * 500)).symbols) == 500


@pytest.mark.parametrize(
    "data",
    [
        overlapping(loads=50),
        overlapping(tables=2000, names=(1,) * 100),
        overlapping(names=tuple(range(500))),
    ],
    ids=["segments", "tables", "names"],
)
def test_elf_whose_parts_overlap_excessively_is_refused(data: bytes) -> None:
    tracemalloc.start()
    with pytest.raises(UserError, match=r"overlapping: an ELF file whose parts overlap"):
        read(data)
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak_bytes < 4 * MAX_OVERLAP * len(data)

"""Can functions and lines of a stripped Go program be found by its runtime's own table?

The tests build a program of two functions. A third one is inlined into the first of them.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest

from uncore.program import go_table
from uncore.program.elf import Segment
from uncore.program.frames import Frame

TEXT, RODATA, DATA = 0x11000, 0x50000, 0x90000
NAMES = b"\0main.deposit\0main.main\0sync.(*Mutex).Lock\0"
FILES = b"bank.go\0sync/mutex.go\0"
NONE = 0xFFFFFFFF
TREES = RODATA + 0x4000


def encoded_number(value: int) -> bytes:
    return (
        bytes([value & 127 | 128]) + encoded_number(value >> 7) if value > 127 else bytes([value])
    )


def encoded_spans(*spans: tuple[int, int]) -> bytes:
    """Encodes spans (value, end). Each value holds up to the instruction at byte offset `end`."""

    def parts() -> Iterator[bytes]:
        before, start = -1, 0
        for value, end in spans:
            change = value - before
            yield encoded_number(change << 1 if change >= 0 else ~(change << 1)) + encoded_number(
                (end - start) // 2
            )
            before, start = value, end
        yield b"\0"

    return b"".join(parts())


def function_entry(name: bytes, tables: Sequence[int], tree: int) -> bytes:
    """Returns a function's entry: offsets of its name, of its tables of files, lines and inlined
    calls, and of the tree of inlined calls.
    """
    file, line, calls = tables
    head = (0, NAMES.index(name), 0, 0, 0, file, line, 3, 0, 1, 0, 0, 4)
    return struct.pack("<IiiIIIIIIiBBxB7I", *head, 0, 0, calls, NONE, NONE, NONE, tree)


def program() -> tuple[Segment, ...]:
    deposit = [
        encoded_spans((0, 8), (1, 16), (0, 300)),
        encoded_spans((14, 8), (95, 16), (15, 300)),
    ]
    deposit += [encoded_spans((-1, 8), (0, 16), (-1, 300))]
    main = [encoded_spans((0, 20)), encoded_spans((200, 20)), encoded_spans((-1, 20))]
    pieces, table_offsets = b"\0", []
    for table in (*deposit, *main):
        table_offsets.append(len(pieces))
        pieces += table
    units = struct.pack("<2I", 0, FILES.index(b"sync/"))
    first = function_entry(b"main.deposit", table_offsets[:3], 0)
    second = function_entry(b"main.main", table_offsets[3:], NONE)
    functions = struct.pack("<5I", 0, 20, 300, 20 + len(first), 320) + first + second
    parts = [NAMES, units, FILES, pieces, functions]
    offsets = [72 + sum(map(len, parts[:n])) for n in range(5)]
    header = b"\xf1\xff\xff\xff\0\0\2\x08" + struct.pack("<8Q", 2, 2, 0, *offsets)
    table = (header + b"".join(parts)).ljust(TREES - RODATA, b"\0")
    inlined = struct.pack("<4xiii", NAMES.index(b"sync"), 4, 90)
    module = struct.pack("<Q168xQ136xQ", RODATA, TEXT, TREES)
    return (
        Segment(TEXT, 320, 0, bytes(320), 5),
        Segment(RODATA, 0x5000, 0, table + inlined, 4),
        Segment(DATA, 0x1000, 0, bytes(64) + module, 6),
    )


def test_instruction_is_found_in_its_function_and_line() -> None:
    table = go_table.find(program())
    assert table
    assert [(s.name, s.address, s.size) for s in table.functions] == [
        ("main.deposit", TEXT, 300),
        ("main.main", TEXT + 300, 20),
    ]
    assert table.at(TEXT + 4) == (Frame("main.deposit", "bank.go", 14),)
    assert table.at(TEXT + 298) == (Frame("main.deposit", "bank.go", 15),)
    assert table.at(TEXT + 310) == (Frame("main.main", "bank.go", 200),)
    assert table.at(TEXT + 320) == table.at(TEXT - 2) == ()


def test_inlined_function_is_listed_before_its_caller() -> None:
    table = go_table.find(program())
    assert table
    assert table.at(TEXT + 12) == (
        Frame("sync.(*Mutex).Lock", "sync/mutex.go", 95),
        Frame("main.deposit", "bank.go", 14),
    )


def test_program_that_is_not_written_in_go_has_no_go_table() -> None:
    text, table, data = program()
    assert go_table.find((text, data)) is None
    assert go_table.find((text, table)) is None  # no module refers to the table


def test_damaged_table_gives_fewer_frames_but_no_error() -> None:
    text, whole, data = program()
    for position in range(4, 600):
        spoilt = whole.data[:position] + b"\xff" + whole.data[position + 1 :]
        table = go_table.find((text, replace(whole, data=spoilt), data))
        assert table is None or isinstance(table.at(TEXT + 12), tuple)


def functions_named(*places: int) -> tuple[Segment, ...]:
    """Makes functions of two bytes whose names overlap: they start in one text at `places`."""
    names = b"A" * 10_000 + b"\0"
    count = len(places)
    offset = 72 + len(names)  # offset of the table of functions
    first = 8 * count + 4
    heads = [struct.pack("<IiiIIIIIIiBBxB", 0, name, *[0] * 11) for name in places]
    entries = [struct.pack("<II", 2 * n, first + n * len(heads[0])) for n in range(count)]
    functions = b"".join(entries) + struct.pack("<I", 2 * count) + b"".join(heads)
    header = b"\xf1\xff\xff\xff\0\0\2\x08" + struct.pack("<8Q", count, 1, 0, 72, *[offset] * 4)
    module = struct.pack("<Q168xQ136xQ", RODATA, TEXT, TREES)
    return (
        Segment(TEXT, 2 * count, 0, bytes(2 * count), 5),
        Segment(RODATA, 0x20000, 0, header + names + functions, 4),
        Segment(DATA, 0x1000, 0, module, 6),
    )


def test_table_whose_names_overlap_excessively_is_rejected() -> None:
    shared = go_table.find(functions_named(*[0] * 400))
    assert shared and len(shared.functions) == 400
    assert go_table.find(functions_named(*range(400))) is None


def test_unterminated_number_is_an_error_instead_of_an_endless_loop() -> None:
    text, whole, data = program()
    pieces = whole.data.index(encoded_spans((0, 8), (1, 16), (0, 300)))
    spoilt = whole.data[:pieces] + b"\xff" * (len(whole.data) - pieces)
    table = go_table.find((text, replace(whole, data=whole.data + b"\xff" * 300_000), data))
    assert table and table.at(TEXT + 4)
    ends = go_table.GoTable(spoilt, TEXT, TREES, (text,))
    with pytest.raises(ValueError, match="a number without end"):
        ends._number(pieces)

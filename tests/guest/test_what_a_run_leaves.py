"""Are results read correctly from guest memory, and is every address named correctly?"""

from __future__ import annotations

import struct

import pytest
from tests.support.runs import point

from uncore.errors import GuestError
from uncore.program import HartRecord, Names, Program, abi, find, readback

HEAP = 0x8800_0000


class Memory:
    """The initial memory of a program, into which tests write words."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.bytes: dict[int, int] = {}
        for address, data in program.patched(harts=4):
            self.bytes |= dict(enumerate(data, address))

    def write(self, address: int, *words: int) -> None:
        self.bytes |= dict(enumerate(struct.pack(f"<{len(words)}Q", *words), address))

    def read(self, address: int, size: int) -> bytes:
        return bytes(self.bytes.get(address + i, 0) for i in range(size))


@pytest.fixture
def memory() -> Memory:
    return Memory(find("latency/pingpong"))


def test_records_of_harts_are_read_from_guest_memory(memory: Memory) -> None:
    base = memory.program.symbol("uc_record").address
    text = HEAP + 0x100
    memory.write(base, 130, 10, 110, 5, 250, 0, 0)  # 100 of 130 operations are measured
    memory.write(base + abi.CONSTANTS["UC_BLOCK"], 99, 0, 99, 6, 240, 2, text)
    memory.bytes |= dict(enumerate(b"lock/ticket.c:7: a long enough reason\0", text))
    assert readback.records(memory.program, memory.read, 2) == [
        HartRecord(100, 5, 250, 0),
        HartRecord(99, 6, 240, 2, "lock/ticket.c:7: a long enough reason"),
    ]


def test_tables_are_read_from_guest_memory(memory: Memory) -> None:
    table = memory.program.tables[0]
    assert (table.name, table.unit) == ("handoff", "ps")
    assert readback.tables(memory.program, memory.read) == {}  # the table has not been made yet
    memory.write(table.address + 3 * abi.WORD_BYTES, HEAP, 2, 3)
    memory.write(HEAP, 1, 2, 3, 4, 5, 6)
    assert readback.tables(memory.program, memory.read) == {"handoff": ((1, 2, 3), (4, 5, 6))}


def test_table_of_an_impossible_size_is_an_error(memory: Memory) -> None:
    memory.write(memory.program.tables[0].address + 3 * abi.WORD_BYTES, HEAP, 1 << 40, 1 << 40)
    with pytest.raises(GuestError, match="table handoff claims"):
        readback.tables(memory.program, memory.read)


def test_console_report_agrees_with_guest_memory() -> None:
    console = (
        "uc: check failed hart=1 times=2 a.c:3: why not\r\n"
        "uc: hart=0 ops=10 begin=5 end=9 failures=0\r\n"
        "uc: hart=1 ops=11 begin=6 end=8 failures=2\r\n"
        "uc: table=t row=0 cells=1,2\nuc: table=t row=1 cells=3,4\nuc: table=e row=0 cells=\n"
    )
    assert readback.records_from_text(console) == [
        HartRecord(10, 5, 9, 0),
        HartRecord(11, 6, 8, 2, "a.c:3: why not"),
    ]
    assert readback.tables_from_text(console) == {"t": ((1, 2), (3, 4)), "e": ((),)}


def test_every_address_is_named_after_its_object_in_the_source(memory: Memory) -> None:
    program = memory.program
    memory.write(program.symbol("flag").address, HEAP)
    memory.write(program.symbol("mailboxes").address, HEAP + 0x80)
    memory.write(program.tables[0].address + 3 * abi.WORD_BYTES, HEAP + 0x280, 4, 4)
    names = Names.of(program, memory.read, 4)
    assert names.at(HEAP) == "flag"
    assert names.at(HEAP + 0x80) == "mailboxes"
    assert names.at(HEAP + 0x180) == "mailboxes+0x100"
    assert names.at(HEAP + 0x288) == "table handoff+0x8"
    assert names.at(program.symbol("uc_record").address + 0x80) == "uc_record+0x80"
    stacks, stride = program.symbol("uc_stacks").address, abi.CONSTANTS["UC_STACK_STRIDE"]
    assert names.at(stacks + 3 * stride + 8) == "stack of hart 3"
    end = stacks + 4 * stride  # the first byte after the stacks
    assert names.at(end) == f"{end:#x}"
    assert names.at(0x1000) == "0x1000"


@pytest.mark.parametrize("field", ["links", "resolvers", "lines"])
def test_busiest_links_resolvers_and_lines_come_first(field: str) -> None:
    busiest = point("ccx:2x2", "lock/ticket", 4, ops=20)[field]
    shares = [share for _, share in busiest]
    assert shares == sorted(shares, reverse=True)
    assert busiest != sorted(busiest)  # so the order is by share and not by name

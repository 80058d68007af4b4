"""Reads a guest's results, a record for each hart and tables, from memory or from the console.

    records(program, read, harts), tables(program, read)    read(address, size) -> bytes
    records_from_text(console), tables_from_text(console)   if memory cannot be read
    trap_from_text(program, console)                        an exception, with symbol and line
    failure_from_text(console)                              a failed check that ended the program
    fields(records, tables)                                 both, as fields of a Point

Memory and console give the same values.  `read` must return the newest bytes, even if only a cache
holds them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from uncore.errors import GuestError
from uncore.program import abi
from uncore.program.program import Program

Read = Callable[[int, int], bytes]
Cells = tuple[tuple[int, ...], ...]

MAX_TEXT_BYTES = 4096
MAX_TABLE_CELLS = abi.CONSTANTS["UC_MAX_HARTS"] ** 2


@dataclass(frozen=True)
class HartRecord:
    """Results of one hart."""

    ops: int
    begin_ns: int
    end_ns: int
    failures: int
    why: str = ""  # the first failed check: "file:line: reason"


def records(program: Program, read: Read, harts: int) -> list[HartRecord]:
    """Returns one record per hart, in order."""
    stride, base = abi.CONSTANTS["UC_BLOCK"], program.symbol("uc_record").address
    block = read(base, harts * stride)
    return [_record(read, block[h * stride : (h + 1) * stride]) for h in range(harts)]


def _record(read: Read, block: bytes) -> HartRecord:
    words = abi.unpack("uc_record", block)
    why = _text(read, words["why"]) if words["why"] else ""
    ops = (words["ended_at"] if words["end_ns"] else words["ops"]) - words["begun_at"]
    return HartRecord(ops, words["begin_ns"], words["end_ns"], words["failures"], why)


def _text(read: Read, address: int) -> str:
    text = bytearray()
    while len(text) < MAX_TEXT_BYTES:
        text += read(address + len(text), 16)
        if 0 in text:
            break
    return text.partition(b"\0")[0].decode(errors="replace")


def tables(program: Program, read: Read) -> dict[str, Cells]:
    """Returns the rows of each table that the guest has filled."""
    tables_ = {}
    for table in program.tables:
        words = abi.unpack("uc_table", read(table.address, abi.size("uc_table")))
        rows, cols = words["rows"], words["cols"]
        if not words["cells"]:
            continue
        if rows * cols > MAX_TABLE_CELLS:
            raise GuestError(f"{program.name}: table {table.name} claims {rows} x {cols} cells")
        data = memoryview(read(words["cells"], rows * cols * abi.WORD_BYTES)).cast("Q")
        tables_[table.name] = tuple(tuple(data[r * cols : (r + 1) * cols]) for r in range(rows))
    return tables_


_RECORD_PATTERN = re.compile(
    r"^uc: hart=\d+ ops=(\d+) begin=(\d+) end=(\d+) failures=(\d+)\r?$", re.MULTILINE
)
_WHY_PATTERN = re.compile(r"^uc: check failed hart=(\d+) times=\d+ (.*?)\r?$", re.MULTILINE)
_ROW_PATTERN = re.compile(r"^uc: table=(\w+) row=\d+ cells=([\d,]*)\r?$", re.MULTILINE)


def records_from_text(console: str) -> list[HartRecord]:
    """Reads the records that a guest has printed; only the first harts that failed have reasons."""
    why = {int(hart): text for hart, text in _WHY_PATTERN.findall(console)}
    records = []
    for hart, fields in enumerate(_RECORD_PATTERN.findall(console)):
        ops, begin, end, failures = map(int, fields)
        records.append(HartRecord(ops, begin, end, failures, why.get(hart, "")))
    return records


def failure_from_text(console: str) -> str | None:
    """Returns the first failed check of a guest that ended without records, or None."""
    match = _WHY_PATTERN.search(console)
    return f"hart {match[1]}: {match[2]}" if match else None


# The exceptions of the privileged architecture, by mcause.
_EXCEPTIONS = {
    0: "instruction address misaligned",
    1: "instruction access fault",
    2: "illegal instruction",
    4: "load address misaligned",
    5: "load access fault",
    6: "store or atomic address misaligned",
    7: "store or atomic access fault",
}
_TRAP_PATTERN = re.compile(
    r"^uc: trap hart=(\d+) mcause=(\w+) mepc=(\w+) mtval=(\w+)", re.MULTILINE
)


def trap_from_text(program: Program, console: str) -> str | None:
    """Describes the exception that ended a run, with its source line; None if there was none."""
    if not (trap := _TRAP_PATTERN.search(console)):
        return None
    cause, pc, value = (int(trap[i], 16) for i in (2, 3, 4))
    what = _EXCEPTIONS.get(cause, f"exception with mcause {cause:#x}")
    symbol = program.symbol_at(pc) or "no symbol"
    source = program.source_line(pc) or "no line known"
    return f"hart {trap[1]}: {what} at {pc:#x} {symbol} ({source}), mtval {value:#x}"


def tables_from_text(console: str) -> dict[str, Cells]:
    """Reads the tables that a guest has printed."""
    tables_: dict[str, Cells] = {}
    for name, cells in _ROW_PATTERN.findall(console):
        tables_[name] = (*tables_.get(name, ()), tuple(map(int, filter(None, cells.split(",")))))
    return tables_


def fields(records: Sequence[HartRecord], tables: dict[str, Cells]) -> dict[str, Any]:
    """Returns the fields of a Point that follow from tables and at least one record."""
    begin = min(record.begin_ns for record in records)
    end = max(record.end_ns for record in records)
    return {
        "threads": len(records),
        "ops": sum(record.ops for record in records),
        "elapsed_ps": (end - begin) * 1000,
        "thread_ops": [record.ops for record in records],
        "thread_ps": [
            ((record.begin_ns - begin) * 1000, (record.end_ns - begin) * 1000) for record in records
        ],
        "tables": {name: [list(row) for row in rows] for name, rows in tables.items()},
        "failures": [record.why for record in records if record.failures],
    }

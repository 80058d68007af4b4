"""Is floating point exact, in every instruction and rounding mode, compared with rational numbers
and with QEMU?
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from tests.isa import guest, programs, qemu
from tests.isa.floating_variants import ROWS, Variant, variants
from tests.isa.ieee import DOUBLE, OPERATIONS, SINGLE, Format, Result
from tests.isa.operands import Row, rows


def program(f: Format, table: list[Row]) -> str:
    # The table also has rows of the other format, which conversions need as operands.
    data = "\n".join(f".dword {', '.join(map(hex, row))}" for row in table)
    enable = "li x29, 0x2000\ncsrs mstatus, x29\n"
    code = "".join(variant.program() for variant in variants(f))
    return f"{programs.START}{enable}{code}j exit_guest\n.balign 8\nrows: {data}\n{programs.END}"


@cache
def expected(name: str, f: Format, mode: str, row: Row) -> Result:
    return OPERATIONS[name].execute(f, mode, row)


def results(log: bytes, f: Format, table: list[Row]) -> Iterator[tuple[Variant, Row, Result]]:
    pairs = iter(struct.iter_unpack("<QQ", log))
    for variant in variants(f):
        for row in table:
            yield variant, row, next(pairs)


@pytest.mark.parametrize("f", [SINGLE, DOUBLE], ids=["single", "double"])
def test_floating_point_instructions_have_exact_results_and_flags(
    f: Format, tmp_path: Path
) -> None:
    other_format = DOUBLE if f is SINGLE else SINGLE
    table = [*rows(1, f, ROWS - 30), *rows(2, other_format, 30)]
    image = guest.assemble(program(f, table), tmp_path, guest.G)
    log = qemu.on_hart(image)
    for variant, row, result in results(log, f, table):
        correct = expected(variant.name, f, variant.mode, row)
        if result != correct:
            texts = [" ".join(map(hex, values)) for values in (row, result, correct)]
            pytest.fail(f"{variant.text} ({variant.mode}) of {texts[0]}: {texts[1]} not {texts[2]}")
    if qemu.QEMU:
        assert log == qemu.on_qemu(image, tmp_path)

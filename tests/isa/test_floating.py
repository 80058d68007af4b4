"""Is floating point exact, each instruction in each mode, as rational numbers and QEMU have it?"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.isa import guest, programs, qemu
from tests.isa.ieee import DOUBLE, MODES, OPERATIONS, SINGLE, Format, Result
from tests.isa.operands import Row, rows

ROWS = 120
FRM = 5  # bit of fcsr at which the rounding mode begins


class Variant(NamedTuple):
    """An instruction of one format in one rounding mode, its own or that of frm."""

    name: str
    f: Format
    mode: str
    own: bool

    @property
    def text(self) -> str:
        other = DOUBLE if self.f is SINGLE else SINGLE
        word = "w" if self.f is SINGLE else "d"
        names = self.name.replace("F", self.f.letter).replace("O", other.letter)
        operation = OPERATIONS[self.name]
        registers = [
            f"x{n}" if kind == "x" else f"f{n}" for n, kind in enumerate(operation.kinds, 5)
        ]
        mode = [self.mode] if self.own and operation.rounds else []
        return f"{names.replace('W', word)} {', '.join([*registers, *mode])}"

    @property
    def frm(self) -> int:
        """Another one than the instruction's own."""
        return (MODES.index(self.mode) + self.own) % len(MODES)

    def program(self, count: int = ROWS) -> str:
        """Stores the result and the flags of each row."""
        save = "sd x5" if OPERATIONS[self.name].kinds[0] == "x" else "fsd f5"
        return f"""
            la x20, rows
            li x21, {count}
        1:  {"; ".join(f"ld x{n + 6}, {8 * n}(x20); fld f{n + 6}, {8 * n}(x20)" for n in range(3))}
            li x22, {self.frm << FRM}
            csrw fcsr, x22
            {self.text}
            csrr x22, fflags
            {save}, 0(x31)
            sd x22, 8(x31)
            addi x31, x31, 16
            addi x20, x20, 24
            addi x21, x21, -1
            bnez x21, 1b
        """


def variants(f: Format) -> Iterator[Variant]:
    exact = ("fcvt.F.O", "fcvt.F.w", "fcvt.F.wu") if f is DOUBLE else ()  # no mode has a name there
    for name, operation in OPERATIONS.items():
        for mode in MODES if operation.rounds else MODES[:1]:
            for own in (True, False) if operation.rounds and name not in exact else (False,):
                yield Variant(name, f, mode, own)


def program(f: Format, table: list[Row]) -> str:
    # A narrow operand of a conversion to the wide format is one of the narrow format's rows.
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
def test_floating_point_is_exact(f: Format, tmp_path: Path) -> None:
    other = DOUBLE if f is SINGLE else SINGLE
    table = [*rows(1, f, ROWS - 30), *rows(2, other, 30)]
    image = guest.assemble(program(f, table), tmp_path, guest.G)
    ours = qemu.on_hart(image)
    for variant, row, got in results(ours, f, table):
        expected_ = expected(variant.name, f, variant.mode, row)
        if got != expected_:
            texts = [" ".join(map(hex, what)) for what in (row, got, expected_)]
            pytest.fail(f"{variant.text} ({variant.mode}) of {texts[0]}: {texts[1]} not {texts[2]}")
    if qemu.QEMU:
        assert ours == qemu.on_qemu(image, tmp_path)

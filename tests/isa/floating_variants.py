"""Every floating-point instruction in every format and rounding mode, as assembly text.

variants(f)    every Variant of a format: its `text`, its frm and the `program` that applies it

Nothing here needs a simulator, so tests of a wheel may import it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tests.isa.ieee import DOUBLE, MODES, OPERATIONS, SINGLE, Format

ROWS = 120
FRM = 5  # bit of fcsr at which the rounding mode begins


class Variant(NamedTuple):
    """An instruction of one format in one rounding mode, which it states or takes from frm."""

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
        """The mode to put into frm: another one than that which the instruction states."""
        return (MODES.index(self.mode) + self.own) % len(MODES)

    def program(self, count: int = ROWS) -> str:
        """Returns a program that stores the result and the flags of each row."""
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
    exact = ("fcvt.F.O", "fcvt.F.w", "fcvt.F.wu") if f is DOUBLE else ()  # without modes
    for name, operation in OPERATIONS.items():
        for mode in MODES if operation.rounds else MODES[:1]:
            for own in (True, False) if operation.rounds and name not in exact else (False,):
                yield Variant(name, f, mode, own)

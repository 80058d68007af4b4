"""Generates every floating-point instruction in every format and rounding mode, as assembly text.

variants(f) yields every Variant of a format: its `text`, its frm and the `program` that executes
it. Nothing here needs a simulator, so that tests of a wheel may import it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tests.isa.ieee import DOUBLE, MODES, OPERATIONS, SINGLE, Format

ROWS = 120
FRM_SHIFT = 5  # lowest bit of the rounding mode in fcsr


class Variant(NamedTuple):
    """An instruction of one format in one rounding mode. If `states_mode` is true, the instruction
    states the mode; otherwise it takes the mode from frm.
    """

    name: str
    f: Format
    mode: str
    states_mode: bool

    @property
    def text(self) -> str:
        other = DOUBLE if self.f is SINGLE else SINGLE
        move_letter = "w" if self.f is SINGLE else "d"
        names = self.name.replace("F", self.f.letter).replace("O", other.letter)
        operation = OPERATIONS[self.name]
        registers = [
            f"x{n}" if kind == "x" else f"f{n}" for n, kind in enumerate(operation.kinds, 5)
        ]
        mode_operand = [self.mode] if self.states_mode and operation.rounds else []
        return f"{names.replace('W', move_letter)} {', '.join([*registers, *mode_operand])}"

    @property
    def frm(self) -> int:
        """The mode in frm. If the instruction states its mode, frm has a different one."""
        return (MODES.index(self.mode) + self.states_mode) % len(MODES)

    def program(self, count: int = ROWS) -> str:
        """Returns a program that stores the result and the flags of each row."""
        save = "sd x5" if OPERATIONS[self.name].kinds[0] == "x" else "fsd f5"
        return f"""
            la x20, rows
            li x21, {count}
        1:  {"; ".join(f"ld x{n + 6}, {8 * n}(x20); fld f{n + 6}, {8 * n}(x20)" for n in range(3))}
            li x22, {self.frm << FRM_SHIFT}
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
    # exact conversions, which have no rounding mode
    exact = ("fcvt.F.O", "fcvt.F.w", "fcvt.F.wu") if f is DOUBLE else ()
    for name, operation in OPERATIONS.items():
        for mode in MODES if operation.rounds else MODES[:1]:
            for states_mode in (
                (True, False) if operation.rounds and name not in exact else (False,)
            ):
                yield Variant(name, f, mode, states_mode)

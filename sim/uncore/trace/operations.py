"""Finds the operations of a traced run by the markers in the program that begin and end them.

    first_begin(harts) -> ps                time at which the first hart begins the measured part
    marked_operations(harts) -> [MarkedOperation(hart, begin, end, batch)]   in the order of ends

The engine (markers.hh) measures latencies by the same rules.  An operation begins at START or
ROI_ON, or when the previous operation ends; OP ends one operation, or as many as its value says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from uncore.program import abi

if TYPE_CHECKING:
    from polars import DataFrame

MARKER_CODE_SHIFT = 56  # the upper 8 bits of a marker's value are its code


class MarkedOperation(NamedTuple):
    hart: int
    begin: int  # ps
    end: int  # ps
    batch: int  # number of operations that the marker ended at once

    @property
    def mean_ps(self) -> int:
        """Returns the mean time of one operation, in ps."""
        return (self.end - self.begin) // self.batch


def marker(value: int) -> tuple[int, int]:
    """Splits a marker's value into its code and its argument."""
    return value >> MARKER_CODE_SHIFT, value & ((1 << MARKER_CODE_SHIFT) - 1)


def first_begin(harts: DataFrame) -> int:
    """Returns the time in ps when the first hart begins the measured part; 0 without markers."""
    codes = [abi.CONSTANTS[f"UC_MARK_{name}"] for name in ("START", "ROI_ON")]
    marks = harts.filter(harts["what"] == "marks").iter_rows(named=True)
    return next((int(row["at"]) for row in marks if marker(row["value"])[0] in codes), 0)


def marked_operations(harts: DataFrame) -> list[MarkedOperation]:
    code = {name: abi.CONSTANTS[f"UC_MARK_{name}"] for name in ("START", "ROI_ON", "ROI_OFF", "OP")}
    began: dict[int, int] = {}
    operations = []
    for row in harts.iter_rows(named=True):
        if row["what"] != "marks":
            continue
        (kind, value), hart = marker(row["value"]), row["hart"]
        if kind in (code["START"], code["ROI_ON"]):
            began[hart] = row["at"]
        elif kind == code["ROI_OFF"]:
            began.pop(hart, None)
        elif kind == code["OP"] and hart in began:
            operations.append(MarkedOperation(hart, began[hart], row["at"], max(1, value)))
            began[hart] = row["at"]
    return sorted(operations, key=lambda operation: (operation.end, operation.hart))

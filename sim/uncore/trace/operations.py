"""Operations of a traced run, as the program's markers tell where they begin and end.

    begin(harts) -> when the first hart begins what is measured
    of(harts) -> [MarkedOperation(hart, begin, end, batch)]      in the order of their ends

The counterpart of sim/native/guest/markers.hh, which counts latencies: one begins at START or
ROI_ON, or when the last one has ended; OP ends it, or as many as it says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from uncore.program import abi

if TYPE_CHECKING:
    from polars import DataFrame

CODE = 56  # a marker's code stands above so many bits of its value


class MarkedOperation(NamedTuple):
    hart: int
    begin: int  # ps
    end: int
    batch: int  # operations that it stands for

    @property
    def took(self) -> int:
        """Each of them."""
        return (self.end - self.begin) // self.batch


def marker(value: int) -> tuple[int, int]:
    """Code, and the value beside it."""
    return value >> CODE, value & ((1 << CODE) - 1)


def begin(harts: DataFrame) -> int:
    """When the first hart begins what is measured; 0 where none says so."""
    codes = [abi.CONSTANTS[f"UC_MARK_{name}"] for name in ("START", "ROI_ON")]
    marks = harts.filter(harts["what"] == "marks").iter_rows(named=True)
    return next((int(row["at"]) for row in marks if marker(row["value"])[0] in codes), 0)


def of(harts: DataFrame) -> list[MarkedOperation]:
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

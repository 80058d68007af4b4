"""C10. A load that was done ahead is done again when another hart of the core writes its line.

Interface: `looked` after a load, `atomic` before one; `overtake` at a write; `again` before a load.
Invariant: a hart is overtaken only between two loads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from uncore.engine.reference.access import Access
    from uncore.engine.reference.hart import Hart


def looked(hart: Hart, number: int) -> None:
    """C10.1: it has loaded from this line."""
    hart.looked = number


def atomic(hart: Hart) -> None:
    """C10.1: what follows an AMO or LR was not loaded ahead of it."""
    hart.looked = None


def overtake(by: Hart, number: int) -> None:
    """C10.2: a hart writes; the others whose last load was from the line have come too early."""
    for hart in by.core.harts:
        if hart is not by and hart.looked == number:
            hart.overtaken = True


def again(hart: Hart, access: Access) -> int:
    """C10.2: what a load takes longer that looks again; a miss takes what it takes."""
    overtaken, hart.overtaken = hart.overtaken, False
    return hart.core.costs.mispredict if overtaken and hart.looked == access.line else 0

"""C10. A load that was done ahead is done anew when another hart of the core writes its line.

Interface: `loaded` after a load, `again` before one; `atomic` before an AMO or LR; `overtake` at a
write; `lost` where the core gives a line up.
Invariant: who is overtaken has loaded from a line that the core has had ever since.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from uncore.engine.reference.access import Access
    from uncore.engine.reference.core import Core
    from uncore.engine.reference.hart import Hart


def loaded(hart: Hart, number: int) -> None:
    """C10.1: it has loaded from this line."""
    hart.loaded = number


def atomic(hart: Hart) -> None:
    """C10.1: what follows an AMO or LR was not loaded ahead of it."""
    hart.loaded = None


def lost(core: Core, number: int) -> None:
    """C10.1: nobody looks again at a line that has been away."""
    for hart in core.harts:
        if hart.loaded == number:
            hart.loaded = None


def overtake(by: Hart, number: int) -> None:
    """C10.2: a hart writes; the others whose last load was from the line have come too early."""
    for hart in by.core.harts:
        if hart is not by and hart.loaded == number:
            hart.overtaken = True


def again(hart: Hart, access: Access) -> int:
    """C10.2: what a load takes longer that looks again. If it has to wait now, it was not done
    ahead, whoever writes meanwhile."""
    overtaken, hart.overtaken = hart.overtaken, False
    loaded, hart.loaded = hart.loaded, None
    return hart.core.costs.mispredict if overtaken and loaded == access.line else 0

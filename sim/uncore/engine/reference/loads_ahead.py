"""C10. A load that was executed speculatively is executed again if another hart of the core has
written its line.

Interface: `loaded` is called after a load, `redo_time` before one, `note_atomic` before an AMO or
LR, `overtake` at a write, and `lost` when the core loses a line. Invariant: the core has held the
line of an overtaken hart's last load ever since that load.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from uncore.engine.reference.access import Access
    from uncore.engine.reference.core import Core
    from uncore.engine.reference.hart import Hart


def loaded(hart: Hart, number: int) -> None:
    """C10.1: records that the hart has loaded from this line."""
    hart.loaded = number


def note_atomic(hart: Hart) -> None:
    """C10.1: forgets the last load, because loads after an AMO or LR are not executed ahead of
    it.
    """
    hart.loaded = None


def lost(core: Core, number: int) -> None:
    """C10.1: forgets the loads from a line that the core has lost."""
    for hart in core.harts:
        if hart.loaded == number:
            hart.loaded = None


def overtake(writer: Hart, number: int) -> None:
    """C10.2: called when a hart writes. Other harts whose last load was from that line may have
    loaded too early.
    """
    for hart in writer.core.harts:
        if hart is not writer and hart.loaded == number:
            hart.overtaken = True


def redo_time(hart: Hart, access: Access) -> int:
    """C10.2: returns the additional time of a load, if it must be executed again. Forgets the last
    load, so that a load which has to wait does not take this time again.
    """
    overtaken, hart.overtaken = hart.overtaken, False
    loaded, hart.loaded = hart.loaded, None
    return hart.core.costs.mispredict if overtaken and loaded == access.line else 0

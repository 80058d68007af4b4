"""C9. Contended lines: only one hart of the core, the line's holder, may use such a line until the
core has answered a probe for it.

Interface: `Contended` is a core's state for one line; `request_in_turn` lets the core's harts
request the line again after the probe. The grant of the line tells whether other agents wait for
it (`Entry.others_wait`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from uncore.engine.reference.access import Access
    from uncore.engine.reference.core import Core
    from uncore.engine.reference.hart import Hart


class Contended:
    """The contention for one line among the harts of a core, and the line's holder."""

    def __init__(self) -> None:
        self.holder = 0  # index among the harts of the core
        self.contended = False

    def requested(self, hart: int) -> None:
        """C9.1: records the hart for which the line is requested. It becomes the holder, if the
        line is contended when it arrives.
        """
        self.holder = hart

    def begins(self, others_wait: bool) -> None:
        """C9.2, C9.3: called when the line has arrived. `others_wait`: other cores wait for the
        line at the resolver, or a probe waits here.
        """
        self.contended = others_wait

    def probe_waits(self) -> None:
        """C9.3: called when a probe begins to wait for the end of the line's hold or lock."""
        self.contended = True

    def ends(self) -> int | None:
        """C9.4: called when the core has answered a probe. Returns the holder, if the line was
        contended.
        """
        was_contended, self.contended = self.contended, False
        return self.holder if was_contended else None

    def must_wait(self, hart: Hart) -> bool:
        """C9.5: returns True if the hart's pending access must keep waiting, because another hart
        is the holder.
        """
        return self.contended and hart.index != self.holder

    def access_must_wait(self, hart: Hart, access: Access) -> bool:
        """C9.6: returns True if an access that begins must wait. A load need not wait, and neither
        need the SC of a hart whose LR has locked the line.
        """
        is_exempt = access.kind == "load" or hart.locked == access.line
        return self.must_wait(hart) and not is_exempt


def request_in_turn(core: Core, line: int, holder: int) -> None:
    """C9.7: lets the harts request the line in round-robin order after the holder, each for its
    oldest store or its pending access.
    """
    for hart in (*core.harts[holder + 1 :], *core.harts[: holder + 1]):
        if core.leaves(hart, line):
            core.drain(hart)
        elif hart.waits_for(line):
            core.attempt(hart)

"""C9. A contended line belongs to one hart, its holder, until a probe of it is answered.

Interface: `Contended` is what a core knows of it for one line, `ask_in_turn` what its harts do
afterwards.  The resolver that gives the line says whether others wait (`Entry.others_wait`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from uncore.engine.reference.access import Access
    from uncore.engine.reference.core import Core
    from uncore.engine.reference.hart import Hart


class Contended:
    """Contention for one line among the harts of a core, and its holder then."""

    def __init__(self) -> None:
        self.holder = 0  # among the harts of the core
        self.contended = False

    def requested(self, hart: int) -> None:
        """C9.1: should the line come contended, its holder is the hart that it is asked for."""
        self.holder = hart

    def begins(self, others_wait: bool) -> None:
        """C9.2, C9.3: the line has come; others wait above, or a probe waits here."""
        self.contended = others_wait

    def probe_waits(self) -> None:
        """C9.3: a probe begins to wait for the line's hold or lock."""
        self.contended = True

    def ends(self) -> int | None:
        """C9.4: the core has answered a probe.  Returns the holder of a contended line."""
        was, self.contended = self.contended, False
        return self.holder if was else None

    def bars(self, hart: Hart) -> bool:
        """C9.5: what another hart waits for goes on waiting."""
        return self.contended and hart.index != self.holder

    def bars_access(self, hart: Hart, access: Access) -> bool:
        """C9.6: of what another hart begins, loads go on, and the SC of an LR with a lock."""
        goes_on = access.kind == "load" or hart.locked == access.line
        return self.bars(hart) and not goes_on


def ask_in_turn(core: Core, line: int, holder: int) -> None:
    """C9.7: in a circle that begins behind the holder, each for its oldest store or its access."""
    for hart in (*core.harts[holder + 1 :], *core.harts[: holder + 1]):
        if core.leaves(hart, line):
            core.drain(hart)
        elif hart.waits_for(line):
            core.attempt(hart)

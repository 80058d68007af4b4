"""Where in the user's own source an access is that a library, or the kernel, makes for it.

sites = Sites(program, callers)     `callers` of run.lines(): a column for each depth
sites.at(pc, number)                Site("bank.cc:14", ("pthread_mutex_lock", ...))
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from uncore.program.frames import Frame, own

if TYPE_CHECKING:
    from uncore.program.program import Program

Column = Any  # of NumPy
NO_END = 1 << 62
_WITHIN_CALL = 2  # bytes before a return address that are of the call for sure


class Site(NamedTuple):
    """The innermost line of the user's own files, and the functions from there inwards."""

    source: str
    chain: tuple[str, ...] = ()  # the innermost first, the user's last


class Sites:
    """The sites of one run."""

    def __init__(self, program: Program, callers: dict[str, Column]) -> None:
        self._program = program
        self._chains = np.stack([*callers.values()], axis=1).tolist()
        self.at = cache(self._at)

    def _at(self, pc: int, number: int) -> Site:
        if not self._program.linux:
            return Site(self._program.source_line(pc) or "")
        frames = self._frames(pc)
        for back in self._chains[number]:  # as far as the user's own files
            if not back or any(own(frame.path) for frame in frames):
                break
            frames += self._frames(back - _WITHIN_CALL)
        return _site(frames)

    def heap(self, allocations: dict[str, Column]) -> list[tuple[int, int, str]]:
        """First address, end and name of what was allocated last at each address, by address."""
        addresses, sizes, callers = (allocations[k] for k in ("address", "size", "callers"))
        starts, back = np.unique(addresses[::-1], return_index=True)
        last = len(addresses) - 1 - back
        ends = np.minimum(starts + sizes[last], np.append(starts[1:], NO_END))
        names = {n: self._allocated_by(n) for n in np.unique(callers[last]).tolist()}
        named = [names[n] for n in callers[last].tolist()]
        return list(zip(starts.tolist(), ends.tolist(), named, strict=True))

    def _allocated_by(self, number: int) -> str:
        frames = self._called_by(number) or (Frame("somewhere", "", 0),)
        if not any(own(frame.path) for frame in frames):  # a runtime, for itself: who asked it
            frames = tuple(f for f in frames if f.path != frames[0].path) or frames
        site = _site(frames)
        file = site.source.rpartition("/")[2]
        return f"heap of {file or site.chain[-1]}"

    def _called_by(self, number: int) -> tuple[Frame, ...]:
        back = [address for address in self._chains[number] if address]
        return tuple(f for address in back for f in self._frames(address - _WITHIN_CALL))

    def _frames(self, pc: int) -> tuple[Frame, ...]:
        return self._program.frames.at(pc) or (Frame(self._program.function_at(pc), "", 0),)


def _site(frames: tuple[Frame, ...]) -> Site:
    users = next((n for n, frame in enumerate(frames) if own(frame.path)), None)
    if users is None:  # in no file of the user's: where the program says something at least
        users = next((n for n, frame in enumerate(frames) if frame.path), 0)
    return Site(frames[users].place, tuple(filter(None, map(_worded, frames[: users + 1]))))


def _worded(frame: Frame) -> str:
    return f"{frame.function} {frame.place}".strip()


def with_callers(uses: dict[str, Column]) -> dict[str, Column]:
    """Accesses that cost no time have the callers of those at the same pc that cost most."""
    known = np.flatnonzero(uses["callers"])
    by_cost = known[np.lexsort((uses["waited_ps"][known], uses["pc"][known]))]
    pcs = uses["pc"][by_cost]
    last = np.append(pcs[1:] != pcs[:-1], True)[: len(pcs)]  # of each pc, the costliest
    pcs, numbers = pcs[last], uses["callers"][by_cost][last]
    at = np.minimum(np.searchsorted(pcs, uses["pc"]), max(len(pcs) - 1, 0))
    if not len(pcs):
        return uses
    dearest = np.where(pcs[at] == uses["pc"], numbers[at], 0)
    return uses | {"callers": np.where(uses["callers"] > 0, uses["callers"], dearest)}

"""Where in the user's own source an access is that a library, or the kernel, makes for it.

sites = Sites(program, callers)     `callers` of run.lines(): a column for each depth
sites.at(pc, number)                Site("bank.cc:14", ("pthread_mutex_lock", ...))
"""

from __future__ import annotations

from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from uncore.program.frames import Frame, own

if TYPE_CHECKING:
    from collections.abc import Iterator

    from uncore.program.program import Program

Column = Any  # of NumPy
NO_END = 1 << 62
_WITHIN_CALL = 2  # bytes before a return address that are of the call for sure


class Site(NamedTuple):
    """The innermost line of the user's own files, and the functions from there inwards."""

    source: str
    chain: tuple[str, ...] = ()  # the innermost first, the user's last


class Within(NamedTuple):
    """What the program's tables say of one instruction."""

    frames: tuple[Frame, ...]
    words: tuple[str, ...]  # of each frame
    site: Site | None  # where one of them is the user's own


class Sites:
    """The sites of one run."""

    def __init__(self, program: Program, callers: dict[str, Column]) -> None:
        self._program = program
        self._chains = np.stack([*callers.values()], axis=1).tolist()
        self.at, self._within = cache(self._at), cache(self._found_within)

    def _at(self, pc: int, number: int) -> Site:
        if not self._program.linux:
            return Site(self._program.source_line(pc) or "")
        frames: tuple[Frame, ...] = ()
        words: tuple[str, ...] = ()
        for within in chain((self._within(pc),), self._callers(number)):
            if within.site:
                return Site(within.site.source, words + within.site.chain)
            frames, words = frames + within.frames, words + within.words
        return self._site(frames)

    def _callers(self, number: int) -> Iterator[Within]:
        return (self._within(back - _WITHIN_CALL) for back in self._chains[number] if back)

    def _found_within(self, pc: int) -> Within:
        frames = self._program.frames.at(pc) or (Frame(self._program.function_at(pc), "", 0),)
        users = any(map(self._program.frames.users, frames))
        return Within(frames, _words(frames), self._site(frames) if users else None)

    def _site(self, frames: tuple[Frame, ...]) -> Site:
        """In no file of the user's: in a library's header, or where the program says something."""
        ways = self._program.frames.users, lambda f: own(f.path), lambda f: bool(f.path)
        found = (next((n for n, f in enumerate(frames) if way(f)), None) for way in ways)
        last = next((n for n in found if n is not None), 0)
        return Site(frames[last].place, _words(frames[: last + 1]))

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
        frames: tuple[Frame, ...] = ()
        for within in self._callers(number):
            frames += within.frames
            if within.site:
                break
        frames = frames or (Frame("somewhere", "", 0),)
        if not any(own(frame.path) for frame in frames):  # a runtime, for itself: who asked it
            frames = tuple(f for f in frames if f.path != frames[0].path) or frames
        site = self._site(frames)
        file = site.source.rpartition("/")[2]
        return f"heap of {file or site.chain[-1]}"


def _words(frames: tuple[Frame, ...]) -> tuple[str, ...]:
    return tuple(filter(None, (f"{f.function} {f.place}".strip() for f in frames)))


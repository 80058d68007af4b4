"""Finds the place in the user's own source from which a library or the kernel makes an access.

sites = Sites(program, callers)     `callers` of run.lines(): a column for each depth
sites.number(pc, number)            of Site("bank.cc:14", ("pthread_mutex_lock", ...)) in sites.all
sites.function(pc)                  "pthread_mutex_lock"
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from uncore.program.frames import WITHIN_CALL, Frame, own

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from uncore.program.program import Program

Column = Any  # of NumPy
NO_END = 1 << 62


class Site(NamedTuple):
    """The innermost line of the user's own files, and the functions from there inwards."""

    source: str
    chain: tuple[str, ...] = ()  # the innermost first, the user's last

    def behind(self, inner: tuple[str, ...]) -> Site:
        return Site(self.source, inner + self.chain)


# In a source file of the user's; in any file but a toolchain's; wherever something is known.
Ways = tuple[Site | None, Site | None, Site | None]


class Within(NamedTuple):
    """Facts from the program's tables about one instruction."""

    frames: tuple[Frame, ...]
    words: tuple[str, ...]  # of each frame
    ways: Ways


class Sites:
    """The sites of one run."""

    def __init__(self, program: Program, callers: dict[str, Column]) -> None:
        self._program = program
        self._chains = np.stack([*callers.values()], axis=1).tolist()
        self.all: list[Site] = []
        self._numbers: dict[Site, int] = {}
        self.number, self._within = cache(self._numbered), cache(self._found_within)
        self._beyond = cache(self._found_beyond)
        self.function = cache(program.function_at)

    def _numbered(self, pc: int, callers: int) -> int:
        site = self._at(pc, callers)
        number = self._numbers.setdefault(site, len(self.all))
        if number == len(self.all):
            self.all.append(site)
        return number

    def _at(self, pc: int, number: int) -> Site:
        if not self._program.linux:
            return Site(self._program.source_line(pc) or "")
        _, words, ways = self._within(pc)
        if ways[0]:
            return ways[0]
        for here, there in zip(ways, self._beyond(number), strict=True):
            if site := here or (there and there.behind(words)):
                return site
        return Site("", words[:1])

    def _found_beyond(self, number: int) -> Ways:
        """Places of the calls beyond the innermost one."""
        first = second = third = None
        passed: tuple[str, ...] = ()
        for _, words, (users, own_, known) in self._callers(number):
            if users:
                first = users.behind(passed)
            if own_ and not second:
                second = own_.behind(passed)
            if known and not third:
                third = known.behind(passed)
            if first:
                break
            passed += words
        return first, second, third

    def _callers(self, number: int) -> Iterator[Within]:
        return (self._within(back - WITHIN_CALL) for back in self._chains[number] if back)

    def _found_within(self, pc: int) -> Within:
        frames = self._program.frames.at(pc) or (Frame(self._program.function_at(pc), "", 0),)
        words = tuple(f"{f.function} {f.place}".strip() for f in frames)
        return Within(frames, tuple(filter(None, words)), self._ways(frames, words))

    def _ways(self, frames: Sequence[Frame], words: Sequence[str] = ()) -> Ways:
        def first(wanted: Callable[[Frame], bool]) -> Site | None:
            at = next((n for n, frame in enumerate(frames) if wanted(frame)), None)
            chain = filter(None, words[: (at or 0) + 1])
            return None if at is None else Site(frames[at].place, tuple(chain))

        users = self._program.frames.users
        return first(users), first(lambda f: own(f.path)), first(lambda f: bool(f.path))

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
        first, second, third = self._beyond(number)
        site = first or second or self._asked(number) or third
        if not site:
            return f"heap of {self._functions(number) or 'somewhere'}"
        return f"heap of {site.source.rpartition('/')[2]}"

    def _asked(self, number: int) -> Site | None:
        """The site that asked a runtime which allocates for itself."""
        frames = [frame for within in self._callers(number) for frame in within.frames]
        return self._ways([f for f in frames if f.path != frames[0].path])[2]

    def _functions(self, number: int) -> str:
        return next((word for within in self._callers(number) for word in within.words), "")

"""Finds the user's source line that made an access through a library or the kernel.

sites = Sites(program, callers)     `callers` of run.lines(): a column for each depth
sites.number(pc, number)            index in sites.all of a Site, such as
                                    Site("bank.cc:14", ("pthread_mutex_lock", ...))
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
ENDLESS = 1 << 62  # end of the last range of addresses


class Site(NamedTuple):
    """The innermost line in the user's own files, and the functions called from there."""

    source: str
    chain: tuple[str, ...] = ()  # innermost function first, the user's last

    def behind(self, inner: tuple[str, ...]) -> Site:
        return Site(self.source, inner + self.chain)


# Candidates for a site: in the user's source files; in any file outside the toolchain; in any known
# file.
SiteCandidates = tuple[Site | None, Site | None, Site | None]


class Within(NamedTuple):
    """Facts about one instruction, from the program's tables."""

    frames: tuple[Frame, ...]
    words: tuple[str, ...]  # function and line of each frame
    ways: SiteCandidates


class Sites:
    """The sites of one run, numbered in `all`."""

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
        for inner_way, outer in zip(ways, self._beyond(number), strict=True):
            if site := inner_way or (outer and outer.behind(words)):
                return site
        return Site("", words[:1])

    def _found_beyond(self, number: int) -> SiteCandidates:
        """Returns the candidates in the callers of the innermost function."""
        users_site = own_site = known_site = None
        inner_words: tuple[str, ...] = ()
        for _, words, (users, own_, known) in self._callers(number):
            if users:
                users_site = users.behind(inner_words)
            if own_ and not own_site:
                own_site = own_.behind(inner_words)
            if known and not known_site:
                known_site = known.behind(inner_words)
            if users_site:
                break
            inner_words += words
        return users_site, own_site, known_site

    def _callers(self, number: int) -> Iterator[Within]:
        return (self._within(back - WITHIN_CALL) for back in self._chains[number] if back)

    def _found_within(self, pc: int) -> Within:
        frames = self._program.frames.at(pc) or (Frame(self._program.function_at(pc), "", 0),)
        words = tuple(f"{f.function} {f.place}".strip() for f in frames)
        return Within(frames, tuple(filter(None, words)), self._ways(frames, words))

    def _ways(self, frames: Sequence[Frame], words: Sequence[str] = ()) -> SiteCandidates:
        def first(wanted: Callable[[Frame], bool]) -> Site | None:
            position = next((n for n, frame in enumerate(frames) if wanted(frame)), None)
            chain = filter(None, words[: (position or 0) + 1])
            return None if position is None else Site(frames[position].place, tuple(chain))

        users = self._program.frames.users
        return first(users), first(lambda f: own(f.path)), first(lambda f: bool(f.path))

    def heap(self, allocations: dict[str, Column]) -> list[tuple[int, int, str]]:
        """Returns start, end and name of the last allocation at each address, by address."""
        addresses, sizes, callers = (allocations[k] for k in ("address", "size", "callers"))
        starts, back = np.unique(addresses[::-1], return_index=True)
        last = len(addresses) - 1 - back
        ends = np.minimum(starts + sizes[last], np.append(starts[1:], ENDLESS))
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
        """Returns the innermost caller in another file than the allocation itself, or None."""
        frames = [frame for within in self._callers(number) for frame in within.frames]
        return self._ways([f for f in frames if f.path != frames[0].path])[2]

    def _functions(self, number: int) -> str:
        return next((word for within in self._callers(number) for word in within.words), "")

"""Finds the line of the user's source that made an access, perhaps through a library or the kernel.

sites = Sites(program, callers)     `callers` of run.lines(): a column for each depth
sites.number(pc, number)            index in sites.all of a Site, such as
                                    Site("bank.cc:14", ("pthread_mutex_lock", ...))
sites.function(pc)                  "pthread_mutex_lock"
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from uncore.program.frames import WITHIN_CALL, Frame, is_user_source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from uncore.program.program import Program

Column = Any  # a NumPy array
ADDRESSES_END = 1 << 62  # end of the last range of addresses


class Site(NamedTuple):
    """The innermost line in the user's own files, and the functions through which it made the
    access.
    """

    source: str
    chain: tuple[str, ...] = ()  # innermost first; the last function contains `source`

    def with_inner(self, inner: tuple[str, ...]) -> Site:
        """Returns the site with `inner`, functions that its innermost function calls, put first."""
        return Site(self.source, inner + self.chain)


# candidates for a site, best first: the innermost frame in the user's source files, in any file
# outside the toolchain, and in any known file
SiteCandidates = tuple[Site | None, Site | None, Site | None]


class InstructionFacts(NamedTuple):
    """Source position of one instruction, from the program's debug information."""

    frames: tuple[Frame, ...]
    words: tuple[str, ...]  # function and line of each frame
    candidates: SiteCandidates


class Sites:
    """The sites of one run, numbered in `all`."""

    def __init__(self, program: Program, callers: dict[str, Column]) -> None:
        self._program = program
        self._chains = np.stack([*callers.values()], axis=1).tolist()
        self.all: list[Site] = []
        self._numbers: dict[Site, int] = {}
        self.number, self._facts = cache(self._number_of), cache(self._find_facts)
        self._caller_candidates = cache(self._find_caller_candidates)
        self.function = cache(program.function_at)

    def _number_of(self, pc: int, callers: int) -> int:
        site = self._find_site(pc, callers)
        number = self._numbers.setdefault(site, len(self.all))
        if number == len(self.all):
            self.all.append(site)
        return number

    def _find_site(self, pc: int, number: int) -> Site:
        if not self._program.linux:
            return Site(self._program.source_line(pc) or "")
        _, words, candidates = self._facts(pc)
        if candidates[0]:
            return candidates[0]
        for inner_site, outer in zip(candidates, self._caller_candidates(number), strict=True):
            if site := inner_site or (outer and outer.with_inner(words)):
                return site
        return Site("", words[:1])

    def _find_caller_candidates(self, number: int) -> SiteCandidates:
        """Returns the candidates in the callers of the innermost function."""
        users_site = outside_site = known_site = None
        inner_words: tuple[str, ...] = ()
        for _, words, (in_users_file, outside_toolchain, in_known_file) in self._callers(number):
            if in_users_file:
                users_site = in_users_file.with_inner(inner_words)
            if outside_toolchain and not outside_site:
                outside_site = outside_toolchain.with_inner(inner_words)
            if in_known_file and not known_site:
                known_site = in_known_file.with_inner(inner_words)
            if users_site:
                break
            inner_words += words
        return users_site, outside_site, known_site

    def _callers(self, number: int) -> Iterator[InstructionFacts]:
        return (
            self._facts(return_address - WITHIN_CALL)
            for return_address in self._chains[number]
            if return_address
        )

    def _find_facts(self, pc: int) -> InstructionFacts:
        frames = self._program.frames.at(pc) or (Frame(self._program.function_at(pc), "", 0),)
        words = tuple(f"{f.function} {f.place}".strip() for f in frames)
        return InstructionFacts(frames, tuple(filter(None, words)), self._candidates(frames, words))

    def _candidates(self, frames: Sequence[Frame], words: Sequence[str] = ()) -> SiteCandidates:
        def first(wanted: Callable[[Frame], bool]) -> Site | None:
            position = next((n for n, frame in enumerate(frames) if wanted(frame)), None)
            chain = filter(None, words[: (position or 0) + 1])
            return None if position is None else Site(frames[position].place, tuple(chain))

        users = self._program.frames.users
        return first(users), first(lambda f: is_user_source(f.path)), first(lambda f: bool(f.path))

    def heap(self, allocations: dict[str, Column]) -> list[tuple[int, int, str]]:
        """Returns start, end and name of the last allocation at each address, by address."""
        addresses, sizes, callers = (allocations[k] for k in ("address", "size", "callers"))
        starts, reversed_index = np.unique(addresses[::-1], return_index=True)
        last = len(addresses) - 1 - reversed_index
        ends = np.minimum(starts + sizes[last], np.append(starts[1:], ADDRESSES_END))
        names = {n: self._allocated_by(n) for n in np.unique(callers[last]).tolist()}
        names_of_allocations = [names[n] for n in callers[last].tolist()]
        return list(zip(starts.tolist(), ends.tolist(), names_of_allocations, strict=True))

    def _allocated_by(self, number: int) -> str:
        first, second, third = self._caller_candidates(number)
        site = first or second or self._requesting_site(number) or third
        if not site:
            return f"heap of {self._functions(number) or 'somewhere'}"
        return f"heap of {site.source.rpartition('/')[2]}"

    def _requesting_site(self, number: int) -> Site | None:
        """Returns the innermost caller in another file than the allocation itself, or None."""
        frames = [frame for facts in self._callers(number) for frame in facts.frames]
        return self._candidates([f for f in frames if f.path != frames[0].path])[2]

    def _functions(self, number: int) -> str:
        return next((word for facts in self._callers(number) for word in facts.words), "")

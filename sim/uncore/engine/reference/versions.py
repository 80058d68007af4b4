"""H8.5. Earlier values of memory, which a load of a weakly ordered core may read.

Interface: `change` is called before each write; `last` and `value_at` are called by a hart whose
core holds the line.
Invariant: for a line of which a core holds a copy, all changes up to now are
recorded, because no
other core can write the line meanwhile.
"""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from uncore.engine.reference.contents import Bytes

WORD_BYTES = 8


class WordChange(NamedTuple):
    """A change of one doubleword: its time, and the value before."""

    time: int
    old_value: int


class Versions:
    """All changes of a run, by doubleword, oldest first."""

    def __init__(self) -> None:
        self.changes_of: defaultdict[int, list[WordChange]] = defaultdict(list)

    def change(self, address: int, size: int, line: Bytes, now: int) -> None:
        """Records the values of doublewords that are about to be written."""
        for word in words(address, size):
            self.changes_of[word].append(WordChange(now, line.read(word * WORD_BYTES, WORD_BYTES)))

    def last(self, word: int) -> int:
        """Returns when a doubleword was last written, or 0 if it has never been written."""
        return self.changes_of[word][-1].time if word in self.changes_of else 0

    def value_at(self, word: int, line: Bytes, then: int) -> tuple[int, int]:
        """Returns the value of a doubleword at the time `then`, and when that value was written."""
        value = line.read(word * WORD_BYTES, WORD_BYTES)
        for change in reversed(self.changes_of.get(word, ())):
            if change.time <= then:
                return value, change.time
            value = change.old_value
        return value, 0


def words(address: int, size: int) -> range:
    """Returns the numbers of the doublewords that an access touches."""
    return range(address // WORD_BYTES, (address + size - 1) // WORD_BYTES + 1)

"""Records of the observer `lines` at a point: each instruction's accesses to each line, and
their cost.

Observations are not part of the result's hash, like `host`: a run has the same outcome with and
without them.

Invariant: the sums over `lines` and `others` are exactly the totals of the Point (transfers,
invalidations) and of the run (`waited_ps`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from uncore.errors import UserError
from uncore.program.objects import whole_object

WORD_BYTES = 8
ByteRanges = list[tuple[int, int]]


class Use(Struct, frozen=True, kw_only=True):
    """Accesses of one instruction to one line, by all harts that used the line in the same way."""

    pc: Annotated[int, Meta(description="address of the instruction")]
    function: Annotated[
        str, Meta(description="function that contains the instruction; empty if unknown")
    ]
    source: Annotated[
        str,
        Meta(
            description="`file:line` of the user's own files from which it was executed; empty if"
            " unknown"
        ),
    ]
    chain: Annotated[
        list[str],
        Meta(description="functions from the instruction to that line, inlined ones too"),
    ] = []
    kind: Annotated[
        int,
        Meta(
            description="kind of operation (`uc_kind`) it was part of; -1 between operations, or"
            " where the workload marks no beginnings; -2 outside the region of interest"
        ),
    ]
    harts: Annotated[list[int], Meta(description="the harts, by thread number")]
    reads: Annotated[int, Meta(description="loads, LRs and AMOs performed on the line")]
    writes: Annotated[int, Meta(description="stores, SCs and AMOs performed on the line")]
    misses: Annotated[
        int, Meta(description="accesses that had to wait for the line or for the right to write it")
    ]
    needless: Annotated[
        int,
        Meta(
            description="misses by false sharing: another core had taken the copy, but no byte"
            " was used afterwards that other harts had written meanwhile, and no byte written"
            " that they had used"
        ),
    ]
    waited_ps: Annotated[int, Meta(description="time that harts waited for these accesses")]
    needless_ps: Annotated[int, Meta(description="part of waited_ps for needless misses")]
    critical_ps: Annotated[int, Meta(description="part of the critical path")] = 0
    failed_scs: Annotated[int, Meta(description="SCs for the line that failed")] = 0
    read: Annotated[
        ByteRanges, Meta(description="bytes read: (offset in the line, size), in 64ths of it")
    ]
    written: Annotated[ByteRanges, Meta(description="bytes written")]


class Shared(Struct, frozen=True, kw_only=True):
    """A line that several harts used within the region of interest and at least one wrote."""

    address: int
    fields: list[tuple[int, int, str]]
    uses: list[Use]


class Line(Struct, frozen=True, kw_only=True):
    """One line, and the accesses, transfers and invalidations of its copies."""

    address: Annotated[int, Meta(description="address of its first byte")]
    fields: Annotated[
        list[tuple[int, int, str]],
        Meta(description="fields of the program that were accessed: (offset, size, name)"),
    ]
    transfers: Annotated[
        dict[str, int], Meta(description="times it was fetched, as in Point.transfers")
    ]
    taken: Annotated[
        list[tuple[int, int, int]],
        Meta(description="(core it was taken from, core that took it, times), most first"),
    ]
    invalidations: Annotated[int, Meta(description="copies taken away by another core's write")]
    uses: Annotated[
        list[Use], Meta(description="uses by instruction; those with the longest waiting first")
    ]

    def sum(self, field: str) -> int:
        """Returns the sum of a field over the uses: `reads`, `waited_ps`, ..."""
        return sum(getattr(use, field) for use in self.uses)


class Others(Struct, frozen=True, kw_only=True):
    """Sums over the lines that are not listed."""

    lines: Annotated[int, Meta(description="number of these lines")] = 0
    reads: Annotated[int, Meta(description="as in Use")] = 0
    writes: Annotated[int, Meta(description="as in Use")] = 0
    misses: Annotated[int, Meta(description="as in Use")] = 0
    needless: Annotated[int, Meta(description="as in Use")] = 0
    waited_ps: Annotated[int, Meta(description="as in Use")] = 0
    needless_ps: Annotated[int, Meta(description="as in Use")] = 0
    critical_ps: Annotated[int, Meta(description="as in Use")] = 0
    failed_scs: Annotated[int, Meta(description="as in Use")] = 0
    transfers: Annotated[dict[str, int], Meta(description="as in Line")] = {}
    invalidations: Annotated[int, Meta(description="as in Line")] = 0


class Object(Struct, frozen=True, kw_only=True):
    """A variable, or a field of a structure or of all elements of an array, and its use within the
    region of interest.  An access counts for the first field of the line that its instruction
    touched.
    """

    name: Annotated[str, Meta(description="`guarded->owner`, `nodes[].next`")]
    at: Annotated[
        list[tuple[int, int]],
        Meta(description="(address, size) of each element, at most 4096"),
    ]
    lines: Annotated[int, Meta(description="number of lines on which it was accessed")]
    reads: Annotated[int, Meta(description="as in Use")]
    writes: Annotated[int, Meta(description="as in Use")]
    misses: Annotated[int, Meta(description="as in Use")]
    needless: Annotated[int, Meta(description="as in Use")]
    waited_ps: Annotated[int, Meta(description="as in Use")]
    needless_ps: Annotated[int, Meta(description="as in Use")]
    critical_ps: Annotated[int, Meta(description="as in Use")]
    failed_scs: Annotated[int, Meta(description="as in Use")] = 0
    source: Annotated[str, Meta(description="as in Use, for the place where it cost most")] = ""
    chain: Annotated[list[str], Meta(description="as in Use, for the same place")] = []


class Observed(Struct, frozen=True, kw_only=True):
    """Records of the observer `lines` at one point."""

    threads: Annotated[int, Meta(description="thread count of the point")]
    seed: Annotated[int | UnsetType, Meta(description="seed of the point; absent in lockstep")] = (
        UNSET
    )
    hart_ps: Annotated[int, Meta(description="time of the run, summed over its harts")]
    waited_ps: Annotated[int, Meta(description="part of hart_ps in which harts waited for memory")]
    path_ps: Annotated[
        int | UnsetType,
        Meta(
            description="length of the critical path: from the first hart's beginning to the last"
            " hart's end; absent in results that were saved before it was kept"
        ),
    ] = UNSET
    objects: Annotated[
        list[Object],
        Meta(description="objects that were accessed; those with most of the critical path first"),
    ] = []
    lines: Annotated[
        list[Line], Meta(description="costliest lines; those with the longest waiting first")
    ]
    others: Annotated[Others, Meta(description="all other lines")]

    def total(self, field: str) -> int:
        """Returns the sum over all lines of a field of Use, or of `invalidations`."""
        if field == "invalidations":
            return sum(line.invalidations for line in self.lines) + self.others.invalidations
        others_total: int = getattr(self.others, field)
        return sum(line.sum(field) for line in self.lines) + others_total

    def lines_of(self, names: Iterable[str], size: int) -> ByteRanges:
        """Returns (address, size) of each line that contains a named object; `size` is the bytes of
        a line. The name of an array (`nodes[]`) stands for all its fields.
        """
        parts = self.parts_of(names)
        return [(line, size) for line in sorted({address - address % size for address, _ in parts})]

    def parts_of(self, names: Iterable[str]) -> ByteRanges:
        """Returns (address, 8) of each aligned word of the named objects. Bytes are moved in whole
        words, so that no access is split (docs/whatif.md).
        """
        words = set[int]()
        for name in names:
            matches = [
                item for item in self.objects if name in (item.name, whole_object(item.name))
            ]
            if not matches:
                touched = ", ".join(item.name for item in self.objects)
                raise UserError(f"no object is called '{name}'; this run has touched {touched}")
            for address, size in (part for item in matches for part in item.at):
                words |= {a - a % WORD_BYTES for a in range(address, address + max(size, 1))}
        return [(word, WORD_BYTES) for word in sorted(words)]

    @property
    def transfers(self) -> dict[str, int]:
        """Returns the number of transfers of all lines by source, as in Point."""
        counts = Counter(self.others.transfers)
        for line in self.lines:
            counts.update(line.transfers)
        return dict(counts)

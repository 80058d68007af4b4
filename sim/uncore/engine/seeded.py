"""Random draws of section V of docs/model.md: numbers that follow from a seed and their purpose.

draw(seed, most, what, whom, count) -> 0..most        rule V2
start(job, hart) -> ps                                rule V3: how late a hart begins
line_offset(job) -> lines                             rule V10: offset of lines for slices
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from uncore.support.splitmix import WORD_VALUES, splitmix

if TYPE_CHECKING:
    from uncore.job import Job

# Purposes of draws, as section V numbers them.
START, REQUEST, HOLD, LOAD, STORE, ANSWER, STALL, SLICE = 1, 2, 3, 4, 5, 7, 8, 9


def draw(seed: int, most: int, what: int, whom: int, count: int) -> int:
    """Draws number `count` for purpose `what` and agent `whom`, from 0 to `most` (V2)."""
    stream = splitmix(splitmix(splitmix(seed) + what) + whom)
    return splitmix(stream + count) * (most + 1) // WORD_VALUES


def start(job: Job, hart: int) -> int:
    """Draws how late a hart begins, in ps (V3)."""
    return draw(job.seed or 0, job.chance.start * job.threads[0], START, hart, 0)


def line_offset(job: Job) -> int:
    """Draws the number of lines to add to a line's address when choosing its slice (V10).

    0 if the job names the slice.
    """
    return draw(job.seed or 0, job.chance.slice * (job.slices == "hash"), SLICE, 0, 0)

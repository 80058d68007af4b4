"""Makes the random draws of section V of docs/model.md, which are functions of the seed and of the
draw's purpose.

draw(seed, maximum, what, whom, count) -> 0..maximum  rule V2
start(job, hart) -> ps                                rule V3: delay of a hart's start
line_offset(job) -> lines                             rule V10: offset of lines for slices
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from uncore.support.splitmix import WORD_VALUES, splitmix

if TYPE_CHECKING:
    from uncore.job import Job

# purposes of draws, with their numbers in section V of docs/model.md
START, REQUEST, HOLD, LOAD, STORE, ANSWER, STALL, SLICE = 1, 2, 3, 4, 5, 7, 8, 9


def draw(seed: int, maximum: int, what: int, whom: int, count: int) -> int:
    """Returns draw number `count` of agent `whom` for purpose `what`, from 0 to `maximum` (V2)."""
    stream = splitmix(splitmix(splitmix(seed) + what) + whom)
    return splitmix(stream + count) * (maximum + 1) // WORD_VALUES


def start(job: Job, hart: int) -> int:
    """Draws the delay of a hart's start, in ps (V3)."""
    return draw(job.seed or 0, job.chance.start * job.threads[0], START, hart, 0)


def line_offset(job: Job) -> int:
    """Draws the number of lines that is added to a line's number to choose its slice (V10); returns
    0 if the job names the slice.
    """
    return draw(job.seed or 0, job.chance.slice * (job.slices == "hash"), SLICE, 0, 0)

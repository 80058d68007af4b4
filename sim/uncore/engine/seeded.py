"""Draws of section V of docs/model.md: numbers that follow from a seed and what they are for.

draw(seed, most, what, whom, count) -> 0..most        rule V2
start(job, hart) -> ps                                rule V3: how late a hart begins
further(job) -> lines                                 rule V10: how far on its lines lie
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from uncore.support.splitmix import WORD_VALUES, splitmix

if TYPE_CHECKING:
    from uncore.job import Job

START, REQUEST, HOLD, LOAD, STORE, ANSWER, STALL, SLICE = 1, 2, 3, 4, 5, 7, 8, 9  # what is drawn


def draw(seed: int, most: int, what: int, whom: int, count: int) -> int:
    """V2: a number from 0 to `most`."""
    stream = splitmix(splitmix(splitmix(seed) + what) + whom)
    return splitmix(stream + count) * (most + 1) // WORD_VALUES


def start(job: Job, hart: int) -> int:
    """V3: how late a hart begins."""
    return draw(job.seed or 0, job.chance.start * job.threads[0], START, hart, 0)


def further(job: Job) -> int:
    """V10: how many lines further on a line lies than its address says; none where the job names
    the slice."""
    return draw(job.seed or 0, job.chance.slice * (job.slices == "hash"), SLICE, 0, 0)

"""Draws of section V of docs/model.md: numbers that follow from a seed and what they are for.

draw(seed, most, what, whom, count) -> 0..most        rule V2
start(job, hart) -> ps                                rule V3: how late a hart begins
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from uncore.job import Job

WORD = 1 << 64
START, REQUEST, HOLD, LOAD, STORE, ANSWER, STALL = 1, 2, 3, 4, 5, 7, 8  # what is drawn


def draw(seed: int, most: int, what: int, whom: int, count: int) -> int:
    """V2: a number from 0 to `most`."""
    stream = mix(mix(mix(seed) + what) + whom)
    return mix(stream + count) * (most + 1) // WORD


def start(job: Job, hart: int) -> int:
    """V3: how late a hart begins."""
    return draw(job.seed or 0, job.chance.start * job.threads[0], START, hart, 0)


def mix(x: int) -> int:
    """SplitMix64's next number (Steele, Lea and Flood 2014)."""
    x = (x + 0x9E3779B97F4A7C15) % WORD
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 % WORD
    x = (x ^ x >> 27) * 0x94D049BB133111EB % WORD
    return x ^ x >> 31

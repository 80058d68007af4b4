"""Simulates class medians from a sample of a machine's cores, which takes about a second.

    Sample.of(machine, hardware)             chooses the cores, and the pairs of each class
    sample.medians(machine, seeds) -> ns by class
    sample.pairs(machine) -> ns by hart      NaN for pairs outside of the sample

The numbers of the machine may change from call to call, but its shape may not.  Cores are taken
evenly from every innermost group, so each class and each side of the home has some pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from uncore.topology.machine import Machine
from uncore_lab.figures.hardware import Hardware, Mask, Matrix
from uncore_lab.figures.simulate import handoffs

SAMPLE_CORES = 36  # 630 pairs
SAMPLE_ROUNDS = 25  # handoff rounds of a pair; all rounds from the third on take the same time


@dataclass(frozen=True)
class Sample:
    hardware: Hardware
    cores: tuple[int, ...]
    masks: dict[str, Mask]

    @classmethod
    def of(cls, machine: Machine, hardware: Hardware) -> Sample:
        return cls(hardware, chosen(machine), hardware.masks(machine))

    def pairs(self, machine: Machine, seeds: Sequence[int] | None = None) -> Matrix:
        return handoffs(machine, self.hardware, self.cores, SAMPLE_ROUNDS, seeds)

    def medians(self, machine: Machine, seeds: Sequence[int] | None = None) -> dict[str, float]:
        return medians(self.pairs(machine, seeds), self.masks)


def medians(ns: Matrix, masks: dict[str, Mask]) -> dict[str, float]:
    """Returns the median of each class, without classes of which no pair is known."""
    by_class = {name: ns[mask & ~np.isnan(ns)] for name, mask in masks.items()}
    return {name: float(np.median(pairs)) for name, pairs in by_class.items() if pairs.size}


def chosen(machine: Machine) -> tuple[int, ...]:
    """Returns at least two cores of each innermost group, and more if there are few groups."""
    groups: dict[tuple[int, ...], list[int]] = {}
    for core, path in enumerate(machine.shape):
        groups.setdefault(path[:-1], []).append(core)
    cores_per_group = max(2, SAMPLE_CORES // len(groups))
    return tuple(core for members in groups.values() for core in _evenly(members, cores_per_group))


def _evenly(members: list[int], count: int) -> list[int]:
    count = min(count, len(members))
    return [members[i * len(members) // count] for i in range(count)]

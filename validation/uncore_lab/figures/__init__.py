"""Measurements of real machines, as files; README.md explains their keys.

The data, then the modules:

    machines/ID.toml     handoffs from core to core, and tables of other experiments
    contention/          throughput of one contended line over threads
    interrupts/          interrupts between processors
    scaling/             throughput of kernels over tasks
    locks/               throughput of n threads with one lock
    measurements/        files of `uncore measure`
    families.toml        families whose machines are fitted together
    bench/               sets of figures of papers, commits and posts (published_sets.py)

    hardware.py          reads the files of machines, and matrices
    numbering.py         recognises the order of the rows of a user's matrix
    additive_parts.py    splits handoffs in a shared cache into a part of each core
    simulate.py          simulates the same matrix as a measurement
    sample.py            simulates the class medians of a sample of cores
    published.py         the measured class medians, as a column next to simulated ones
"""

from pathlib import Path

_FIGURES_FOLDER = Path(__file__).parent
MACHINES, CONTENTION, INTERRUPTS, SCALING, LOCKS, BENCH = (
    _FIGURES_FOLDER / folder
    for folder in ("machines", "contention", "interrupts", "scaling", "locks", "bench")
)

# families of machines that are fitted together, and the numbers they share
FAMILIES = _FIGURES_FOLDER / "families.toml"

# Atomics and spin locks that `uncore measure` runs and `uncore predict --record` predicts.
SPINNING = ("lock/tas", "lock/ttas", "lock/ticket", "lock/mcs", "lock/clh")
CONTENDED = ("counter/atomic", "counter/cas", *SPINNING)

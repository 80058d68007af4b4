"""Scripts that derive the shipped files from measured matrices, so that every fit can be repeated.

The commands:

    python -m uncore_lab.upkeep.figures        a machine's figures, from its measured matrix
    python -m uncore_lab.upkeep.numbers        fitted numbers of machine files, from figures or
                                               matrices
    python -m uncore_lab.upkeep.family         numbers of a family, from matrices, loads and locks
    python -m uncore_lab.upkeep.lock_errors    locks of a host, simulated beside measured
    python -m uncore_lab.upkeep.stops          the core at each stop of a ring or mesh
"""

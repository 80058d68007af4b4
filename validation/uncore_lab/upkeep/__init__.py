"""Tools that make the carried files from matrices, so that every fit can be repeated.

python -m uncore_lab.upkeep.figures      a machine's figures, from its measured matrix
python -m uncore_lab.upkeep.numbers      fitted numbers of machine files, from figures or matrices
python -m uncore_lab.upkeep.family         what a family shares, from matrices, loads and locks
python -m uncore_lab.upkeep.lock_errors    locks of a host, simulated beside measured
python -m uncore_lab.upkeep.stops        which core sits at which stop of a ring or mesh
"""

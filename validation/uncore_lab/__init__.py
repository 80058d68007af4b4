"""The laboratory: the simulator compared with real machines.

    results/     result tables of the last validation, as CSV files
    figures/     measurements of real machines, and simulations of the same experiments
    fitting/     least-squares fits of the numbers in machine files
    predict/     predictions of machines that nobody measured, from related machines
    calibrate/   a machine file fitted to a user's own matrix
    validate/    compares simulated with measured results, experiment by experiment
    claims/      statements of articles, checked on the simulator
    measure/     measures a real computer and describes it as a machine file
    upkeep/      scripts that derive figures and fitted numbers from measured matrices
    commands/    commands that the laboratory adds to `uncore`

It is installed with `uncore` and imports it; no module of `uncore` imports the laboratory.  It
extends `uncore` at two plug-in points only (`uncore.support.plugins`): commands, and the column of
measured handoffs.
"""

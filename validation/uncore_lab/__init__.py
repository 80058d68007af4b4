"""The laboratory: the simulator compared with real machines.

    results/     what was computed last, as data
    figures/     what real machines measured, and the same simulated
    fitting/     least squares on the numbers of machine files
    predict/     machines that nobody measured, from their relatives
    calibrate/   a machine file fitted to a user's own matrix
    validate/    simulated against measured, experiment by experiment
    claims/      what articles claim, asked of the simulator
    measure/     a real computer, measured and described
    upkeep/      how its files, and fitted numbers of machine files, come from matrices
    commands/    what it adds to the `uncore` command

It is installed with `uncore` and imports it; nothing of `uncore` imports this.  The product meets
it at two plug-in points only (`uncore.support.plugins`): commands, and the column of measured
handoffs.
"""

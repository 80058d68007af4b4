"""The laboratory's commands, as a table like `uncore.cli.commands.COMMANDS`."""

from uncore.support.plugins import Command, Commands, Task

_COMMANDS_PACKAGE = "uncore_lab.commands"

COMMANDS: Commands = {
    "predict": Command(
        Task.MACHINE,
        f"{_COMMANDS_PACKAGE}.predict:predict",
        "Handoffs of a machine that nobody measured, with intervals, from its relatives' numbers.",
        "uncore_lab.predict:COLUMNS",
    ),
    "validate": Command(
        Task.TRUST,
        f"{_COMMANDS_PACKAGE}.validate:validate",
        "Simulated against measured, with errors; exit status 1 past the stated bounds.",
        "uncore_lab.validate.handoff:COLUMNS",
        "uncore_lab.validate.ipi_trace:COLUMNS",
    ),
    "ktr": Command(
        Task.SYSTEM,
        f"{_COMMANDS_PACKAGE}.validate:ktr",
        "A DragonFly kernel trace: each event's intervals, and the simulated one beside them.",
    ),
    "willitscale": Command(
        Task.SYSTEM,
        f"{_COMMANDS_PACKAGE}.validate:willitscale",
        "will-it-scale's programs in a kernel that was booted, beside the machine's own curves.",
        "uncore_lab.validate.booted:COLUMNS",
    ),
    "claims": Command(
        Task.TRUST,
        f"{_COMMANDS_PACKAGE}.claims:claims",
        "What articles measured, asked of the simulator: expected, got, verdict, and why.",
    ),
    "measure": Command(
        Task.MACHINE,
        f"{_COMMANDS_PACKAGE}.measure:measure",
        "What lines, atomics, spin locks, wake-ups and interrupts cost on this computer.\n\n"
        "With --topology alone nothing is measured.",
    ),
    "calibrate": Command(
        Task.MACHINE,
        f"{_COMMANDS_PACKAGE}.calibrate:calibrate",
        "Fits a machine file's free numbers to a measured matrix, and says which it cannot fit.",
    ),
}

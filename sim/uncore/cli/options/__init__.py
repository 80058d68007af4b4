"""Options that several commands share, each declared once.

    of_job.py        fields of a Job: JobWords, MachineWords
    chance.py        seeds: Lockstep, Drawn, Repeated, Measured, Estimate
    engines.py       options and limits of engines: EngineWords
    single.py        one option each: Threads, Json, Plot ...
    crew.py          workers that run points: Crew.at_work(), workers(cores)
    chart.py         axes and figures of pictures
    of_boot.py       kernel and files of `boot`, and the moment at which it is saved
    of_linux.py      a Linux program
    of_run.py        `run` only: its files, --free and --apart
    saved_state.py   files from which a run is continued, or in which it is saved
    window.py        the part of a run that is traced
    groups.py        headings in --help
    messages.py      note(text), show_unfinished(stopped), command()

A group is a dataclass whose fields are the options.  A command takes each group that it needs as
one argument; groups do not depend on each other.
"""

from uncore.cli.options.chance import (
    DRAWN,
    ESTIMATED,
    LOCKSTEP,
    MEASURED,
    Drawn,
    Estimate,
    Lockstep,
    Measured,
)
from uncore.cli.options.chart import CHART, Chart
from uncore.cli.options.crew import CREW, Crew, workers
from uncore.cli.options.engines import ENGINE_WORDS, EngineWords
from uncore.cli.options.messages import command, note, show_unfinished
from uncore.cli.options.of_job import (
    JOB_WORDS,
    MACHINE_WORDS,
    JobWords,
    MachineWords,
    untouched,
)
from uncore.cli.options.single import (
    Cluster,
    Cores,
    Csv,
    Json,
    Machine,
    Plot,
    Report,
    Resume,
    Samples,
    Set,
    Threads,
    With,
    Workload,
)

__all__ = [
    "CHART",
    "CREW",
    "DRAWN",
    "ENGINE_WORDS",
    "ESTIMATED",
    "JOB_WORDS",
    "LOCKSTEP",
    "MACHINE_WORDS",
    "MEASURED",
    "Chart",
    "Cluster",
    "Cores",
    "Crew",
    "Csv",
    "Drawn",
    "EngineWords",
    "Estimate",
    "JobWords",
    "Json",
    "Lockstep",
    "Machine",
    "MachineWords",
    "Measured",
    "Plot",
    "Report",
    "Resume",
    "Samples",
    "Set",
    "Threads",
    "With",
    "Workload",
    "command",
    "note",
    "show_unfinished",
    "untouched",
    "workers",
]

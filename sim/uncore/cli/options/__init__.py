"""Options that several commands share, each worded once, and what they mean.

    single.py    one option each: Threads, Json, Plot ...
    choices.py   what the user chooses of a run, in groups that grow: Choices ... Several
    engines.py   how engines are run, and limits
    crew.py      who runs the points: Crew.at_work(), workers(cores)
    chart.py     what is drawn over what
    of_run.py    of `run` alone
    said.py      note(text), command()

A group is a dataclass, whose fields are the options; the command has it as one argument.
"""

from uncore.cli.options.chart import CHART, Chart
from uncore.cli.options.choices import (
    CHOICES,
    PLACED,
    REPEATED,
    SEEDED,
    SEVERAL,
    Choices,
    Placed,
    Repeated,
    Seeded,
    Several,
)
from uncore.cli.options.crew import CREW, Crew, workers
from uncore.cli.options.engines import ENGINES, Engines
from uncore.cli.options.messages import command, note
from uncore.cli.options.single import (
    Cluster,
    Cores,
    Json,
    Plot,
    Report,
    Resume,
    Samples,
    Set,
    Threads,
    With,
)

__all__ = [
    "CHART",
    "CHOICES",
    "CREW",
    "ENGINES",
    "PLACED",
    "REPEATED",
    "SEEDED",
    "SEVERAL",
    "Chart",
    "Choices",
    "Cluster",
    "Cores",
    "Crew",
    "Engines",
    "Json",
    "Placed",
    "Plot",
    "Repeated",
    "Report",
    "Resume",
    "Samples",
    "Seeded",
    "Set",
    "Several",
    "Threads",
    "With",
    "command",
    "note",
    "workers",
]

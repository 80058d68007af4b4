"""The commands of `uncore`: for each name its function, its line in `uncore --help`, and the
columns of its tables, which its own --help explains.

Start-up is fast because a command's module is imported only when the command is called; so
`uncore --help` imports none of them.  A module imports what it needs at its top, except libraries
that are slow to load and seldom needed (NumPy, polars, matplotlib, scipy, SimPy, pyelftools,
importlib.metadata): the functions that need them import them, with the comment `slow to load`.
Other packages add tables like this one (`uncore.support.plugins`).

Commands contain no models or analyses: they turn options into a Job, execute it and give the Result
to a report.
"""

from uncore.support.plugins import Command, Commands, Task

_HERE = "uncore.cli.commands"

COMMANDS: Commands = {
    "list": Command(
        Task.START,
        f"{_HERE}.machines:list_",
        "Topologies, workloads and engines, each with one line.",
    ),
    "engines": Command(
        Task.TRUST,
        f"{_HERE}.engines:engines",
        "What is installed, and what each engine can do here.",
    ),
    "new": Command(
        Task.START,
        f"{_HERE}.new:new",
        "A start for a lock or a machine of your own: a file, with comments, that runs.",
    ),
    "show": Command(
        Task.START,
        f"{_HERE}.machines:show",
        "A machine as a tree, its numbers with their sources, and a drawing; or a workload.",
        f"{_HERE}.machines:LINK_COLUMNS",
    ),
    "run": Command(
        Task.START,
        f"{_HERE}.run:run",
        "Run workloads on machines: all combinations of the values given, as one table.",
        "uncore.report.curve:COLUMNS",
        "uncore.report.lines:COLUMNS",
    ),
    "sweep": Command(
        Task.PROGRAM,
        f"{_HERE}.run:run",
        "Another name of run.",
        "uncore.report.curve:COLUMNS",
        "uncore.report.lines:COLUMNS",
    ),
    "boot": Command(
        Task.SYSTEM,
        f"{_HERE}.boot:boot",
        "An operating system's kernel on a machine: its console, until it powers off.",
    ),
    "trace": Command(
        Task.TEACH,
        f"{_HERE}.trace:trace",
        "What happened in a run, event by event: a table of it, or a trace for Perfetto.",
        "uncore.report.traced:COLUMNS",
    ),
    "watch": Command(
        Task.TEACH,
        f"{_HERE}.watch:watch",
        "A run, or two in step, as a page: messages on the machine, states, a chart, in words.",
    ),
    "matrix": Command(
        Task.MACHINE,
        f"{_HERE}.matrix:matrix",
        "The latency between all pairs of harts, as measured by a CAS ping-pong.",
        "uncore.study.matrix:COLUMNS",
    ),
    "demo": Command(
        Task.START,
        f"{_HERE}.demo:demo",
        "The demonstration: core-to-core matrix and lock scaling of a 2x EPYC 7601.",
    ),
    "lines": Command(
        Task.PROGRAM,
        f"{_HERE}.results:lines",
        "The lines a run waited for: what they hold, who took them, and what they cost.",
        "uncore.report.objects:COLUMNS",
        "uncore.report.costs:COLUMNS",
        "uncore.report.c2c:COLUMNS",
        "uncore.report.beside:COLUMNS",
    ),
    "conflicts": Command(
        Task.PROGRAM,
        f"{_HERE}.results:conflicts",
        "Which kinds of operations meet on a line: the question of the scalable commutativity"
        " rule.",
        "uncore.report.conflicts:COLUMNS",
    ),
    "scaling": Command(
        Task.PROGRAM,
        f"{_HERE}.results:scaling",
        "Scaling laws of a saved result: three speed-ups, serialisation, a fit and its prediction.",
        "uncore.report.scaling:COLUMNS",
    ),
    "compare": Command(
        Task.PROGRAM,
        f"{_HERE}.results:compare",
        "Two workloads or two machines, side by side: their ratio, and what makes the difference.",
        "uncore.study.compare.comparison_report:COLUMNS",
    ),
    "whatif": Command(
        Task.PROGRAM,
        f"{_HERE}.whatif:whatif",
        "What each change of program or machine would be worth: exact runs, best first.",
        "uncore.study.whatif_report:COLUMNS",
    ),
    "explore": Command(
        Task.MACHINE,
        f"{_HERE}.explore:explore",
        "Search machines: choices, objectives and bounds in a file; the best compromises.",
    ),
    "lesson": Command(
        Task.TEACH,
        f"{_HERE}.lesson:lesson",
        "Lessons: lists them, makes one's page, checks one's exercise.",
        "uncore.cli.commands.lesson:COLUMNS",
    ),
    "check": Command(
        Task.TRUST,
        f"{_HERE}.check:check",
        "Walk the protocol's tables exhaustively and at random; exit status 1 on a violation.",
        "uncore.report.proofs:COLUMNS",
    ),
    "litmus": Command(
        Task.TRUST,
        f"{_HERE}.litmus:litmus",
        "Outcomes of litmus tests against the memory model; exit status 1 on a forbidden one.",
    ),
    "fences": Command(
        Task.PROGRAM,
        f"{_HERE}.fences:fences",
        "Which memory orders a program needs: each weakened alone, and run from many seeds.",
    ),
    "diff-engines": Command(
        Task.TRUST,
        f"{_HERE}.engines:diff_engines",
        "Two engines' transaction logs, record by record; exit status 1 on the first difference.",
    ),
    "export": Command(
        Task.TRUST,
        f"{_HERE}.engines:export",
        "Write a job as a folder that another simulator runs by itself.",
    ),
    "crosscheck": Command(
        Task.TRUST,
        f"{_HERE}.engines:crosscheck",
        "One job on several engines: what must agree, what should, what differs and why.",
        "uncore.study.compare.crosscheck_report:COLUMNS",
    ),
}

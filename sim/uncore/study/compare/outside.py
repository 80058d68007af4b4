"""The whole comparison with outside engines: which jobs, and a row of data for each.

    jobs(names) -> [ComparedJob]                which engine runs what
    rows(compared, done, options) -> rows    in a file's columns; a job that fails has none
    write(folder, made)                      replaces rows of the same jobs, engines and protocols

Rows name the engine's version, the date and the model's state (model_state.py), so that a table
shows how old it is.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from uncore import engine
from uncore.engine import NO_OPTIONS, EngineOptions
from uncore.errors import UncoreError
from uncore.execution.request import make_job
from uncore.job import Job
from uncore.study.compare import model_state
from uncore.study.compare.conventions import Explained, Overrides, explain, held
from uncore.study.compare.crosscheck import Crossed, Side, crosscheck
from uncore.support import paths
from uncore.support.output_files import write_whole

ENGINES = ("sst", "gem5")
PROGRAMS = {
    "lock/ticket": {"ops": "20"},
    "lock/mcs": {"ops": "20"},
    "counter/atomic": {"ops": "20"},
    "refcount/atomic": {"ops": "20"},
    "epoch/ebr": {"ops": "20"},
    "ipi/pingpong": {"rounds": "10", "pairs": "one"},
}
MACHINES = {
    4: ("bus:4", "ring:4", "mesh:4x2", "ccx:2x4", "epyc7601x2"),
    16: ("mesh:8x8", "ccx:2x8", "epyc7601x2"),
}
# On a machine with the engine's conventions, as tests do it (topologies/matching).
MATCHED = {
    "latency/pingpong": {"rounds": "20"},
    "lock/ticket": {"ops": "40"},
    "refcount/atomic": {"ops": "40"},
}
# The engine's protocol, and the file that states its conventions.
MATCHING = {
    "MESI": "sst_mesi",
    "MESI_Two_Level": "gem5_mesi",
    "MOESI_CMP_directory": "gem5_moesi",
    "CHI": "gem5_chi",
}
MATCHED_HARTS = (2, 4, 16)
ABOUT_COLUMNS = ("engine", "version", "protocol", "date", "model")
JOB_COLUMNS = ("engine", "protocol", "machine", "program", "harts", "part")
FIGURE_COLUMNS = ("ns", "requests", "copies", "s")  # an operation's; the last one is of the host
FILE_COLUMNS = {
    "engines": (
        *(*ABOUT_COLUMNS, "machine", "program", "harts", "part", "ratio"),
        *(f"{side}_{figure}" for figure in FIGURE_COLUMNS for side in ("native", "engine")),
        *("machines_at", "conventions", "ratio_then"),
    ),
    "matching": (*ABOUT_COLUMNS, "machine", "harts", "program", "ratio"),
}

Row = dict[str, Any]
Made = tuple["ComparedJob", Crossed, Row]


@dataclass(frozen=True)
class ComparedJob:
    """One job on one engine, beside `native`."""

    file: str  # of validation/results
    engine: str
    machine: str
    workload: str
    harts: int
    parameters: Mapping[str, str] = field(compare=False)

    def job(self, engine: str, overrides: Overrides | None = None) -> Job:
        machine = str(_file(self.machine)) if self.file == "matching" else self.machine
        return make_job(
            machine,
            self.workload,
            [self.harts],
            parameters=self.parameters,
            overrides=overrides or {},
            smt=False,
            engine=engine,
        )

    def explained(self, theirs: float, protocol: str) -> Explained:
        """Searches conventions that bring our time of an operation to `theirs`, in ps."""

        def play(overrides: Overrides) -> float:
            job = self.job("native", overrides)
            (crossed,) = crosscheck(job, ["native"])
            return crossed.sides[0].per_operation or math.nan

        file = MATCHING.get(protocol)
        conventions = held(_file(file), self.job("native").machine) if file else ()
        return explain(play, theirs, list(conventions))

    def in_one_slice(self, options: EngineOptions) -> Explained | None:
        """Both sides with a slice a level: outside engines deal lines out in turn, so a line that
        all want stands elsewhere.  None where no level has several."""
        resolvers = self.job("native").machine.resolvers
        levels = dict.fromkeys(r.level for r in resolvers if len(r.slices) > 1)
        overrides = {f"{level}.resolver.slices": "1" for level in levels}
        job = self.job(self.engine, overrides)
        (crossed,) = crosscheck(job, ["native", self.engine], engine_options=options)
        ratio = crossed.ratio(crossed.sides[1])
        return Explained(overrides, ratio) if levels and ratio else None


def _file(machine: str) -> Path:
    return paths.TOPOLOGIES / f"matching/{machine}.toml"


def jobs(names: Sequence[str]) -> list[ComparedJob]:
    return [
        *(
            ComparedJob("engines", name, machine, workload, harts, parameters)
            for name in names
            for harts, machines in MACHINES.items()
            for machine in machines
            for workload, parameters in PROGRAMS.items()
        ),
        *(
            ComparedJob("matching", name, machine, workload, harts, parameters)
            for name in names
            for machine in MATCHING.values()
            if machine.startswith(name)
            for harts in MATCHED_HARTS
            for workload, parameters in MATCHED.items()
        ),
    ]


def rows(
    compared: Sequence[ComparedJob],
    done: Callable[[], None] = lambda: None,
    refused: Callable[[str], None] = lambda why: None,
    options: EngineOptions = NO_OPTIONS,
) -> Iterator[Made]:
    """A job that the engine cannot express, dies of or does not end is told, and has no row."""
    state = model_state.state(model_state.parts())
    date = datetime.now(UTC).date().isoformat()
    for job in compared:
        try:
            protocol = engine.protocol(job.job(job.engine), options)
            if job.file == "matching" and MATCHING.get(protocol) != job.machine:
                continue
            crossed, row = _compared(job, protocol, options)
        except UncoreError as error:
            refused(f"{job.engine} {job.machine} {job.workload} {job.harts}: {error}")
        else:
            about = (job.engine, engine.version(job.engine, options), protocol, date, state)
            yield job, crossed, dict(zip(ABOUT_COLUMNS, about, strict=True)) | row
        finally:
            done()


def _compared(job: ComparedJob, protocol: str, options: EngineOptions) -> tuple[Crossed, Row]:
    asked = job.job(job.engine)
    (crossed,) = crosscheck(asked, ["native", job.engine], engine_options=options)
    return crossed, _row(job, crossed) | _why(job, crossed, protocol, options)


def _row(job: ComparedJob, crossed: Crossed) -> Row:
    ours, theirs = crossed.sides
    key = {"machine": job.machine, "program": job.workload, "harts": job.harts, "part": ""}
    return key | {
        **_of("native", ours),
        **_of("engine", theirs),
        "ratio": _digits(crossed.ratio(theirs)),
    }


def _why(job: ComparedJob, crossed: Crossed, protocol: str, options: EngineOptions) -> Row:
    """The explanation of a ratio beyond MAX_MATCHING_RATIO, as columns."""
    theirs = crossed.sides[1].per_operation
    if job.file == "matching" or not theirs:
        return {}
    explained = job.explained(theirs, protocol)
    if explained.within and not explained.overrides:
        return {}
    words = explained.words
    if not explained.within and (placed := job.in_one_slice(options)) and placed.within:
        explained, words = placed, f"both sides: {placed.words}"
    return {"conventions": words, "ratio_then": _digits(explained.ratio)}


def _of(prefix: str, side: Side) -> Row:
    return {
        f"{prefix}_ns": _digits((side.per_operation or 0) / 1000),
        f"{prefix}_requests": _digits(side.rate("transactions")),
        f"{prefix}_copies": _digits(side.rate("invalidations")),
        f"{prefix}_s": _digits(side.seconds),
    }


def _digits(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}" if value < 1000 else f"{value:.0f}"


def write(folder: Path, made: Sequence[Made]) -> None:
    """Files with these rows in place of what they had of the same; and the model's parts."""
    for name, columns in FILE_COLUMNS.items():
        path = folder / f"{name}.csv"
        rows_ = [row for job, _, row in made if job.file == name]
        renewed = {_job(row) for row in rows_}
        _save(path, columns, [*rows_, *(row for row in load(path) if _job(row) not in renewed)])
    _keep_state(folder)


def _job(row: Row) -> tuple[str, ...]:
    """The job of a row, which says nothing of the row's age."""
    return tuple(str(row.get(key, "")) for key in JOB_COLUMNS)


def load(path: Path) -> list[dict[str, str]]:
    if not path.is_file():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def _keep_state(folder: Path) -> None:
    """The parts of every state that a row names: of today's, and of those still on file."""
    now = model_state.parts()
    named = {row["model"] for name in FILE_COLUMNS for row in load(folder / f"{name}.csv")}
    path = folder / "model.csv"
    state = model_state.state(now)
    kept = [row for row in load(path) if row["state"] in named - {state}]
    made = [{"state": state, "part": part, "digest": digest} for part, digest in now.items()]
    _save(path, ["state", "part", "digest"], [*kept, *(made if state in named else [])])


def _save(path: Path, columns: Sequence[str], made: Sequence[Row]) -> None:
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(made)
    write_whole(path, text.getvalue())

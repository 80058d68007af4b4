"""Compares `native` with other simulators on many jobs and writes the figures to CSV files.

    jobs(names) -> [ComparedJob]               all jobs of these engines
    rows(compared, done, refused, options)     runs them; yields a row for each job that ended well
    write(folder, comparisons)                 writes the rows; they replace older rows of the same
                                               jobs, engines and protocols

Each row contains the engine's version, the date and the model's state (model_state.py), which tell
whether it is outdated.
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
from uncore.study.compare.conventions import Explanation, Overrides, explain, stated
from uncore.study.compare.crosscheck import CrosscheckedPoint, Side, crosscheck
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
# Programs that are compared on machines with the other engine's conventions (MATCHING_FILES).
MATCHED_PROGRAMS = {
    "latency/pingpong": {"rounds": "20"},
    "lock/ticket": {"ops": "40"},
    "refcount/atomic": {"ops": "40"},
}
# Maps an engine's protocol to the file of topologies/matching that states its conventions.
MATCHING_FILES = {
    "MESI": "sst_mesi",
    "MESI_Two_Level": "gem5_mesi",
    "MOESI_CMP_directory": "gem5_moesi",
    "CHI": "gem5_chi",
}
MATCHED_HARTS = (2, 4, 16)
ABOUT_COLUMNS = ("engine", "version", "protocol", "date", "model")
JOB_COLUMNS = ("engine", "protocol", "machine", "program", "harts", "part")
# figures per operation, except "s", which is the host time in seconds
FIGURE_COLUMNS = ("ns", "requests", "copies", "s")
FILE_COLUMNS = {
    "engines": (
        *(*ABOUT_COLUMNS, "machine", "program", "harts", "part", "ratio"),
        *(f"{side}_{figure}" for figure in FIGURE_COLUMNS for side in ("native", "engine")),
        *("machines_at", "conventions", "ratio_then"),
    ),
    "matching": (*ABOUT_COLUMNS, "machine", "harts", "program", "ratio"),
}

Row = dict[str, Any]
ComparedRun = tuple["ComparedJob", CrosscheckedPoint, Row]


@dataclass(frozen=True)
class ComparedJob:
    """One job on another engine and on `native`."""

    file: str  # name of the CSV file in validation/results
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

    def search_conventions(self, their_ps: float, protocol: str) -> Explanation:
        """Searches for conventions with which `native` takes about as long per operation as the
        other engine, `their_ps`. Returns the conventions found, and the ratio that remains.
        """

        def play(overrides: Overrides) -> float:
            job = self.job("native", overrides)
            (crossed,) = crosscheck(job, ["native"])
            return crossed.sides[0].per_operation or math.nan

        file = MATCHING_FILES.get(protocol)
        conventions = stated(_file(file), self.job("native").machine) if file else ()
        return explain(play, their_ps, list(conventions))

    def in_one_slice(self, options: EngineOptions) -> Explanation | None:
        """Runs both engines with one slice per level; returns None if no level has several slices.

        Other simulators distribute lines over slices in a fixed order. So a line that all harts use
        may be at another distance there.
        """
        resolvers = self.job("native").machine.resolvers
        levels = dict.fromkeys(r.level for r in resolvers if len(r.slices) > 1)
        overrides = {f"{level}.resolver.slices": "1" for level in levels}
        job = self.job(self.engine, overrides)
        (crossed,) = crosscheck(job, ["native", self.engine], engine_options=options)
        ratio = crossed.ratio(crossed.sides[1])
        return Explanation(overrides, ratio) if levels and ratio else None


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
            for machine in MATCHING_FILES.values()
            if machine.startswith(name)
            for harts in MATCHED_HARTS
            for workload, parameters in MATCHED_PROGRAMS.items()
        ),
    ]


def rows(
    compared: Sequence[ComparedJob],
    done: Callable[[], None] = lambda: None,
    refused: Callable[[str], None] = lambda why: None,
    options: EngineOptions = NO_OPTIONS,
) -> Iterator[ComparedRun]:
    """Runs the jobs and yields a row for each job that ends well.

    If a job fails because the engine cannot express it, crashes or does not end, its error is
    passed to `refused`. `done` is called after each job.
    """
    state = model_state.state(model_state.parts())
    date = datetime.now(UTC).date().isoformat()
    for job in compared:
        try:
            protocol = engine.protocol(job.job(job.engine), options)
            if job.file == "matching" and MATCHING_FILES.get(protocol) != job.machine:
                continue
            crossed, row = _comparison_row(job, protocol, options)
        except UncoreError as error:
            refused(f"{job.engine} {job.machine} {job.workload} {job.harts}: {error}")
        else:
            about = (job.engine, engine.version(job.engine, options), protocol, date, state)
            yield job, crossed, dict(zip(ABOUT_COLUMNS, about, strict=True)) | row
        finally:
            done()


def _comparison_row(
    job: ComparedJob, protocol: str, options: EngineOptions
) -> tuple[CrosscheckedPoint, Row]:
    engine_job = job.job(job.engine)
    (crossed,) = crosscheck(engine_job, ["native", job.engine], engine_options=options)
    return crossed, _row(job, crossed) | _explanation(job, crossed, protocol, options)


def _row(job: ComparedJob, crossed: CrosscheckedPoint) -> Row:
    native_side, engine_side = crossed.sides
    key = {"machine": job.machine, "program": job.workload, "harts": job.harts, "part": ""}
    return key | {
        **_figures("native", native_side),
        **_figures("engine", engine_side),
        "ratio": _digits(crossed.ratio(engine_side)),
    }


def _explanation(
    job: ComparedJob, crossed: CrosscheckedPoint, protocol: str, options: EngineOptions
) -> Row:
    """Returns columns that explain a ratio beyond MAX_MATCHING_RATIO; {} if there is nothing to
    explain.
    """
    their_ps = crossed.sides[1].per_operation
    if job.file == "matching" or not their_ps:
        return {}
    explained = job.search_conventions(their_ps, protocol)
    if explained.matches and not explained.overrides:
        return {}
    words = explained.words
    if not explained.matches:
        one_slice = job.in_one_slice(options)
        if one_slice and one_slice.matches:
            explained, words = one_slice, f"both sides: {one_slice.words}"
    return {"conventions": words, "ratio_then": _digits(explained.ratio)}


def _figures(prefix: str, side: Side) -> Row:
    return {
        f"{prefix}_ns": _digits((side.per_operation or 0) / 1000),
        f"{prefix}_requests": _digits(side.rate("transactions")),
        f"{prefix}_copies": _digits(side.rate("invalidations")),
        f"{prefix}_s": _digits(side.seconds),
    }


def _digits(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}" if value < 1000 else f"{value:.0f}"


def write(folder: Path, comparisons: Sequence[ComparedRun]) -> None:
    """Writes each CSV file, in which new rows replace old rows of the same jobs, and model.csv."""
    for name, columns in FILE_COLUMNS.items():
        path = folder / f"{name}.csv"
        new_rows = [row for job, _, row in comparisons if job.file == name]
        new_jobs = {_job(row) for row in new_rows}
        _save(path, columns, [*new_rows, *(row for row in load(path) if _job(row) not in new_jobs)])
    _write_model_state(folder)


def _job(row: Row) -> tuple[str, ...]:
    """Returns the values of JOB_COLUMNS, which identify the job of a row. The date and the versions
    are not among them.
    """
    return tuple(str(row.get(key, "")) for key in JOB_COLUMNS)


def load(path: Path) -> list[dict[str, str]]:
    if not path.is_file():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def _write_model_state(folder: Path) -> None:
    """Writes model.csv, which has the digests of all parts of each model state that a row names."""
    parts = model_state.parts()
    named_states = {row["model"] for name in FILE_COLUMNS for row in load(folder / f"{name}.csv")}
    path = folder / "model.csv"
    state = model_state.state(parts)
    still_named = [row for row in load(path) if row["state"] in named_states - {state}]
    new_rows = [{"state": state, "part": part, "digest": digest} for part, digest in parts.items()]
    _save(
        path,
        ["state", "part", "digest"],
        [*still_named, *(new_rows if state in named_states else [])],
    )


def _save(path: Path, columns: Sequence[str], rows: Sequence[Row]) -> None:
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_whole(path, text.getvalue())

"""Compares two engines on one job: their transaction logs and their results.

Interface: `compare(job, engines)` runs a job with a single thread count on both engines and returns
an `Agreement`; `first_difference(a, b)` compares two logs. Invariant: logs are equal only if every
column of every record is equal (section L of docs/model.md), and results only if all fields of the
Point are equal that both engines provide.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars

from uncore import engine
from uncore.engine import NO_OPTIONS, EngineOptions, ProgressCallback, ignore_progress
from uncore.result import log

if TYPE_CHECKING:
    from uncore.job import Job

# For each column of the log, the rules of docs/model.md that determine it. They tell a developer
# which rules to check when two engines differ.
COLUMN_RULES = {
    "op": "C1 what a core asks for, C5 and J1",
    "request": "H1 to H6, C6, C9, C10 what instructions take, C5, J1, V3 and V4 what chance adds",
    "resolver": "A3 and A4 where a line lives",
    "open": "R1 and R2 who is served when, F1 to F3 how a request gets there, J2, J3",
    "line": "H3 the order of stores, C1",
    "owner": "R2 and R5 who holds what",
    "probes": "R3 who is asked",
    "probe": "R3 who is asked, J1 what is asked above first",
    "source": "R4 and R6 who gives the data, A4 whose memory",
    "right": "R2 what the grant table says",
    "data": "C2 to C6 and V5 when a probe is answered, F1 to F3, M1, R6",
    "close": "R5 when a transaction closes",
}
ABSENT_RECORD_RULES = "C1 and C5 what a core asks for, T4 when the run ends"
REQUEST_COLUMNS = ["requester", "number"]  # columns that identify a request (L2)
TIME_FIELDS = ["request", "open", "probe", "data", "close"]
PACE_OBSERVER = "pace"  # name of an observer whose observations are compared as well
NEVER_COMPARED = {"absent", "events", "observed"}


@dataclass(frozen=True)
class Difference:
    """The earliest record in which two logs differ."""

    a: dict[str, Any] | None  # record of the first engine; None: it has no such record
    b: dict[str, Any] | None  # record of the second engine
    columns: tuple[str, ...]  # columns in which the two records differ
    before: list[dict[str, Any]]  # earlier records of the same line, on which both logs agree

    @property
    def rule(self) -> str:
        """Returns the rules of the first differing column; COLUMN_RULES has the columns in the
        order in which a transaction determines them.
        """
        return (
            COLUMN_RULES[min(self.columns, key=list(COLUMN_RULES).index)]
            if self.columns
            else ABSENT_RECORD_RULES
        )


@dataclass(frozen=True)
class Agreement:
    """The comparison of two engines on one job."""

    threads: int
    seed: int | None
    records: int  # number of records in the first engine's log
    difference: Difference | None
    outcome: dict[str, tuple[Any, Any]]  # fields of the Point that differ -> values of both engines

    @property
    def equal(self) -> bool:
        return self.difference is None and not self.outcome


def compare(
    job: Job,
    engines: tuple[str, str],
    tick: ProgressCallback = ignore_progress,
    engine_options: EngineOptions = NO_OPTIONS,
) -> Agreement:
    """Runs the job on both engines, one after the other, and compares the logs and results."""
    observers = frozenset({"log", PACE_OBSERVER})
    for name in engines:
        engine.usable(name, observers, engine_options)
    jobs = [dataclasses.replace(job, engine=name) for name in engines]
    results = [engine.run(point, observers, tick, engine_options) for point in jobs]
    a, b = (log.frame(fields["observed"]["log"]) for fields in results)
    for fields in results:
        fields[PACE_OBSERVER] = fields["observed"][PACE_OBSERVER]
    common_fields = (results[0].keys() & results[1].keys()) - NEVER_COMPARED
    outcome = {name: (results[0][name], results[1][name]) for name in sorted(common_fields)}
    return Agreement(
        threads=job.threads[0],
        seed=job.seed,
        records=len(a),
        difference=first_difference(a, b),
        outcome={name: pair for name, pair in outcome.items() if pair[0] != pair[1]},
    )


def first_difference(a: polars.DataFrame, b: polars.DataFrame) -> Difference | None:
    """Returns the difference that is earliest in simulated time, or None.

    The column `id` only counts records, so it is not compared.
    """
    columns = [name for name in a.columns if name not in ("id", *REQUEST_COLUMNS)]
    joined = a.join(b, on=REQUEST_COLUMNS, how="full", coalesce=True, suffix="'")
    column_differs = {name: polars.col(name).ne_missing(polars.col(f"{name}'")) for name in columns}
    differing_times = (
        polars.when(column_differs[name]).then(_earlier_time(name)) for name in TIME_FIELDS
    )
    # for records that agree in all times but differ in another column
    open_time = polars.when(polars.any_horizontal(column_differs.values())).then(
        _earlier_time("open")
    )
    earliest_time = polars.coalesce(polars.min_horizontal(differing_times), open_time)
    differing = joined.with_columns(earliest_time.alias("when")).filter(
        polars.col("when").is_not_null()
    )
    if differing.is_empty():
        return None
    request = differing.sort("when", *REQUEST_COLUMNS).row(0, named=True)
    records = [_record(table, request) for table in (a, b)]
    present = next(record for record in records if record)
    before = a.join(b, on=a.columns[1:], how="semi").filter(
        polars.col("line") == present["line"], polars.col("request") < present["request"]
    )
    return Difference(
        a=records[0],
        b=records[1],
        columns=tuple(c for c in columns if all(records) and records[0][c] != records[1][c]),  # type: ignore[index]
        before=before.to_dicts(),
    )


def _earlier_time(name: str) -> polars.Expr:
    """Returns the earlier of both logs' times in this column; ignores negative times, which mean
    that the event did not happen.
    """
    times = (polars.col(column) for column in (name, f"{name}'"))
    return polars.min_horizontal(polars.when(time >= 0).then(time) for time in times)


def _record(table: polars.DataFrame, request: dict[str, Any]) -> dict[str, Any] | None:
    matches = table.filter(*(polars.col(column) == request[column] for column in REQUEST_COLUMNS))
    return None if matches.is_empty() else matches.row(0, named=True)

"""Do two engines agree on a job?  Their transaction logs and outcomes, side by side.

Interface: `compare(job, engines)` runs a job of one thread count on both and gives an `Agreement`;
`first(a, b)` is the first difference of two logs.
Invariant: equal means equal: every column of every record (section L of docs/model.md), and every
field of the Point that both engines know.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars

from uncore import engine
from uncore.engine import NO_OPTIONS, EngineOptions, Tick, silent
from uncore.result import log

if TYPE_CHECKING:
    from uncore.job import Job

# Rules of docs/model.md that decide a column of the log: where to look when two engines differ.
RULES = {
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
ABSENT = "C1 and C5 what a core asks for, T4 when the run ends"
NAME = ["requester", "number"]  # columns that identify a request (L2)
TIMES = ["request", "open", "probe", "data", "close"]
PACE = "pace"  # a probe that is compared, too
NEVER_COMPARED = {"absent", "events", "observed"}


@dataclass(frozen=True)
class Difference:
    """The first record on which two logs differ."""

    a: dict[str, Any] | None  # None: that engine has no such record
    b: dict[str, Any] | None
    columns: tuple[str, ...]
    before: list[dict[str, Any]]  # the line's records before it, on which they agree

    @property
    def rule(self) -> str:
        """The rules that decide the first column that differs, in a transaction's life."""
        return RULES[min(self.columns, key=list(RULES).index)] if self.columns else ABSENT


@dataclass(frozen=True)
class Agreement:
    """Comparison of two engines on one job."""

    threads: int
    seed: int | None
    records: int  # rows of the first engine's log
    difference: Difference | None
    outcome: dict[str, tuple[Any, Any]]  # fields of the Point that differ

    @property
    def equal(self) -> bool:
        return self.difference is None and not self.outcome


def compare(
    job: Job,
    engines: tuple[str, str],
    tick: Tick = silent,
    engine_options: EngineOptions = NO_OPTIONS,
) -> Agreement:
    """Both runs, one after the other."""
    probes = frozenset({"log", PACE})
    for name in engines:
        engine.usable(name, probes, engine_options)
    jobs = [dataclasses.replace(job, engine=name) for name in engines]
    ran = [engine.run(point, probes, tick, engine_options) for point in jobs]
    a, b = (log.frame(fields["observed"]["log"]) for fields in ran)
    for fields in ran:
        fields[PACE] = fields["observed"][PACE]
    shared = (ran[0].keys() & ran[1].keys()) - NEVER_COMPARED
    outcome = {name: (ran[0][name], ran[1][name]) for name in sorted(shared)}
    return Agreement(
        threads=job.threads[0],
        seed=job.seed,
        records=len(a),
        difference=first(a, b),
        outcome={name: pair for name, pair in outcome.items() if pair[0] != pair[1]},
    )


def first(a: polars.DataFrame, b: polars.DataFrame) -> Difference | None:
    """The difference that is earliest in time; `id` counts records and is none of its own."""
    columns = [name for name in a.columns if name not in ("id", *NAME)]
    both = a.join(b, on=NAME, how="full", coalesce=True, suffix="'")
    differs = {name: polars.col(name).ne_missing(polars.col(f"{name}'")) for name in columns}
    timely = (polars.when(differs[name]).then(_earlier(name)) for name in TIMES)
    any_of_it = polars.when(polars.any_horizontal(differs.values())).then(_earlier("open"))
    when = polars.coalesce(polars.min_horizontal(timely), any_of_it)
    differing = both.with_columns(when.alias("when")).filter(polars.col("when").is_not_null())
    if differing.is_empty():
        return None
    name = differing.sort("when", *NAME).row(0, named=True)
    records = [_record(table, name) for table in (a, b)]
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


def _earlier(name: str) -> polars.Expr:
    """When the first of the two did it; -1 is never."""
    times = (polars.col(column) for column in (name, f"{name}'"))
    return polars.min_horizontal(polars.when(time >= 0).then(time) for time in times)


def _record(table: polars.DataFrame, name: dict[str, Any]) -> dict[str, Any] | None:
    matches = table.filter(*(polars.col(column) == name[column] for column in NAME))
    return None if matches.is_empty() else matches.row(0, named=True)

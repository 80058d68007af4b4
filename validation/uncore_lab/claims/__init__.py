"""What articles claim, asked of the simulator: `uncore claims`.

The files:

    articles/     the claims, a function each
    claim.py      what a claim is;  collection.py  all of them
    amounts.py    what it can ask of its runs
    verdict.py    the number against the expected range
    wording.py    numbers of claims as people read them

Interface: `main(ids, cores, json, renew)` -> exit status: 0, 1 where a run failed or a claim that
is not reproduced gives no reason, 130 interrupted.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from uncore.drawing import formats as units
from uncore.drawing.progress import progress
from uncore.drawing.table import Column, emit
from uncore.errors import GuestError, UserError
from uncore.execution.execute import execute
from uncore.job import Job
from uncore.result import Result
from uncore_lab.claims.amounts import Curve
from uncore_lab.claims.claim import Claim
from uncore_lab.claims.collection import load
from uncore_lab.claims.verdict import NOT_REPRODUCED, NOT_RUN, Row, judge
from uncore_lab.claims.wording import amount, summary
from uncore_lab.results.table import Table, save


def main(ids: Sequence[str], cores: int, *, json: bool, renew: bool) -> int:
    if renew and ids:
        raise UserError("--renew: the file of results holds every claim; leave the names out")
    rows = ask(load(ids), cores)
    emit([msgspec.to_builtins(row) for row in rows], json, COLUMNS, summary(rows))
    if renew and all(row.verdict != NOT_RUN for row in rows):
        save(table(rows))
    return _status(rows)


def table(rows: Sequence[Row]) -> Table:
    return Table(
        "claims",
        ("claim",),
        [
            {
                "claim": row.id,
                "from": row.expected[0],
                "to": row.expected[1],
                "unit": row.unit,
                "got": row.got,
                "verdict": row.verdict,
            }
            for row in rows
        ],
    )


def _status(rows: Sequence[Row]) -> int:
    missing = [row for row in rows if row.verdict == NOT_RUN]
    if any(not row.reason for row in missing):
        return 130
    silent = any(row.verdict == NOT_REPRODUCED and not row.reason for row in rows)
    return 1 if missing or silent else 0


def ask(claims: Sequence[Claim], cores: int) -> list[Row]:
    """Runs what the claims need, each job once, and judges; interrupted, judges what is there."""
    needed = {claim.id: claim.jobs() for claim in claims}
    jobs = list(dict.fromkeys(job for runs in needed.values() for job in runs.values()))
    wrong: dict[Job, str] = {}

    def went_wrong(point: Job, error: GuestError) -> None:
        wrong.setdefault(_whole(point, jobs), _failure(point, error))

    with progress(sum(sum(job.threads) for job in jobs), "asking") as advance:
        results = execute(
            jobs,
            cores,
            lambda job, point: advance(point.threads),
            went_wrong,
        )
    by_job = dict(zip(jobs, results, strict=True))
    return [_row(claim, needed[claim.id], by_job, wrong) for claim in claims]


def _whole(point: Job, jobs: Sequence[Job]) -> Job:
    """The curve that a point is of."""
    count = point.threads[0]
    return next(job for job in jobs if count in job.threads and job.at(count) == point)


def _failure(job: Job, error: GuestError) -> str:
    return f"{job.program.name} on {job.machine.id} at {job.threads[0]} threads: {error}"


def _row(
    claim: Claim, runs: dict[str, Job], results: dict[Job, Result], wrong: dict[Job, str]
) -> Row:
    for job in runs.values():
        failures = [f for point in results[job].points for f in point.failures]
        if job in wrong or failures:
            return judge(claim, None, wrong.get(job) or failures[0])
    if any(results[job].outcome.partial for job in runs.values()):
        return judge(claim, None)
    curves = {
        name: Curve.of(results[job], {table.name: table.unit for table in job.program.tables})
        for name, job in runs.items()
    }
    return judge(claim, claim.amount(curves))


COLUMNS = [
    Column("claim", "id", left=True),
    Column("expected", lambda row: amount(row["expected"], row["unit"]), left=True),
    Column("got", lambda row: amount(row["got"], row["unit"]), left=True),
    Column("verdict", "verdict", left=True),
    Column("fitted", lambda row: ", ".join(row["fitted"]) or units.EMPTY, left=True),
    Column("what is claimed", "claim", left=True),
]

"""Statements of articles, checked on the simulator: `uncore claims`.

The files:

    articles/     the claims, each of them a function
    claim.py      the class of a claim;  collection.py  all of them
    ranges.py     expected ranges, with their precision
    amounts.py    the numbers of a run that a claim can use
    verdict.py    judges a number by its expected range
    filed.py      answers in validation/results
    wording.py    formats the numbers of claims

Interface: `main(ids, cores, json, renew)` returns an exit status: 0 for success; 1 if a run failed,
or if a claim that is not reproduced gives no reason; 130 if the user interrupted.
`print_subjects(json)` prints everything that the articles name, with the verdicts on file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from uncore.drawing import formats as units
from uncore.drawing.progress import progress
from uncore.drawing.table import Column, emit
from uncore.errors import GuestError
from uncore.execution.execute import execute
from uncore.job import Job
from uncore.job.job import DURATION_PARAMETER, OPS_PARAMETER
from uncore.result import Result
from uncore_lab.claims import filed
from uncore_lab.claims.amounts import Curve, Seed
from uncore_lab.claims.claim import Claim
from uncore_lab.claims.collection import load
from uncore_lab.claims.verdict import NOT_REPRODUCED, NOT_RUN, Row, judged_row
from uncore_lab.claims.wording import amount, over_seeds, summary, verdict, verdict_counts
from uncore_lab.results.table import save

_Key = tuple[Any, ...]


def main(ids: Sequence[str], cores: int, *, json: bool, renew: bool) -> int:
    rows = ask(load(ids), cores)
    emit([msgspec.to_builtins(row) for row in rows], json, COLUMNS, summary(rows))
    if renew and all(row.verdict != NOT_RUN for row in rows):
        save(filed.table(rows, keep_others=bool(ids)))
    return _status(rows)


def print_subjects(*, json: bool) -> None:
    subject_rows = filed.subject_rows()
    emit(
        subject_rows,
        json,
        SUBJECT_COLUMNS,
        verdict_counts([row["verdict"] for row in subject_rows]),
    )


def _status(rows: Sequence[Row]) -> int:
    missing = [row for row in rows if row.verdict == NOT_RUN]
    if any(not row.reason for row in missing):
        return 130
    silent = any(row.verdict == NOT_REPRODUCED and not row.reason for row in rows)
    return 1 if missing or silent else 0


def ask(claims: Sequence[Claim], cores: int) -> list[Row]:
    """Runs each job of the claims once, and judges the claims. After an interrupt it judges only
    the claims whose runs have finished.
    """
    needed = {claim.id: claim.jobs() for claim in claims}
    jobs = list(dict.fromkeys(job for runs in needed.values() for job in runs.values()))
    failure_of: dict[_Key, str] = {}

    def note_failure(point: Job, error: GuestError) -> None:
        failure_of.setdefault(_key(point), _failure(point, error))

    with progress(sum(point.threads[0] for job in jobs for point in job.points()), "asking") as on:
        results = execute(jobs, cores, lambda job, point: on(point.threads), note_failure)
    by_job = dict(zip(jobs, results, strict=True))
    return [_row(claim, needed[claim.id], by_job, failure_of) for claim in claims]


def _key(job: Job) -> _Key:
    """Returns a key that all points of one curve have in common. It does not include the length of
    a run.
    """
    parameters = [
        parameter
        for parameter in job.parameters
        if parameter[0] not in (OPS_PARAMETER, DURATION_PARAMETER)
    ]
    where = job.machine.id, job.overrides, job.placement, job.smt, job.home
    return where, job.program.sha256, tuple(parameters)


def _failure(job: Job, error: GuestError) -> str:
    return f"{job.program.name} on {job.machine.id} at {job.threads[0]} threads: {error}"


def _row(
    claim: Claim, runs: dict[str, Job], results: dict[Job, Result], failure_of: dict[_Key, str]
) -> Row:
    for job in runs.values():
        failures = [f for point in results[job].points for f in point.failures]
        if failures or results[job].outcome.partial:
            return judged_row(claim, [], failure_of.get(_key(job)) or next(iter(failures), ""))
    curves = {
        name: Curve.of(results[job], {table.name: table.unit for table in job.program.tables})
        for name, job in runs.items()
    }
    return judged_row(claim, [claim.amount(by_run) for by_run in _by_seed(curves)])


def _by_seed(curves: Mapping[str, Mapping[Seed, Curve]]) -> list[dict[str, Curve]]:
    """Returns the curves by seed, for the seeds that occur in all runs."""
    first, *other_runs = curves.values()
    seeds = [seed for seed in first if all(seed in by_seed_of_run for by_seed_of_run in other_runs)]
    return [
        {name: by_seed_of_one[seed] for name, by_seed_of_one in curves.items()} for seed in seeds
    ]


SUBJECT_COLUMNS = [
    Column("row", "row", left=True),
    Column("article", "article", left=True),
    Column("what it names", "what", left=True),
    Column("verdict", "verdict", left=True),
    Column("fitted", "fitted", left=True),
    Column("ask by", "command", left=True),
    Column("note", "note", left=True),
]
COLUMNS = [
    Column("claim", "id", left=True),
    Column("expected", lambda row: amount(row["expected"], row["unit"]), left=True),
    Column("got", lambda row: amount(row["got"], row["unit"]), left=True),
    Column("over seeds", lambda row: over_seeds(msgspec.convert(row, Row)), left=True),
    Column("verdict", lambda row: verdict(msgspec.convert(row, Row)), left=True),
    Column("fitted", lambda row: ", ".join(row["fitted"]) or units.EMPTY, left=True),
    Column("what is claimed", "claim", left=True),
]

"""Runs the job of a saved result again.

job_again(result) -> Job                    the job of the result
observe(result, threads, seed) -> Observed  the instructions and lines of one point of the result
"""

from __future__ import annotations

import msgspec

from uncore import program
from uncore.engine import NO_OPTIONS, EngineOptions
from uncore.errors import UserError
from uncore.execution.execute import execute
from uncore.execution.request import find_program
from uncore.job import Job
from uncore.result import Observed, Point, Repeats, Result, canonical, repeats


class _RecordedProgram(msgspec.Struct):
    """A program in a job's document."""

    name: str
    sha256: str


def job_again(result: Result) -> Job:
    """Returns the job of a result. The machine is the recorded one; the program is loaded again,
    and must be the recorded one.
    """
    try:
        recorded = msgspec.convert(result.job.get("program"), _RecordedProgram)
    except msgspec.ValidationError as error:
        raise UserError(f"job.program: {error}") from None
    if result.job.get("engine") == "host":
        raise UserError(
            "this result was measured on hardware, which does not repeat itself; write"
            f" uncore run --host {recorded.name} to measure again"
        )
    shipped = recorded.name in program.catalogue()
    guest = find_program(recorded.name if shipped else result.host.program)
    if guest.sha256 != recorded.sha256:
        raise UserError(
            f"{guest.path}: the program is not the one of the result (SHA-256 {guest.sha256[:12]},"
            f" recorded {recorded.sha256[:12]}): the outcome cannot be reproduced from it"
        )
    job = Job.of(result.job, guest)
    if job.since:
        raise UserError(
            "this result went on from a saved run with other parameters: no job alone gives it;"
            " write uncore run --from FILE"
        )
    return job


def observe(
    result: Result,
    threads: int | None = None,
    seed: int | None = None,
    engine_options: EngineOptions = NO_OPTIONS,
) -> Observed:
    """Returns what the observer `lines` records at a point, by default the median of the last
    thread count.

    A point that was saved without these records is run again, and must have the same outcome.
    """
    point = _select_point(repeats(result), threads, seed)
    run = (point.threads, point.seed)
    recorded = [
        observed for observed in result.observed if (observed.threads, observed.seed) == run
    ]
    if recorded and isinstance(recorded[0].path_ps, int):
        return recorded[0]
    repeated = execute(
        [job_again(result).at(*run)], observers=frozenset({"lines"}), engine_options=engine_options
    )[0]
    if not repeated.points:
        raise KeyboardInterrupt
    if canonical(repeated.points[0].limited_to(point)) != canonical(point):
        raise UserError(
            f"the point at {point.threads} threads{point.by_seed} comes out differently now (its"
            f" result is of uncore {result.host.uncore}): what cost it its time then cannot be"
            " told; run it anew"
        )
    return repeated.observed[0]


def _select_point(all_repeats: list[Repeats], threads: int | None, seed: int | None) -> Point:
    if not all_repeats:
        raise UserError("the result has no finished point to look at; run its job again")
    repeats_of_count = [group for group in all_repeats if threads in (None, group.threads)]
    if not repeats_of_count:
        counts = ", ".join(str(group.threads) for group in all_repeats)
        raise UserError(f"--threads {threads}: the result has {counts}")
    if seed is None:
        return repeats_of_count[-1].median
    points = {point.seed: point for point in repeats_of_count[-1].points}
    if seed not in points:
        seeds = ", ".join(str(number) for number in points if isinstance(number, int)) or "none"
        raise UserError(f"--seed {seed}: the result's are {seeds}")
    return points[seed]

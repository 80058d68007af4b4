"""Runs jobs, point by point, on as many of the host's cores as asked, and keeps what is finished.

Interface: `execute(jobs, cores, done)`.  A point is one job at one thread count with one seed;
points are independent, so they run in any order on any core and the results come back in the jobs'
order.
Invariant: every finished point is returned, in results marked partial, whether the user interrupted
the execution or a guest went wrong at another point; the latter is told to `wrong`, or raised where
nobody listens.
"""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from typing import Any

import msgspec

from uncore import engine, pool
from uncore.engine import NOTHING, Probes, Tick, Told
from uncore.errors import GuestError
from uncore.job import Job
from uncore.result.observed import Observed
from uncore.result.schema import Host, Outcome, Point, Result
from uncore.version import __version__

Seen = Callable[[Job, dict[str, Any]], None]  # what the probes saw at a point, by probe
Done = Callable[[Job, Point], None]  # called after each point, in the order of finishing
Wrong = Callable[[Job, GuestError], None]  # called for each point whose guest went wrong
Interrupted = Callable[[KeyboardInterrupt], None]

# Number of the point, what came, what the probes saw, host seconds.
Finished = tuple[int, Point | GuestError, dict[str, Any], float]


def _raise(_: Job, error: GuestError) -> None:
    raise error


def execute(
    jobs: Sequence[Job],
    cores: int = 1,
    done: Done = lambda job, point: None,
    wrong: Wrong = _raise,
    probes: Probes = frozenset(),
    tick: Tick = engine.silent,
    seen: Seen = lambda job, observed: None,
    told: Told = NOTHING,
    interrupted: Interrupted = lambda stopped: None,
) -> list[Result]:
    """One Result per job; a result that misses points is marked partial.

    `tick` hears how far a point is, where one process runs all points; `told` says how engines
    are to be run.
    """
    started = datetime.now(UTC).isoformat(timespec="seconds")
    for name in {job.engine for job in jobs}:
        engine.usable(name, probes, told)
    owners = [job for job in jobs for _ in job.points()]
    points = [point for job in jobs for point in job.points()]
    finished: dict[int, tuple[Point, float, dict[str, Any]]] = {}
    try:
        for number, point, observed, seconds in _runs(points, cores, probes, tick, told):
            if isinstance(point, GuestError):
                wrong(points[number], point)
                continue
            finished[number] = (point, seconds, observed)
            seen(points[number], observed)
            done(points[number], point)
    except KeyboardInterrupt as stopped:  # what is finished is the answer
        interrupted(stopped)
    return [
        _result(job, [finished[n] for n in sorted(finished) if owners[n] is job], started, told)
        for job in jobs
    ]


def _runs(
    points: Sequence[Job], cores: int, probes: Probes, tick: Tick, told: Told
) -> Iterator[Finished]:
    if min(cores, len(points)) > 1:
        return _pooled(points, cores, probes, told)
    return (_point(number, job, probes, told, tick) for number, job in enumerate(points))


def _pooled(points: Sequence[Job], cores: int, probes: Probes, told: Told) -> Iterator[Finished]:
    # Most threads first: the longest point must not be the last one to start.
    order = sorted(enumerate(points), key=lambda numbered: -numbered[1].threads[0])
    yield from pool.finished(partial(_numbered, probes=probes, told=told), order, cores)


def _numbered(numbered: tuple[int, Job], probes: Probes, told: Told) -> Finished:
    return _point(*numbered, probes, told)


def _point(
    number: int, job: Job, probes: Probes, told: Told, tick: Tick = engine.silent
) -> Finished:
    start = time.perf_counter()
    point: Point | GuestError
    observed: dict[str, Any] = {}
    try:
        fields = engine.run(job, probes, tick, told)
        observed = fields.pop("observed", observed)
        if job.seed is not None:
            fields["seed"] = job.seed
        point = msgspec.convert(fields, Point)
    except GuestError as error:
        point = error
    return number, point, observed, time.perf_counter() - start


def _result(
    job: Job,
    finished: Iterable[tuple[Point, float, dict[str, Any]]],
    started: str,
    told: Told,
) -> Result:
    points, seconds = [p for p, _, _ in finished], [round(s, 3) for _, s, _ in finished]
    lines = [observed["lines"] for _, _, observed in finished if "lines" in observed]
    return Result(
        job=job.document(),
        outcome=Outcome(points=points, partial=len(points) < len(list(job.points()))),
        host=host_part(engine.about(job.engine, told), started, seconds, job.program.path),
        observed=msgspec.convert(lines, list[Observed]),
    )


def host_part(about: str, started: str, seconds: list[float], program: Path) -> Host:
    """What a Result says of this computer; `about` is the engine."""
    return Host(
        uncore=__version__,
        engine=about,
        python=platform.python_version(),
        system=f"{platform.system()} {platform.machine()}",
        cpu=processor(),
        started=started,
        seconds=seconds,
        program=str(program.resolve()),
    )


@cache
def processor() -> str:
    """This computer's processor, by its name."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or "unknown"
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{names[0]} ({len(names)} CPUs)" if names else platform.machine()

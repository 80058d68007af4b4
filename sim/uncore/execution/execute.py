"""Executes jobs, point by point, on any number of workers, and saves finished points.

Interface: `execute(jobs, workers, done)`. A point is one job at one thread count with one seed.
Points are independent, so they run in any order on any core of this computer or of a cluster; the
results are returned in the order of the jobs. With a store, a point is saved on disk as soon as it
is finished; with `resume`, points on disk are loaded and not run again.

Invariant: every finished point is returned, even if the user interrupts the execution or the guest
fails at another point; results that lack points are marked partial. `wrong` is called with the
error of a guest, and by default raises it. `interrupted` is called for each point that was running,
or once with None if no point was.
"""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache, partial
from itertools import accumulate
from pathlib import Path
from typing import Any

import msgspec

from uncore import engine
from uncore.engine import NO_OPTIONS, EngineOptions, Observers, ProgressCallback
from uncore.errors import GuestError, Unfinished
from uncore.execution import enough, pool
from uncore.execution.pool import OnItemProgress, Workers
from uncore.execution.saved_points import SavedPoint, Store, key
from uncore.job import Job
from uncore.result.observed import Observed
from uncore.result.schema import Host, Outcome, Point, Result, point_of
from uncore.support.version import __version__

# called with the job of a point, and the observations of its run by the observers' names
OnObserved = Callable[[Job, dict[str, Any]], None]
OnFinished = Callable[[Job, Point], None]  # called when a point is finished
OnGuestError = Callable[[Job, GuestError], None]  # called for each point whose guest failed
# called for each point that was running when the user interrupted the execution
OnInterrupted = Callable[[Job | None, KeyboardInterrupt], None]
_RunKey = tuple[Any, ...]  # identifies a point within its job
_Numbered = tuple[int, Job, Observers]  # index among all points, the point, and its observers

# observers whose observations are saved with a point
SAVED_OBSERVERS = frozenset({"lines", "traffic", "pace"})
# Small points run first, until they have done 1/EARLY_WORK_DIVISOR of the work.
EARLY_WORK_DIVISOR = 10


@dataclass(frozen=True)
class FinishedPoint:
    """A point that was run or loaded, or instead the error of its guest or the tables of an
    interrupted run.
    """

    number: int  # index among all points
    point: Point | GuestError | Unfinished
    observed: dict[str, Any]
    seconds: float
    resumed: bool = False  # loaded from the store


def _raise_guest_error(_: Job, error: GuestError) -> None:
    raise error


def execute(
    jobs: Sequence[Job],
    workers: Workers = 1,
    done: OnFinished = lambda job, point: None,
    wrong: OnGuestError = _raise_guest_error,
    observers: Observers = frozenset(),
    tick: OnItemProgress = pool.ignore_item_progress,
    seen: OnObserved = lambda job, observed: None,
    engine_options: EngineOptions = NO_OPTIONS,
    interrupted: OnInterrupted = lambda job, stopped: None,
    ended: Callable[[], None] = lambda: None,
    store: Store | None = None,
    resume: bool = False,
    plans: Sequence[enough.Plan] = (),  # a plan for each job; by default, the one for its `within`
) -> list[Result]:
    """Returns one Result per job. `tick` is called with the progress, `ended` after the last
    point.
    """
    started = datetime.now(UTC).isoformat(timespec="seconds")
    engines = dict.fromkeys(job.engine for job in jobs)
    about = {name: engine.usable(name, observers, engine_options) for name in engines}
    settings = _Settings(observers, engine_options, store)
    plans = plans or [enough.plan(job, observers) for job in jobs]
    finished: dict[enough.Plan, dict[_RunKey, FinishedPoint]] = {plan: {} for plan in plans}
    under_way: list[tuple[Job | None, KeyboardInterrupt]] = []
    try:
        for plan, job, point in _rounds(plans, workers, settings, tick, resume):
            if isinstance(point.point, GuestError):
                wrong(job, point.point)
            elif isinstance(point.point, Unfinished):
                under_way.append((job, point.point.stopped()))
            else:
                finished[plan][_run_key(job)] = point
                plan.add_outcome(point.point, point.observed)
                if not plan.job.within:
                    seen(job, point.observed)
                done(job, point.point)
        ended()
    except KeyboardInterrupt as stopped:  # the finished points are returned
        ended()
        for end in under_way or [(None, stopped)]:
            interrupted(*end)
    return [
        _result_of_plan(plan, finished[plan], seen, started, about[plan.job.engine])
        for plan in plans
    ]


def _rounds(
    plans: Sequence[enough.Plan],
    workers: Workers,
    settings: _Settings,
    tick: OnItemProgress,
    resume: bool,
) -> Iterator[tuple[enough.Plan, Job, FinishedPoint]]:
    while requested := [(plan, point) for plan in plans for point in plan.next_points()]:
        points = [
            (n, point, settings.observers - plan.deferred | plan.observers)
            for n, (plan, point) in enumerate(requested)
        ]
        for finished in _finished_points(points, workers, settings, tick, resume):
            yield (*requested[finished.number], finished)


def _run_key(point: Job) -> _RunKey:
    return point.threads, point.seeds, point.parameters


def _result_of_plan(
    plan: enough.Plan,
    finished: Mapping[_RunKey, FinishedPoint],
    seen: OnObserved,
    started: str,
    about: str,
) -> Result:
    """Returns the result of a plan's kept points. Observations of a search are passed to `seen`
    here, because only now it is known which points are kept.
    """
    job, estimated = plan.job_and_estimates()
    runs = {_run_key(point): point for point in plan.kept}
    kept = {run: finished[run] for run in runs if run in finished}
    for run, point in kept.items() if plan.job.within else ():
        seen(runs[run], point.observed)
    result = _result(job, [*kept.values()], started, about, partial=len(kept) < len(runs))
    return msgspec.structs.replace(result, estimated=estimated)


@dataclass(frozen=True)
class _Settings:
    """Settings of an execution that do not change outcomes."""

    observers: Observers
    engine_options: EngineOptions
    store: Store | None

    def load_saved(self, number: int, job: Job, observers: Observers) -> FinishedPoint | None:
        """Returns the saved point, if it has the observations of all observers; else None."""
        if not self.store or not observers <= SAVED_OBSERVERS:
            return None
        saved = self.store.load(key(job, self.engine_options))
        observed = {observer: getattr(saved, observer, None) for observer in observers}
        if saved is None or None in observed.values():
            return None
        return FinishedPoint(number, saved.point, observed, saved.seconds, resumed=True)

    def save(self, job: Job, finished: FinishedPoint) -> None:
        if self.store and isinstance(finished.point, Point):
            seen = {
                observer: value
                for observer, value in finished.observed.items()
                if observer in SAVED_OBSERVERS
            }
            fields = {"point": finished.point, "seconds": finished.seconds, **seen}
            self.store.save(key(job, self.engine_options), msgspec.convert(fields, SavedPoint))


def _finished_points(
    points: Sequence[_Numbered],
    workers: Workers,
    settings: _Settings,
    tick: OnItemProgress,
    resume: bool,
) -> Iterator[FinishedPoint]:
    not_saved = []
    for numbered in points:
        if point := settings.load_saved(*numbered) if resume else None:
            yield point
        else:
            not_saved.append(numbered)
    cores = 1  # host cores of each run
    if isinstance(workers, int):
        cores = max(1, workers // max(1, len(not_saved)))
        workers = min(workers, len(not_saved))
    not_saved = _in_execution_order(not_saved, alone=isinstance(workers, int) and workers <= 1)
    run = partial(_point, settings=replace(settings, store=None), cores=cores)
    for point in _finished_by_workers(not_saved, workers, run, tick):
        try:
            settings.save(points[point.number][1], point)
        finally:  # an interruption during save() must not lose a finished point
            yield point


def _finished_by_workers(
    points: list[_Numbered],
    workers: Workers,
    run: Callable[..., FinishedPoint],
    tick: OnItemProgress,
) -> Iterator[FinishedPoint]:
    """Runs points in this process, in processes of this computer, or on a cluster. Yields each
    point when it is finished.
    """
    if not isinstance(workers, int):
        return workers.finished(run, points, tick)
    if workers > 1:
        return pool.finished(run, points, workers)
    return _finished_one_by_one(run, points, tick)


def _finished_one_by_one(
    run: Callable[..., FinishedPoint], points: list[_Numbered], tick: OnItemProgress
) -> Iterator[FinishedPoint]:
    for numbered in points:
        point = run(numbered, tick=tick)
        yield point
        if isinstance(point.point, Unfinished):
            raise KeyboardInterrupt


def _in_execution_order(points: list[_Numbered], alone: bool) -> list[_Numbered]:
    """Sorts small points first, for early results. On several cores this holds only for the first
    tenth of the work. After that the longest points come first, because they must not be the last
    to start.
    """
    points = sorted(points, key=lambda numbered: numbered[1].threads[0])
    if alone:
        return points
    work = list(accumulate(numbered[1].threads[0] for numbered in points))
    early = sum(EARLY_WORK_DIVISOR * done <= work[-1] for done in work)
    return points[:early] + points[early:][::-1]


def _point(
    numbered: _Numbered,
    settings: _Settings,
    cores: int,
    tick: ProgressCallback = engine.ignore_progress,
) -> FinishedPoint:
    number, job, observers = numbered
    return _finish_point(
        number, job, lambda job: engine.run(job, observers, tick, settings.engine_options, cores)
    )


def _finish_point(number: int, job: Job, run: Callable[[Job], dict[str, Any]]) -> FinishedPoint:
    """Runs a point and measures its host time. If it is interrupted, returns its output so far."""
    start = time.perf_counter()
    point: Point | GuestError | Unfinished
    observed: dict[str, Any] = {}
    try:
        fields = run(job)
        observed = fields.pop("observed", observed)
        if job.seed is not None:
            fields["seed"] = job.seed
        point = point_of(job.engine, fields)
    except GuestError as error:
        point = error
    except KeyboardInterrupt as stopped:
        point = Unfinished.cause_of(stopped)
    return FinishedPoint(number, point, observed, time.perf_counter() - start)


def result_of_point(job: Job, run: Callable[[Job], dict[str, Any]]) -> Result:
    """Returns the result of a job of a single point, executed by `run` instead of `engine.run`."""
    started = datetime.now(UTC).isoformat(timespec="seconds")
    finished = _finish_point(0, job, run)
    if isinstance(finished.point, GuestError):
        raise finished.point
    if isinstance(finished.point, Unfinished):
        raise finished.point.stopped()
    return _result(job, [finished], started, engine.about(job.engine), partial=False)


def _result(
    job: Job, finished: Sequence[FinishedPoint], started: str, about: str, *, partial: bool
) -> Result:
    """Makes a result of finished points. `about` describes the engine in a line."""
    points = [point.point for point in finished if isinstance(point.point, Point)]
    lines = [point.observed["lines"] for point in finished if "lines" in point.observed]
    seconds = [round(point.seconds, 3) for point in finished]
    host = host_part(about, started, seconds, job.program.path)
    return Result(
        job=job.document(),
        outcome=Outcome(points=points, partial=partial),
        host=msgspec.structs.replace(host, resumed=sum(point.resumed for point in finished)),
        observed=msgspec.convert(lines, list[Observed]),
    )


def host_part(about: str, started: str, seconds: list[float], program: Path) -> Host:
    """Returns the part of a Result about this computer. `about` describes the engine in a line."""
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
    """Returns the name of this computer's processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or "unknown"
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{names[0]} ({len(names)} CPUs)" if names else platform.machine()

"""Makes single changes to a program or machine, runs each, and ranks their effects.

    whatif(machine, workload, job)   runs the unchanged job and each change; ranks the changes
    changed(job, free, apart)        the job with free lines, and fields on separate lines
    change_of_rate(base, runs)       the relative change of the rate, with its interval
    changes(machine, job, observed)  all changes to try, with their options of `run`

Nothing is estimated: each row is a run, which its command repeats. Free lines (accesses to them
cost no time) and fields on lines of their own are features of the engine (docs/whatif.md); all
other changes are options of `run`. Changes that can be made, to the program or to the machine, rank
before bounds. A bound is the gain if a line were free, which no program may be able to reach.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median
from typing import Any, Literal, get_args

from uncore import topology
from uncore.engine import NO_OPTIONS, EngineOptions
from uncore.errors import UserError
from uncore.execution import repeat_command as repeating
from uncore.execution.comparison import Comparison
from uncore.execution.enough import RUN_COUNTS, Plan
from uncore.execution.execute import execute
from uncore.execution.pool import Workers
from uncore.execution.rerun import observe
from uncore.job import Job
from uncore.job.job import Length
from uncore.program.objects import alike, whole_object
from uncore.protocol.table_shapes import PROTOCOLS
from uncore.result import Observed, Point, Repeats, Result, repeats
from uncore.result.frame import Framed
from uncore.result.repeats import rate
from uncore.result.sharing import costs
from uncore.support.steady import interval
from uncore.topology.load import stated
from uncore.topology.migration import open_choice

# kinds of changes that are tried only if the user asks for them
OptionalKind = Literal["width", "slices", "directory", "protocol"]
Kind = Literal["layout", "home", "atomics", "distance", "number", "line"] | OptionalKind
Where = Literal["program", "machine", "bound"]
CHANGED_PART: dict[Kind, Where] = {
    "protocol": "machine",
    "layout": "program",
    "home": "program",
    "atomics": "machine",
    "distance": "machine",
    "number": "machine",
    "width": "machine",
    "slices": "machine",
    "directory": "machine",
    "line": "bound",
}
JOIN_KEY_PART = ".join."  # keys with this part are times of the links between two levels
NUMBER_CHANGE_SHARE = 0.2  # a number of the machine is changed by this share, up and down
# kinds of changes that may make a program many times as fast
FASTER_KINDS: tuple[Kind, ...] = ("line", "layout")
MAX_FREE_OBJECTS = 6  # objects whose lines are made free in one study
MIN_PATH_SHARE = 0.01  # objects with a smaller share of the critical path are not tried
TIME_VALUE_PATTERN = re.compile(r"(\d+(?:\.\d+)?)((?:ps|ns|us|cy)(?:@\w+)?)")
WIDTH_VALUE_PATTERN = re.compile(r"(\d+(?:\.\d+)?)([KMGT]?i?B/.+)")
# Maps suffixes of keys to the kind of change. Numbers with such keys are halved and doubled.
COUNT_KINDS: dict[str, Kind] = {
    ".resolver.slices": "slices",
    ".resolver.entries": "directory",
    ".resolver.pointers": "directory",
}


@dataclass(frozen=True)
class Change:
    """One change of the program or the machine."""

    kind: Kind
    what: str
    words: tuple[str, ...]  # options to add to the command of the unchanged run
    job: Job
    unknown: bool = False  # True: the real machine may have either the original or the change

    @property
    def where(self) -> Where:
        """Returns what is changed: "program" or "machine"; "bound" for a free line, which cannot be
        built.
        """
        return CHANGED_PART[self.kind]


@dataclass(frozen=True)
class Effect:
    """The effect of a change: the relative changes of throughput and of p99."""

    change: Change
    runs: Repeats
    throughput: float  # median over the seeds
    interval: tuple[float, float] | None  # of `throughput`, as change_of_rate() returns it
    p99: float | None

    @property
    def doubtful(self) -> bool:
        return is_doubtful(self.interval)

    @property
    def point(self) -> Point:
        return self.runs.median

    @property
    def rank(self) -> tuple[bool, bool, int, float]:
        """Returns the sort key: alternatives that the real machine may have come first, then other
        changes, then bounds. In each of these groups, gains come before doubtful effects, and these
        before losses.
        """
        outcome = 1 if self.doubtful else 0 if self.throughput > 0 else 2
        change = self.change
        return not change.unknown, change.where == "bound", outcome, -self.throughput


@dataclass(frozen=True, repr=False)
class WhatIf(Framed):
    """The unchanged run and the effects of all changes, as rows of `uncore whatif --json`."""

    words: tuple[str, ...]  # the command of the unchanged run: uncore run MACHINE WORKLOAD ...
    result: Result
    effects: tuple[Effect, ...]  # sorted by rank

    @property
    def base(self) -> Repeats:
        return repeats(self.result)[0]

    def __repr__(self) -> str:
        return f"<{shlex.join(self.words)}: {len(self.effects)} changes>"

    def command_of(self, change: Change) -> list[str]:
        """Returns the command that repeats the run of a change."""
        return [*_without_replaced(self.words, change.words), *change.words]

    def to_rows(self) -> list[dict[str, Any]]:
        return [
            {
                "where": effect.change.where,
                "kind": effect.change.kind,
                "change": effect.change.what,
                "throughput": effect.runs.throughput,
                "throughput_min": effect.runs.ends[0],
                "throughput_max": effect.runs.ends[1],
                "throughput_change": effect.throughput,
                "throughput_change_min": effect.interval and effect.interval[0],
                "throughput_change_max": effect.interval and effect.interval[1],
                "doubtful": effect.doubtful,
                "p99_ps": effect.point.latency and effect.point.latency.p99,
                "p99_change": effect.p99,
                "words": shlex.join(effect.change.words),
                "run": shlex.join(self.command_of(effect.change)),
            }
            for effect in self.effects
        ]


def _without_replaced(command: Sequence[str], words: Sequence[str]) -> list[str]:
    """Returns the command without the numbers and parameters to which `words` give other values,
    because no key may be given twice.
    """
    replaced = {(option, value.partition("=")[0]) for option, value in pairwise(words)}
    kept = [*command]
    for at, (option, value) in reversed([*enumerate(pairwise(command))]):
        if option in ("--with", "--set") and (option, value.partition("=")[0]) in replaced:
            del kept[at : at + 2]
    return kept


def whatif(
    machine: str,
    workload: str,
    job: Job,
    workers: Workers = 1,
    only: Iterable[Kind] = (),
    engine_options: EngineOptions = NO_OPTIONS,
    built: Sequence[str] = (),
) -> WhatIf:
    """Runs the job and every change of it.

    `machine`, `workload`: names that the job's machine and program were loaded by; `only`: kinds of
    changes (default: all but `OptionalKind`); `built`: options with which the program was compiled,
    for the command that repeats a run.
    """
    if len(job.threads) != 1:
        raise UserError("whatif looks at one thread count; write --threads 64")
    result = execute([job], workers, engine_options=engine_options)[0]
    if result.outcome.partial:
        raise KeyboardInterrupt
    within, job = job.within, _with_searched_length(machine, job, result)
    kinds = set(only)
    candidates = [
        change
        for change in changes(machine, job, observe(result, engine_options=engine_options))
        if (
            change.kind in kinds
            if kinds
            else change.unknown or change.kind not in get_args(OptionalKind)
        )
    ]
    base = repeats(result)[0]
    plans = [_plan(change, base, within, result) for change in candidates]
    runs = execute(
        [change.job for change in candidates], workers, engine_options=engine_options, plans=plans
    )
    effects = [
        _effect(candidate, base, plan, repeats(run)[0])
        for candidate, plan, run in zip(candidates, plans, runs, strict=True)
        if run.points
    ]
    if within:
        job = replace(job, seeds=job.seeds[: RUN_COUNTS[0]])
    command = (*repeating.command_words(machine, workload, job, engine_options), *built)
    return WhatIf(command, result, tuple(sorted(effects, key=lambda effect: effect.rank)))


def _plan(change: Change, base: Repeats, within: int, result: Result) -> Plan:
    """Returns the plan of a changed job: the runs that the user asks for, or if `within` is not 0,
    as many as a comparison with the unchanged runs needs.
    """
    if not within:
        return Plan(change.job)
    (length,) = result.job["lengths"]
    tried = Length(*length) if change.kind in FASTER_KINDS else None
    return Comparison(change.job, base.points, within, tried)


def changed(
    job: Job, free: Sequence[str], apart: Sequence[str], engine_options: EngineOptions = NO_OPTIONS
) -> Job:
    """Returns the job with these changes. First runs it unchanged, to find the addresses of the
    named objects.

    `free`: objects whose lines cost no time; `apart`: fields that get lines of their own, one group
    in each text. Names are those of `uncore lines`, separated by commas. Raises UserError unless
    the job has one thread count.
    """
    if not free and not apart:
        return job
    if len(job.threads) != 1:
        raise UserError("--free, --apart: where names stand depends on it: write one --threads")
    unchanged = execute(
        [next(job.points())], observers=frozenset({"lines"}), engine_options=engine_options
    )[0]
    if not unchanged.observed:
        raise KeyboardInterrupt
    observed = unchanged.observed[0]
    lines = sorted(
        {line for word in free for line in observed.lines_of(word.split(","), job.machine.line)}
    )
    groups = tuple(tuple(observed.parts_of(word.split(","))) for word in apart)
    return replace(job, free=tuple(lines), apart=groups)


def _with_searched_length(machine: str, job: Job, result: Result) -> Job:
    """Returns the job with the seeds and the length that `--within` found for its result.

    Changed runs use the same seeds and length, and so draw the same random numbers (the method of
    common random numbers).
    """
    for threads, ops, runs, start, duration, warmup in result.job.get("lengths", ()):
        length = Length(threads, ops, runs, start, duration, warmup)
        overrides = {**dict(job.overrides), "chance.start": f"{start}ps"}
        loaded = topology.load(machine, [f"{key}={value}" for key, value in overrides.items()])
        seeds = tuple(result.job["seeds"][:runs])
        job = replace(
            job, machine=loaded, overrides=tuple(sorted(overrides.items())), seeds=seeds, within=0
        ).adding(length.parameters)
    return job


def _effect(change: Change, base: Repeats, plan: Plan, runs: Repeats) -> Effect:
    """Compares runs with the unchanged runs of the same seeds. If the first run equals the
    unchanged one, so do all.
    """
    if isinstance(plan, Comparison) and plan.equals_unchanged:
        return Effect(change, base, 0.0, (0.0, 0.0), 0.0 if base.median.latency else None)
    seeds = {point.seed for point in runs.points}
    same_seeds = Repeats([point for point in base.points if point.seed in seeds])
    before, after, p99 = same_seeds.median, runs.median, None
    if before.latency and after.latency and before.latency.p99:
        p99 = after.latency.p99 / before.latency.p99 - 1
    if isinstance(plan, Comparison):
        change = replace(change, words=(*change.words, *_further_words(change.job, plan.job)))
    return Effect(change, runs, *change_of_rate(same_seeds, runs), p99)


def _further_words(change: Job, run: Job) -> list[str]:
    """Returns options for the command of a change that was run otherwise than the unchanged job:
    another length, or more runs than the first number of RUN_COUNTS.
    """
    words = []
    for name, value in run.parameters:
        if dict(change.parameters).get(name) != value:
            words += ["--set", f"{name}={value}"]
    if len(run.seeds) > RUN_COUNTS[0]:
        words += ["--repeat", str(len(run.seeds))]
    return words


def change_of_rate(base: Repeats, runs: Repeats) -> tuple[float, tuple[float, float] | None]:
    """Returns the relative change of the rate of runs with equal seeds: its median, and its 95 %
    interval, which is None if there is a single seed.
    """
    before = {point.seed: rate(point) for point in base.points}
    changes = [rate(run) / (before[run.seed] or 1) - 1 for run in runs.points]
    return median(changes), interval(changes) if len(changes) > 1 else None


def is_doubtful(interval: tuple[float, float] | None) -> bool:
    """True if chance alone may explain a change with this interval."""
    return interval is not None and interval[0] <= 0 <= interval[1]


def changes(machine: str, job: Job, observed: Observed) -> Iterator[Change]:
    """Yields all changes to try: free lines, layouts, protocols, the machine's numbers and
    distances, and homes.
    """
    yield from _lines(job, observed)
    if not job.program.linux:  # memory of Linux programs cannot be moved
        yield from _layouts(job, observed)
    loaded = _LoadedMachine(machine, job)
    yield from _protocols(loaded)
    yield from _numbers(loaded)
    yield from _counts(loaded)
    yield from _homes(job)


def _lines(job: Job, observed: Observed) -> Iterator[Change]:
    """Yields a change for each object on the critical path: its lines cost no time."""
    path = observed.path_ps if isinstance(observed.path_ps, int) else 0
    weights: dict[str, int] = {}
    for object_ in observed.objects:
        weights[whole_object(object_.name)] = (
            weights.get(whole_object(object_.name), 0) + object_.critical_ps
        )
    hot = sorted(
        (n for n in weights if weights[n] > MIN_PATH_SHARE * path), key=lambda n: -weights[n]
    )
    for name in hot[:MAX_FREE_OBJECTS]:
        free = observed.lines_of([name], job.machine.line)
        yield Change(
            "line", f"{name} costs nothing", ("--free", name), replace(job, free=tuple(free))
        )


def _layouts(job: Job, observed: Observed) -> Iterator[Change]:
    """Yields a change for each group of fields that shares a line needlessly: the group gets a line
    of its own.
    """
    measured = {object_.name for object_ in observed.objects}  # objects of the region of interest
    shared_groups = [cost.apart for cost in costs(observed) if cost.apart]
    general = alike(name for groups in shared_groups for group in groups for name in group.fields)
    partners: dict[tuple[str, ...], set[str]] = {}
    for groups in shared_groups:
        group_names = [tuple(dict.fromkeys(general[n] for n in group.fields)) for group in groups]
        for names in group_names:
            partners.setdefault(names, set()).update(
                n for other_names in group_names for n in other_names
            )
    for names, sharing in partners.items():
        others = sorted(sharing - set(names))
        if others and measured.issuperset(names):
            moved_parts = (tuple(observed.parts_of(names)),)
            what = f"{', '.join(names)} apart from {', '.join(others)}"
            words = ("--apart", ",".join(names))
            yield Change("layout", what, words, replace(job, apart=moved_parts))


class _LoadedMachine:
    """A job's machine, which can be loaded again with changed numbers."""

    def __init__(self, name: str, job: Job) -> None:
        self.name, self.job = name, job
        self.settings = [f"{key}={value}" for key, value in job.overrides]
        leaves = stated(name, self.settings).items()
        self.stated = {key: "" if leaf is None else str(leaf.value) for key, (_, leaf) in leaves}

    def changed(self, kind: Kind, what: str, **values: str) -> Iterator[Change]:
        """Yields the change of these numbers; nothing if it is invalid or has no effect."""
        words = [f"{key}={value}" for key, value in values.items()]
        try:
            machine = topology.load(self.name, [*self.settings, *words])
        except UserError:
            return
        if replace(machine, numbers=()) != replace(self.job.machine, numbers=()):
            overrides = tuple(sorted({**dict(self.job.overrides), **values}.items()))
            options = tuple(part for word in words for part in ("--with", word))
            job = replace(self.job, machine=machine, overrides=overrides)
            yield Change(kind, what, options, job)


def _protocols(machine: _LoadedMachine) -> Iterator[Change]:
    """Yields the other shipped protocols; one that the real machine may have comes first."""
    model = machine.job.machine
    open_protocols = (model.alternative_protocol,) if open_choice(model) else ()
    for protocol in dict.fromkeys((*open_protocols, *PROTOCOLS)):
        for change in machine.changed("protocol", f"protocol {protocol}", protocol=protocol):
            yield replace(change, unknown=protocol in open_protocols)


def _numbers(machine: _LoadedMachine) -> Iterator[Change]:
    """Yields changes of numbers: each time and width a fifth smaller and a fifth larger; all times
    of a distance a fifth smaller at once; near atomics instead of far ones, or the reverse.
    """
    distances: dict[str, dict[str, str]] = {}
    for key, text in machine.stated.items():
        time = TIME_VALUE_PATTERN.fullmatch(text)
        match = time or WIDTH_VALUE_PATTERN.fullmatch(text)
        if match is None or float(match[1]) == 0 or key.startswith("chance."):
            continue
        for sign in (-1, 1):
            amount = float(match[1]) * (1 + sign * NUMBER_CHANGE_SHARE)
            value = f"{amount:.6g}{match[2]}"
            kind: Kind = "number" if time else "width"
            yield from machine.changed(kind, f"{key} {text} -> {value}", **{key: value})
            level, join, _ = key.rpartition(JOIN_KEY_PART)
            if join and time and sign < 0:
                distances.setdefault(level, {})[key] = value
    for level, values in distances.items():
        if len(values) > 1:  # a single number has its own row
            what = f"all of {level}{JOIN_KEY_PART}* {NUMBER_CHANGE_SHARE:.0%} nearer"
            yield from machine.changed("distance", what, **values)
    far = any(core.far_atomics for core in machine.job.machine.each_core)
    new_kind = "near" if far else "far-unless-owned"
    yield from machine.changed("atomics", f"atomics {new_kind}", **{"core.atomics": new_kind})


def _counts(machine: _LoadedMachine) -> Iterator[Change]:
    for key, text in machine.stated.items():
        kind = next((kind for end, kind in COUNT_KINDS.items() if key.endswith(end)), None)
        if kind and text.isdecimal():
            for new_count in (int(text) // 2, 2 * int(text)):
                yield from machine.changed(
                    kind, f"{key} {text} -> {new_count}", **{key: str(new_count)}
                )


def _homes(job: Job) -> Iterator[Change]:
    nodes = len(job.machine.memories)
    if nodes < 2:
        return
    for home in ("interleave", "first-touch", "node0", f"node{nodes - 1}"):
        if home != job.home:
            yield Change("home", f"home {home}", ("--home", home), replace(job, home=home))

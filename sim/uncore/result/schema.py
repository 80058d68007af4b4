"""The schema of a Result.

A result has three parts: `job` (the request), `outcome` (integers, which are the same on any host)
and `host` (what the run cost on this computer).  `result_hash` covers job and outcome.

Invariants: an outcome holds no floating-point number.  A field that an engine cannot know is None,
never 0, and `Point.absent` gives the reason.  The descriptions below are the documentation:
`python -m uncore.result.describe` prints them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cache
from types import NoneType
from typing import Annotated, Any, get_args, get_type_hints

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from uncore.drawing import formats as units
from uncore.result.columns import PointColumn, derived
from uncore.result.frame import Framed, to_rows
from uncore.result.observed import Observed
from uncore.support.steady import CONFIDENCE_PERCENT

SCHEMA = "uncore.result/1"
WIDTH_TOLERANCE = 1.001  # tolerance for rounding when a requested width is checked
# Rates of threads are compared only if all threads worked at the same time for at least this share
# of the shortest thread's time.
MIN_SHARED_TIME = 0.5


def _percentile(name: str, about: str, axis: str, *, hidden: bool = False) -> PointColumn:
    return PointColumn(
        key=f"latency.{name}_ps",
        value_of=lambda latency: latency and getattr(latency, name),
        head="" if hidden else name,
        write=units.duration,
        has_spread=True,
        about=about,
        name=name,
        axis=f"{axis}, us",
        scale=1e6,
    )


def _busiest_column(head: str, about: str) -> PointColumn:
    return PointColumn(
        key=f"busiest_{head}_ppm",
        value_of=lambda shares: shares[0][1] if shares else None,
        head="busiest link" if head == "link" else head,
        write=units.percent,
        minor=True,
        about=f"part of the time in which {about} was",
    )


Caches = list[tuple[str, int, int]] | UnsetType


def _by_node(caches: Caches) -> dict[str, int]:
    return {
        f"{node}.{what}": count
        for node, hits, misses in caches or ()
        for what, count in (("hits", hits), ("misses", misses))
    }


def _hits(caches: Caches) -> int | None:
    hit_count = sum(hits for _, hits, _ in caches or ())
    access_count = hit_count + sum(misses for _, _, misses in caches or ())
    return hit_count * 10**6 // access_count if access_count else None


class Latency(Struct, frozen=True, forbid_unknown_fields=True):
    """Percentiles of operation latency, in ps: lower bounds of buckets 3 % wide."""

    p50: Annotated[int, Meta(description="half of the operations took at most this long")]
    p90: Annotated[int, Meta(description="nine of ten operations took at most this long")]
    p99: Annotated[int, Meta(description="99 of 100 operations took at most this long")]
    max: Annotated[int, Meta(description="latency of the longest operation")]


class Point(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One run: the job at one thread count, with one seed."""

    threads: Annotated[
        int,
        Meta(description="threads (harts) that ran"),
        PointColumn(
            in_repeats=False, head="threads", write=str, about="harts that ran the workload"
        ),
    ]
    seed: Annotated[
        int | UnsetType,
        Meta(description="seed of the random variation; absent in lockstep"),
        PointColumn(),
    ] = UNSET
    ops: Annotated[
        int, Meta(description="operations the workload counted, all threads"), PointColumn()
    ]
    elapsed_ps: Annotated[
        int,
        Meta(description="simulated time in the region of interest, first start to last end"),
        PointColumn(),
    ]
    thread_ops: Annotated[
        list[int], Meta(description="operations of each thread"), PointColumn(in_repeats=False)
    ]
    thread_ps: Annotated[
        list[tuple[int, int]] | UnsetType,
        Meta(
            description="when each thread entered and left the region of interest, counted from"
            " the first to enter; absent in results that were saved before it was kept"
        ),
    ] = UNSET
    steady: Annotated[
        tuple[int, int] | UnsetType | None,
        Meta(
            description="operations of the steady state, in which all threads take part (W2 of"
            " docs/model.md), and its length in ps; absent in results that were saved before it"
            " was kept"
        ),
        PointColumn(
            key="steady_ps",
            value_of=lambda steady: steady[1] if isinstance(steady, tuple) else None,
            about="length in ps of the steady state in which ops/s was measured; null: the whole"
            " run",
        ),
    ] = UNSET
    latency: Annotated[
        Latency | None,
        Meta(description="percentiles of operation latency"),
        _percentile("p50", "half of the operations took at most this", "median latency"),
        _percentile(
            "p90",
            "nine of ten operations took at most this",
            "latency of 90 % of operations at most",
            hidden=True,
        ),
        _percentile(
            "p99", "99 of 100 operations took at most this", "latency of 99 % of operations at most"
        ),
        _percentile("max", "the longest operation took this", "longest latency", hidden=True),
    ] = None
    transfers: Annotated[
        dict[str, int] | None,
        Meta(
            description="lines fetched, by where they came from: another core (the innermost level"
            " that holds both), the data of a level (`ccx data`), or `memory`"
        ),
        PointColumn(value_of=lambda transfers: transfers or {}),
    ] = None
    lines: Annotated[
        list[tuple[int, int]] | None,
        Meta(description="(address of the line, transfers), most first"),
    ] = None
    names: Annotated[
        list[tuple[int, str]],
        Meta(
            description="(address of a line, what the program keeps there), for memory it allocated"
        ),
    ] = []
    memory_caches: Annotated[
        Caches,
        Meta(
            description="(memory node, reads and writebacks that found their line in its"
            " memory-side cache, those that did not); absent where no node has one"
        ),
        PointColumn(value_of=_by_node),
        PointColumn(
            key="memory_cache_hits_ppm",
            value_of=_hits,
            head="memory-side cache hits",
            write=units.percent,
            minor=True,
            about="part of the reads and writebacks at memory nodes that found their line in the"
            " memory-side cache",
        ),
    ] = UNSET
    invalidations: Annotated[
        int | None, Meta(description="copies taken away by another core's write"), PointColumn()
    ] = None
    links: Annotated[
        list[tuple[str, int]] | None,
        Meta(description="(link, busy millionths of the run), busiest first"),
        _busiest_column("link", "the busiest link"),
    ] = None
    resolvers: Annotated[
        list[tuple[str, int]] | None,
        Meta(description="(resolver, busy millionths of the run), busiest first"),
        _busiest_column(
            "resolver",
            "the busiest resolver (the directory or slice of a shared cache that orders a line's"
            " requests)",
        ),
    ] = None
    instructions: Annotated[
        int | None,
        Meta(description="instructions retired, all threads"),
        PointColumn(
            in_repeats=False,
            head="instructions",
            minor=True,
            about="instructions retired, all threads together",
        ),
    ] = None
    failed_scs: Annotated[
        int | UnsetType | None,
        Meta(description="store-conditionals that failed, all threads"),
        PointColumn(head="failed SCs", minor=True, axis="store-conditionals that failed"),
    ] = UNSET
    transactions: Annotated[
        int | None, Meta(description="coherence transactions closed"), PointColumn(in_repeats=False)
    ] = None
    events: Annotated[
        int | None,
        Meta(
            description="events the engine executed, but for calls of cores: how often a core is"
            " called depends on how far cores may run ahead, and means nothing"
        ),
        PointColumn(in_repeats=False),
    ] = None
    tables: Annotated[
        dict[str, list[list[int]]],
        Meta(description="tables the workload published: name to rows of columns"),
    ] = {}
    failures: Annotated[
        list[str],
        Meta(description="self-checks that failed; empty when all held"),
        PointColumn(in_repeats=False),
    ] = []
    output: Annotated[
        str | UnsetType,
        Meta(description="output of a Linux program; only its end if it is long"),
    ] = UNSET
    missing_calls: Annotated[
        list[str] | UnsetType,
        Meta(
            description="unsupported system calls that a Linux program has used; absent if there"
            " were none"
        ),
    ] = UNSET
    absent: Annotated[dict[str, str], Meta(description="why a field is None: field to reason")] = {}

    def __post_init__(self) -> None:
        unexplained = [name for name in self.unknown if name not in self.absent]
        if unexplained:
            raise ValueError(
                f"the engine gave no {', '.join(unexplained)} and no reason in 'absent'"
            )

    @property
    def unknown(self) -> list[str]:
        """Returns the fields that the engine has left out."""
        return [name for name in self.__struct_fields__ if getattr(self, name) is None]

    @property
    def by_seed(self) -> str:
        return by_seed(self.seed)

    @property
    @derived(
        PointColumn(
            head="ops/s",
            write=units.rate,
            has_spread=True,
            about="operations per second of simulated time, of all threads together, while all of"
            " them take part",
            axis="million operations per second",
            scale=1e6,
        ),
        after="elapsed_ps",
    )
    def throughput(self) -> int | None:
        """Returns the operations per second of simulated time, in the steady state if one is known,
        otherwise in the whole run; None if no time passed.
        """
        ops, ps = self.measured
        return ops * 10**12 // ps if ps else None

    @property
    def measured(self) -> tuple[int, int]:
        """Returns the operations and the ps from which the rate is computed: those of the steady
        state if one is known, otherwise those of the whole run.
        """
        return self.steady if isinstance(self.steady, tuple) else (self.ops, self.elapsed_ps)

    def path_of_an_operation(self, path_ps: int) -> float:
        """Returns the part of the critical path, in ps, that one operation takes on average.

        If a steady state is known, it is the time between two operations at the steady rate;
        otherwise the critical path's length `path_ps` divided by the number of operations.
        """
        ops, ps = self.measured
        whole_run_ps = path_ps / max(self.ops, 1)
        return ps / ops if isinstance(self.steady, tuple) and path_ps else whole_run_ps

    @property
    @derived(
        PointColumn(
            value_of=lambda share: share and round(share, 4),
            about="number of threads that the rate accounts for, relative to those that took part",
        ),
        after="elapsed_ps",
    )
    def accounted(self) -> float | None:
        """Returns the mean number of threads at work according to the rate, relative to those that
        took part (W3); None if unknown.

        By Little's law this number is the rate times the time of an operation, which is the
        threads' total time in the region of interest divided by all operations.
        """
        ops, ps = self.measured
        spent = [e - b for b, e in self.thread_ps if e > b] if self.thread_ps is not UNSET else []
        if not (ops and ps and self.ops and spent):
            return None
        return ops / ps * sum(spent) / self.ops / len(spent)

    @property
    @derived(
        PointColumn(
            value_of=lambda fairness: None if fairness is None else round(fairness, 4),
            head="fairness",
            write=units.ratio,
            has_spread=True,
            about="rate of the slowest thread over that of the fastest; -: they hardly worked at"
            " the same time",
            axis="slowest thread's rate over the fastest's",
        ),
        after="latency",
    )
    def fairness(self) -> float | None:
        """Returns the smallest of the threads' rates relative to the largest, or None.

        A thread's rate is its operations divided by its own time from begin to end.  If all threads
        do the same work, the ratio is the shortest time over the longest; if all work for the same
        time, it is the fewest operations over the most.

        The result is None for a single thread, without operations, and if the threads hardly worked
        at the same time: a thread that begins late, or continues when others have finished, meets
        less contention, so its rate does not show how fairly it was served.
        """
        if len(self.thread_ops) < 2 or not self.ops or not isinstance(self.thread_ps, list):
            return None
        times = [end - begin for begin, end in self.thread_ps]
        together = min(end for _, end in self.thread_ps) - max(begin for begin, _ in self.thread_ps)
        if min(times) <= 0 or together < min(times) * MIN_SHARED_TIME:
            return None
        rates = [ops / time for ops, time in zip(self.thread_ops, times, strict=True)]
        return min(rates) / max(rates)

    def limited_to(self, other: Point) -> Point:
        """Returns this point without the fields that `other`, saved by an older version, lacks."""
        unset = [name for name in self.__struct_fields__ if getattr(other, name) is UNSET]
        return msgspec.structs.replace(self, **dict.fromkeys(unset, UNSET))


QUANTITIES = {*Point.__struct_fields__} - {"seed", "names", "output", "missing_calls", "absent"}


@cache
def optional() -> tuple[str, ...]:
    """Returns the fields of a point that an engine may leave None if it gives a reason."""
    return tuple(n for n, hint in get_type_hints(Point).items() if NoneType in get_args(hint))


def point_of(engine: str, fields: Mapping[str, Any]) -> Point:
    """Makes a point from the fields of an engine; adds a reason for each field that is missing."""
    reasons = fields.get("absent", {})
    empty = [name for name in optional() if fields.get(name) is None]
    uncounted = f"engine '{engine}' does not count it"
    absent = {name: reasons.get(name, uncounted) for name in empty}
    return msgspec.convert({**fields, **dict.fromkeys(empty), "absent": absent}, Point)


class Outcome(Struct, frozen=True, kw_only=True):
    """The result: integers only, bit for bit the same on any host."""

    points: Annotated[
        list[Point],
        Meta(description="one per thread count and seed, all repeats of a count together"),
    ]
    partial: Annotated[
        bool, Meta(description="true when the run was interrupted: points are missing")
    ] = False


class Host(Struct, frozen=True, kw_only=True):
    """Cost of the outcome on the host; it is never part of the hash."""

    uncore: Annotated[str, Meta(description="version of uncore")]
    engine: Annotated[str, Meta(description="the engine, as it describes itself")]
    python: Annotated[str, Meta(description="version of Python")]
    system: Annotated[str, Meta(description="operating system and architecture")]
    cpu: Annotated[str, Meta(description="the host's processor")]
    started: Annotated[str, Meta(description="date and time, UTC")]
    seconds: Annotated[list[float], Meta(description="host seconds of each point")]
    program: Annotated[str, Meta(description="the file the program was read from")]
    resumed: Annotated[
        int,
        Meta(description="points that an earlier run had finished; their seconds are of that run"),
    ] = 0


class Interval(Struct, frozen=True):
    """Range of throughput if the machine's numbers vary in their intervals (docs/cli.md)."""

    threads: Annotated[int, Meta(description="thread count")]
    samples: Annotated[int, Meta(description="machines drawn from the numbers' intervals")]
    low: Annotated[int, Meta(description="one in ten of these machines has less throughput")]
    high: Annotated[int, Meta(description="one in ten has more throughput")]

    def columns(self) -> dict[str, int]:
        """Returns the columns of a row."""
        return {
            "samples": self.samples,
            "throughput_low": self.low,
            "throughput_high": self.high,
        }


class Estimate(Struct, frozen=True, kw_only=True):
    """The rate that a search by `--within` has found, of the steady state of its runs."""

    threads: Annotated[int, Meta(description="thread count")]
    within: Annotated[
        int, Meta(description="requested half width of the interval, in millionths of the rate")
    ]
    throughput: Annotated[int, Meta(description="median of the runs' rates")]
    low: Annotated[
        int | None,
        Meta(description="lower end of the 95 % confidence interval; null for one or two runs"),
    ]
    high: Annotated[int | None, Meta(description="upper end of that interval")]
    ops: Annotated[int, Meta(description="mean number of operations of a hart in a run")]
    operations: Annotated[
        int, Meta(description="operations of all runs, including runs that were too short")
    ]

    @property
    def reached(self) -> bool:
        if self.low is None or self.high is None:
            return False
        return (self.high - self.low) / 2 * 10**6 <= self.within * self.throughput * WIDTH_TOLERANCE

    @property
    def ends(self) -> tuple[int, int] | tuple[None, None]:
        return (None, None) if self.low is None or self.high is None else (self.low, self.high)

    def columns(self) -> dict[str, Any]:
        """Returns the columns of a row."""
        return {
            "throughput": self.throughput,
            "level": CONFIDENCE_PERCENT,
            "reached": self.reached,
            "each": self.ops,
            "operations": self.operations,
        }


class Result(Framed, Struct, frozen=True, kw_only=True):
    """One job and the results of its runs."""

    schema: Annotated[str, Meta(description="name and version of this layout")] = SCHEMA
    job: Annotated[
        dict[str, Any],
        Meta(
            description="the job: resolved machine, program (name and SHA-256), threads, placement,"
            " parameters, policies, overrides, engine"
        ),
    ]
    outcome: Annotated[Outcome, Meta(description="results of the runs")]
    host: Annotated[Host, Meta(description="cost of the runs on the host")]
    observed: Annotated[
        list[Observed],
        Meta(
            description="records of the observer `lines` for each point, or for the median run of"
            " each thread count if run lengths were searched; empty if it was off"
        ),
    ] = []
    intervals: Annotated[
        list[Interval],
        Meta(
            description="range of throughput for each thread count, if numbers of the machine"
            " have intervals"
        ),
    ] = []
    estimated: Annotated[
        list[Estimate],
        Meta(description="rates of a job whose run lengths were searched (`--within`); else empty"),
    ] = []
    result_hash: Annotated[
        str, Meta(description="SHA-256 of the canonical JSON of job and outcome")
    ] = ""

    def __post_init__(self) -> None:
        if not self.result_hash:
            msgspec.structs.force_setattr(self, "result_hash", self.computed_hash())

    def computed_hash(self) -> str:
        """Computes the hash of job and outcome."""
        return hashlib.sha256(canonical({"job": self.job, "outcome": self.outcome})).hexdigest()

    @property
    def points(self) -> list[Point]:
        return self.outcome.points

    def point(self, threads: int, seed: int | UnsetType) -> Point:
        """Returns the point with this thread count and seed, which must exist."""
        return next(p for p in self.points if (p.threads, p.seed) == (threads, seed))

    def interval_columns(self, threads: int) -> dict[str, int]:
        """Returns the columns of a thread count's interval; {} if it has none."""
        return next(
            (interval.columns() for interval in self.intervals if interval.threads == threads), {}
        )

    @property
    def failed(self) -> bool:
        return any(point.failures for point in self.points)

    def to_rows(self) -> list[dict[str, Any]]:
        """Returns one row per point."""
        return to_rows([self])

    def __repr__(self) -> str:
        name, machine = self.job["program"]["name"], self.job["machine"]["id"]
        counts = " ".join(str(n) for n in dict.fromkeys(point.threads for point in self.points))
        seeds = " ".join(str(seed) for seed in self.job.get("seeds", ()))
        partial = ", partial" if self.outcome.partial else ""
        drawn = f", seeds {seeds}" if seeds else ", lockstep"
        return f"<{name} on {machine}, threads {counts}{drawn}{partial}: {self.result_hash[:16]}>"


class Results(tuple[Result, ...], Framed):
    """Several results, such as those of a sweep, as one table."""

    __slots__ = ()

    def to_rows(self) -> list[dict[str, Any]]:
        """Returns one row per point of all results."""
        return to_rows(self)

    def __repr__(self) -> str:
        return "\n".join([f"<{len(self)} results:", *(f"  {result!r}" for result in self)]) + ">"


def by_seed(seed: int | UnsetType | None) -> str:
    """Returns " with --seed N", which ends a message; "" without a seed."""
    return f" with --seed {seed}" if isinstance(seed, int) else ""


def canonical(value: Any) -> bytes:
    """Returns JSON that is the same for equal values: sorted keys, no spaces."""
    return msgspec.json.encode(value, order="sorted")

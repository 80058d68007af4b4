"""Defines Job, a value with everything that decides an outcome.

    Machine + Program + placement + parameters + policies = Job

`Job` is frozen and hashable.  `Job.points()` yields the jobs of its points, `Job.at(n, seed)`
returns the job of a single point, `Job.document()` the canonical form, and `Job.of(document,
program)` the job of such a document. Invariant: two jobs with equal documents have equal outcomes
on any host, so a job contains no path, clock or host.  Runs of a job differ in their seeds alone.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Annotated, Any, Literal, NamedTuple, get_type_hints

import msgspec
from msgspec import Meta, UnsetType

from uncore.errors import UserError
from uncore.job.forms import (
    CHOICE,
    DURATION,
    FLAG,
    FOLDER,
    INPUT,
    NUMBER,
    PAIRS,
    PLACES,
    SEEDS,
    SHARE,
    TRUTH,
    WORDS,
)
from uncore.job.placement import check_home, check_slices, place
from uncore.job.schema import Group, Scope, option, options
from uncore.program import Program
from uncore.topology.machine import Chance, Machine
from uncore.topology.schema import DEFAULT_LINE_BYTES

# names of the parameters that decide the length of a run (workloads/include/loop.h)
OPS_PARAMETER, DURATION_PARAMETER, WARM_UP_PARAMETER, UNCLOCKED_PARAMETER = (
    "ops",
    "duration",
    "warmup",
    "unclocked",
)
MAX_EXIT_STATUS = 255
NO_THREADS = "a job needs thread counts of at least one; write --threads 1,2,4..8"
# Numbers that a job's document omits if all parts of the machine have the usual value, so that
# hashes of results that were saved before the number existed remain valid.
CACHE_NUMBERS = ("cache_ways", "cache_hit", "cache_busy")
USUAL_NUMBERS: tuple[tuple[str, str, Any, tuple[tuple[str, str], ...]], ...] = (
    # part, number, usual value, and other numbers that are omitted together with it
    ("machine", "tables", (), ()),  # a shipped protocol is identified by its name
    ("machine", "line", DEFAULT_LINE_BYTES, ()),
    ("chance", "slice", 0, ()),
    ("cores", "order", "tso", (("chance", "load"), ("chance", "store"))),
    ("cores", "far_owned", False, ()),
    ("cores", "prefetch", "none", ()),
    ("cores", "stall_on_use", False, ()),
    ("interrupt", "harts_per_message", 0, ()),
    ("resolvers", "pointers", 0, ()),
    ("resolvers", "overflow", "broadcast", ()),
    ("memories", "cache_sets", 0, tuple(("memories", number) for number in CACHE_NUMBERS)),
)
ByteRange = tuple[int, int]  # address of the first byte, number of bytes
# The time (ps) at which a continued run was saved, and its parameters until then. Values that the
# program has computed from these parameters remain.
Continuation = tuple[int, tuple[tuple[str, str], ...]]
Seed = Annotated[int, Meta(ge=0, le=(1 << 63) - 1)]


class Length(NamedTuple):
    """The length and number of runs at a thread count, which a search (`within`) has found."""

    threads: int
    # operations of each hart; in runs of a fixed duration, the operations before the hart first
    # reads the clock
    ops: int
    runs: int  # number of runs: first with the job's seeds, then with seeds after the largest
    start: int  # maximum delay of a hart's start, in ps per hart of the job
    duration: int = 0  # duration of the measured part in ns; 0: it ends after `ops` operations
    warmup: int = 0  # ns before the measured part

    @property
    def parameters(self) -> dict[str, str]:
        if not self.duration:
            return {OPS_PARAMETER: str(self.ops)}
        lasts = {DURATION_PARAMETER: f"{self.duration}ns", WARM_UP_PARAMETER: f"{self.warmup}ns"}
        return {**lasts, UNCLOCKED_PARAMETER: str(max(1, self.ops))}


@dataclass(frozen=True)
class Job:
    """One curve: a program on a machine, at each thread count of `threads`, once with each seed.

    Each field becomes an option of every command in its scope, and a keyword in Python.
    """

    machine: Machine
    program: Program
    threads: tuple[int, ...]
    engine: str = option(
        "--engine",
        "the engine that simulates: a name of `uncore engines`",
        default="native",
        axis=True,
    )
    placement: str = option(
        "--place",
        "harts of the threads: compact, scatter, siblings, or a list such as 0-3,8",
        default="compact",
        form=PLACES,
        scope=Scope.WORKLOAD,
        axis=True,
    )
    home: str = option(
        "--home",
        "memory nodes of the program's pages: addressed, node0, node1, ..., interleave,"
        " first-touch, pair, or a kind of memory",
        default="addressed",
        axis=True,
    )
    slices: str = option(
        "--slices",
        "slice that owns a line: hash (of the line's address), or the number of the slice that"
        " owns all lines",
        default="hash",
    )
    smt: bool = option(
        "--smt",
        "on: threads may use both hardware threads of a core; off: only one",
        default=True,
        form=TRUTH,
    )
    # ps of simulated time
    watchdog: Annotated[int, Meta(ge=0, lt=1 << 62)] = option(
        "--watchdog",
        "simulated time without an operation after which the run is stopped",
        default=10**11,
        form=DURATION,
        group=Group.LIMITS,
    )
    # Kept only as a record of the option, because the machine already has these numbers.
    overrides: tuple[tuple[str, str], ...] = option(
        "--with",
        "KEY=VALUE: change a number of the machine; repeatable",
        default=(),
        form=PAIRS,
        group=Group.COMMON,
        axis=True,
    )
    # (name, value), sorted by name, the values in the program's canonical spelling
    parameters: tuple[tuple[str, str], ...] = option(
        "--set",
        "NAME=VALUE: set a parameter of the workload; repeatable",
        default=(),
        form=PAIRS,
        group=Group.COMMON,
        scope=Scope.WORKLOAD,
        axis=True,
    )
    # One seed for each repeat of a point; if empty, each point runs once in lockstep.
    seeds: tuple[Seed, ...] = option(
        "--seed",
        "seed of all random variation between runs; the word none: no variation (lockstep)",
        default=(),
        form=SEEDS,
        group=Group.CHANCE,
    )
    # address ranges of lines whose coherence costs nothing (docs/whatif.md)
    free: tuple[ByteRange, ...] = ()
    # groups of address ranges; each group is moved to a line of its own (docs/whatif.md)
    apart: tuple[tuple[ByteRange, ...], ...] = ()
    since: Continuation | None = None  # set if this job continues a saved run with other parameters
    lengths: tuple[Length, ...] = ()  # lengths of the runs per thread count, found by `within`
    # Width of the interval in millionths of the rate; 0: `ops` decides the length of a run.
    within: Annotated[int, Meta(ge=0, lt=10**6)] = option(
        "--within",
        "make more and longer runs until the 95 % confidence interval of ops/s is as narrow as"
        " this; default: 5%, if neither ops nor duration is set; 0%: off",
        default=0,
        form=SHARE,
        group=Group.CHANCE,
        scope=Scope.RATE,
        sparse=True,
    )
    # {threads} in a word is replaced by the thread count of the point.
    arguments: tuple[str, ...] = option(
        "--argument",
        "an argument of the program, like the words after --; repeatable",
        default=(),
        form=WORDS,
        group=Group.PROGRAM,
        scope=Scope.LINUX,
        sparse=True,
    )
    system: Literal["machine", "free"] = option(
        "--os",
        "cost of system calls: as the machine file states, or free",
        default="machine",
        form=CHOICE,
        group=Group.PROGRAM,
        scope=Scope.LINUX,
    )
    files: tuple[tuple[str, bytes], ...] = option(
        "--files",
        "folder that the program sees as /files, read-only",
        default=(),
        form=FOLDER,
        group=Group.PROGRAM,
        scope=Scope.LINUX,
        sparse=True,
    )
    stdin: bytes = option(
        "--stdin",
        "file that becomes the program's standard input; - for the standard input of uncore",
        default=b"",
        form=INPUT,
        group=Group.PROGRAM,
        scope=Scope.LINUX,
        sparse=True,
    )
    expect_exit: Annotated[int, Meta(ge=0, le=MAX_EXIT_STATUS)] = option(
        "--expect-exit",
        "exit status of the program that counts as success",
        default=0,
        form=NUMBER,
        group=Group.PROGRAM,
        scope=Scope.LINUX,
        sparse=True,
    )
    strict_calls: bool = option(
        "--strict-calls",
        "end the run at an unsupported system call, instead of returning ENOSYS to the program",
        default=False,
        form=FLAG,
        group=Group.PROGRAM,
        scope=Scope.LINUX,
        sparse=True,
    )
    from_function: str = option(
        "--from-function",
        "measure from the call of this function (a symbol) to its return",
        default="",
        group=Group.PROGRAM,
        scope=Scope.LINUX,
        sparse=True,
    )
    to_function: str = option(
        "--to-function",
        "with --from-function: measure to the call of this function instead",
        default="",
        group=Group.PROGRAM,
        scope=Scope.LINUX,
        sparse=True,
    )
    op: str = option(
        "--op",
        "count each call of this function as an operation",
        default="",
        group=Group.PROGRAM,
        scope=Scope.LINUX,
        sparse=True,
    )

    def __post_init__(self) -> None:
        if not self.threads:
            raise UserError(NO_THREADS)
        if len(set(self.seeds)) < len(self.seeds):
            raise UserError("a job needs seeds that differ: equal ones repeat the same run")
        for threads in self.threads:
            self._check_room(threads)
        check_home(self.home, self.machine)
        check_slices(self.slices, self.machine)
        linux_only = (self.arguments, self.files, self.stdin, self.expect_exit, self.strict_calls)
        given = any(linux_only) or any(self.functions.values()) or self.system != "machine"
        if given and not self.program.linux:
            raise UserError(
                f"{self.program.name}: arguments, --files, --stdin, --expect-exit, --os,"
                " --strict-calls, --from-function, --to-function and --op are for programs of"
                " Linux, which have"
                " main(); a workload has --set NAME=VALUE"
            )
        if not 0 <= self.expect_exit <= MAX_EXIT_STATUS:
            raise UserError(
                f"--expect-exit {self.expect_exit}: expected an exit status, 0 to {MAX_EXIT_STATUS}"
            )
        if self.to_function and not self.from_function:
            raise UserError("--to-function ends what --from-function NAME begins; give both")
        for name in filter(None, self.functions.values()):
            self.program.functions(name)

    def _check_room(self, threads: int) -> None:
        if threads < 1:
            raise UserError(NO_THREADS)
        if threads > (available := len(self.harts)):
            without = " without SMT" if not self.smt and self.machine.threads_per_core > 1 else ""
            raise UserError(
                f"--threads {threads}: {self.machine.id} placed '{self.placement}'"
                f"{without} has room for {available} threads; write at most {available}"
            )

    @cached_property
    def harts(self) -> tuple[int, ...]:
        """The harts in order of use: thread t runs on harts[t]."""
        return place(self.machine, self.placement, self.smt)

    @property
    def used_harts(self) -> tuple[int, ...]:
        """The harts of a job of a single point, in the order of its threads."""
        return self.harts[: self.threads[0]]

    @property
    def functions(self) -> dict[str, str]:
        """The functions whose calls begin, end or count what is measured (spec.WATCH_KINDS)."""
        return {"begins": self.from_function, "ends": self.to_function, "operates": self.op}

    @property
    def unmarked(self) -> bool:
        """True if no marker and no function delimits the measured part of a Linux program."""
        return not self.program.marked and not any(self.functions.values())

    @property
    def seed(self) -> int | None:
        """The seed of a job of a single point; None in lockstep."""
        return self.seeds[0] if self.seeds else None

    @property
    def chance(self) -> Chance:
        """The machine's limits of randomness (V1); all 0 in lockstep."""
        return self.machine.chance if self.seeds else Chance()

    def given(self, parameters: Mapping[str, Any]) -> Job:
        """Returns the job with these values of the program's parameters."""
        values = self.program.canonical(parameters)
        return self._with_fields(parameters=tuple(sorted(values.items())))

    def adding(self, parameters: Mapping[str, Any]) -> Job:
        """Returns the job with these values, and its own values of all other parameters."""
        return self.given({**dict(self.parameters), **parameters})

    def _with_fields(self, **fields: Any) -> Job:
        """Returns a copy with these fields changed, without checking it; the cached placement is
        kept.
        """
        job = object.__new__(Job)
        vars(job).update(vars(self) | fields)
        return job

    def at(self, threads: int, seed: int | UnsetType | None = None) -> Job:
        """Returns the job of one point of this curve; in lockstep unless `seed` is a number."""
        self._check_room(threads)
        seeds = (seed,) if isinstance(seed, int) else ()
        point = self._with_fields(threads=(threads,), seeds=seeds, within=0, lengths=())
        length = {length.threads: length for length in self.lengths}.get(threads)
        if length is None:
            return point
        chance = dataclasses.replace(self.machine.chance, start=length.start)
        machine = dataclasses.replace(self.machine, chance=chance)
        return point._with_fields(machine=machine).adding(length.parameters)

    def points(self) -> Iterator[Job]:
        """Yields the job of each point, ordered by thread count and then by seed."""
        runs = {length.threads: length.runs for length in self.lengths}
        for threads in self.threads:
            for seed in self.seeds[: runs.get(threads)] or (None,):
                yield self.at(threads, seed)

    def document(self) -> dict[str, Any]:
        """Returns the job in builtin types, and its machine without the sources of numbers."""
        fields = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        machine = dataclasses.replace(self.machine, numbers=())
        fields["machine"] = machine
        fields["files"] = [(path, sha256(data).hexdigest()) for path, data in self.files]
        fields["stdin"] = sha256(self.stdin).hexdigest()
        fields["program"] = {"name": self.program.name, "sha256": self.program.sha256}
        document: dict[str, Any] = msgspec.to_builtins(fields)
        _omit_usual_numbers(document["machine"])
        declared = options(Job)
        for field in dataclasses.fields(self):
            sparse = field.name not in declared or declared[field.name].sparse
            if sparse and getattr(self, field.name) == field.default:
                del document[field.name]
        if not self.program.linux:
            del document["system"], document["machine"]["os"]
        if not self.seeds:  # a run in lockstep has no randomness, whatever the machine's limits
            del document["seeds"], document["machine"]["chance"]
        return document

    @classmethod
    def of(cls, document: Mapping[str, Any], program: Program) -> Job:
        """Makes a job from what `document` returned; raises a UserError for any other mapping."""
        types = get_type_hints(cls, include_extras=True)
        values: dict[str, Any] = {}
        required = {f.name for f in dataclasses.fields(cls) if f.default is dataclasses.MISSING}
        for name in sorted(required - document.keys() | document.keys() - types.keys()):
            raise UserError(
                f"job.{name}: " + ("missing" if name in required else "no job has this")
            )
        for name in {"files", "stdin"} & document.keys():
            raise UserError(f"job.{name}: a result does not hold it; give the run's own command")
        for name in document.keys() - {"program"}:
            try:
                values[name] = msgspec.convert(document[name], types[name])
            except msgspec.ValidationError as error:
                raise UserError(f"job.{name}: {error}") from None
        return cls(program=program, **values)


def _omit_usual_numbers(machine: dict[str, Any]) -> None:
    """Removes the numbers of `USUAL_NUMBERS` that have the usual value from a machine's
    document.
    """
    parts = {
        "machine": [machine],
        "chance": [machine["chance"]],
        "cores": [machine["core"], *(kind["core"] for kind in machine["kinds"])],
        "resolvers": machine["resolvers"],
        "memories": machine["memories"],
        "interrupt": [machine["interrupt"]],
    }
    for part, name, usual_value, others in USUAL_NUMBERS:
        if all(entry[name] == usual_value for entry in parts[part]):
            for omitted_part, number in ((part, name), *others):
                for entry in parts[omitted_part]:
                    del entry[number]

"""Sets of figures that others published, each with the runs that should reproduce them:
bench/NAME.toml.

    names(), read(name) -> Published    README.md explains the keys
    PublishedCurve.jobs(machine)        a job for each figure
    PublishedCurve.measured             the figures, in the unit of the simulation
    sealed() -> Seal                    the sets that judge the model, and the day on which
                                        each was opened
    broken(seal) -> words               differences between the seal and the files

Half of the sets judge the model.  They were put on record, with a digest of their figures and
machine, before any of them was simulated.  They are simulated only after `opened` names a day.
Invariant: no simulation depends on a figure, unless its curve states `fit`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, TypeVar

import msgspec

from uncore.errors import UserError
from uncore.execution.request import make_job
from uncore.job import Job
from uncore_lab.figures import BENCH

SEAL = "seal"
SEEDS = 1, 2, 3
Kind = TypeVar("Kind", bound=msgspec.Struct)
ParameterValues = Mapping[str, str | int | bool]
NO_PARAMETER_VALUES: ParameterValues = {}
Figure = float | tuple[float, float]  # a number, or a range, whose middle is compared

# The compared quantity, computed from the operations of a run and its time.
Quantity = Literal[
    "rate",  # millions of operations per second of all threads
    "each",  # millions of operations per second of one thread, on average
    "hart",  # millions of operations per second of thread `hart`
    "time",  # ns per operation of all threads together
    "own",  # ns per operation of one thread
    "apart",  # longest time of a thread over the shortest
]


class PublishedCurve(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Figures for one workload: one for each number of threads, place or value."""

    name: str
    unit: str  # unit in which the figures were published
    show: Quantity
    workload: str
    values: list[Figure]  # in the published unit
    scale: float = 1.0  # factor from the published unit to that of `show`
    hart: int = 0
    set: ParameterValues = {}
    vary: dict[str, list[str | int | bool]] = {}
    threads: int | list[int] = 2
    places: list[str] = []
    placement: str = "compact"
    points: list[str] = []  # names of the figures; if empty, the thread counts are their names
    relative: bool = False  # True: the figures are relative to the first one
    fit: str = ""  # parameter, in ns, that is fitted to the first figure
    used: str = ""  # numbers of the machine that were chosen to fit these figures

    def __post_init__(self) -> None:
        size = len(self.values)
        sizes = {len(self.places), len(self.points), *map(len, self.vary.values())}
        sizes |= {len(self.threads)} if isinstance(self.threads, list) else set()
        if sizes - {0, size}:
            raise ValueError(f"'{self.name}' has {size} values; every other list needs as many")
        if self.fit and self.show != "rate":
            raise ValueError(f"'{self.name}': fit needs show = \"rate\"")

    @property
    def measured(self) -> list[float]:
        figures = [self.scale * _middle(value) for value in self.values]
        return [value / figures[0] for value in figures] if self.relative else figures

    @property
    def labels(self) -> list[str]:
        return self.points or [str(self.threads_of(index)) for index in range(len(self.values))]

    def threads_of(self, index: int) -> int:
        return self.threads[index] if isinstance(self.threads, list) else self.threads

    def kind(self, index: int) -> str:
        """Returns the use of the figure at this index: "used" if it chose a number of the machine,
        "fit" or "base" if it sets the curve's scale, otherwise "predicted".
        """
        if self.used:
            return "used"
        if index == 0 and (self.fit or self.relative):
            return "fit" if self.fit else "base"
        return "predicted"

    def job(
        self, machine: str, index: int, more_parameters: ParameterValues = NO_PARAMETER_VALUES
    ) -> Job:
        varied = {key: values[index] for key, values in self.vary.items()}
        return make_job(
            machine,
            self.workload,
            [self.threads_of(index)],
            parameters={
                key: _word(value)
                for key, value in {**self.set, **varied, **more_parameters}.items()
            },
            placement=self.places[index] if self.places else self.placement,
            seeds=SEEDS,
            slow=True,
        )

    def jobs(
        self, machine: str, more_parameters: ParameterValues = NO_PARAMETER_VALUES
    ) -> list[Job]:
        return [self.job(machine, index, more_parameters) for index in range(len(self.values))]


class Published(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The content of a file of `bench/`."""

    title: str
    source: str
    # machine that was measured, in words
    measured_machine: str = msgspec.field(name="measured")
    machine: str  # name of the machine that is simulated
    unlike: str  # differences between simulation and measurement: compiler, clock, system
    curves: list[PublishedCurve]

    @property
    def own_machine(self) -> Path | None:
        path = BENCH / "machines" / f"{self.machine}.toml"
        return path if path.exists() else None

    @property
    def simulated(self) -> str:
        return str(self.own_machine or self.machine)


class Seal(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`bench/seal.toml`."""

    date: str
    model: str  # last commit before any judge was simulated
    judges: dict[str, str]  # digests
    open: list[str]
    opened: dict[str, str] = {}  # judge -> the day


def _middle(value: Figure) -> float:
    return sum(value) / 2 if isinstance(value, tuple) else value


def _word(value: str | float | bool) -> str:
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)


def names() -> list[str]:
    return sorted(path.stem for path in BENCH.glob("*.toml") if path.stem != SEAL)


def read(name: str) -> Published:
    return _converted(BENCH / f"{name}.toml", Published)


def sealed() -> Seal:
    return _converted(BENCH / f"{SEAL}.toml", Seal)


def unsealed(seal: Seal) -> list[str]:
    """Returns the sets that may be simulated."""
    return [name for name in names() if name not in seal.judges or name in seal.opened]


def _converted(path: Path, kind: type[Kind]) -> Kind:
    try:
        document: Any = tomllib.loads(path.read_text())
        return msgspec.convert(document, kind)
    except (OSError, tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise UserError(f"{path}: no published figures: {error}") from None


# ---- The seal ------------------------------------------------------------------------------------


def judges_of(sets: Iterable[str]) -> list[str]:
    """Returns the sets that judge the model: every second one, in the order of their names'
    digests.
    """
    return sorted(sets, key=lambda name: sha256(name.encode()).hexdigest())[1::2]


def digest(name: str) -> str:
    """Returns the SHA-256 of a set's file, followed by the set's own machine file if it has one."""
    machine = read(name).own_machine
    files = [BENCH / f"{name}.toml", *([machine] if machine else [])]
    return sha256(b"".join(path.read_bytes() for path in files)).hexdigest()


def broken(seal: Seal) -> Iterator[str]:
    if sorted(seal.judges) != sorted(judges_of([*seal.judges, *seal.open])):
        yield "the judges are not every second one in the order of the names' digests"
    for name, sealed_digest in seal.judges.items():
        if digest(name) != sealed_digest:
            yield f"{name}: its figures or its machine changed after {seal.date}"
    for name in seal.opened.keys() - seal.judges.keys():
        yield f"{name}: opened, but no judge"

"""Numbers that nobody measured and no relative lends, with the uncertainty of each.

    guesses(name, known, lent) -> [Guess]        `known`: observations; `lent`: keys that are lent

Three kinds of numbers are guesses: a time or a clock whose source is `estimate`, `teaching` or
missing; a fitted or predicted number that no relative lends; and a number whose file states an
interval, which is used unchanged.  A guess without an interval is as uncertain as earlier estimates
of its kind were.  estimates.toml has such estimates, of machines that were measured later.

An estimate that a measured machine shares (the same line of the same file) adds no uncertainty: its
error is already contained in the numbers that were fitted together with it, and in the differences
between these numbers.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import log, sqrt
from pathlib import Path

from uncore import topology
from uncore.errors import UserError
from uncore.topology.document import Branch, Leaf, Node
from uncore.topology.follow import FOLLOWS_PATTERN, followers
from uncore.topology.load import read_measured
from uncore.topology.machine import Machine, Number
from uncore_lab.figures.hardware import read
from uncore_lab.fitting.numbers import AMOUNT, is_unknown, scaled
from uncore_lab.fitting.written import FOUR_FIFTHS_DEVIATIONS
from uncore_lab.predict.mixture import Mixture, log_normal
from uncore_lab.predict.observe import Observation

ESTIMATES = Path(__file__).with_name("estimates.toml")
FITTED = "fitted"  # the source of a fitted number begins with this word
GUESSED = ("estimate", "teaching", "unstated")  # words with which the source of a guess begins
# tables of a machine file that do not influence a handoff
NO_HANDOFF_TABLES = ("chance", "os", "interrupt", "messages")
TIME_AMOUNT = re.compile(r"[\d.]+\s*(ps|ns|us|cy(@\w+)?)")
CLOCK_AMOUNT = re.compile(r"[\d.]+\s*[GM]Hz")
# kind of guess, by the first part of the key
KIND_BY_FIRST_PART = {"core": "cores", "memory": "memory"}
# kind of guess, by the part of the key before the last
KIND_BY_TABLE = {"join": "wires", "resolver": "resolvers", "data": "caches"}
CLOCKS, HOPS = "clocks", "hops"
# keys of the time of a hop; another one is `latency` of joins with stops
HOP_KEYS = ("dx", "dy", "diagonal", "bridge")
JOINS_WITH_STOPS = ("ring", "two-rings", "mesh", "torus", "bus")
DEVIATION_BY_KIND = {CLOCKS: 0.1}  # used for kinds with too few measured estimates
# standard deviation of the logarithm: four of five such numbers are right within a factor of 1.6
DEFAULT_DEVIATION = 0.35
# least number of measured estimates from which the deviation of a kind is computed
MIN_MEASURED_ESTIMATES = 3
STATED, ASSUMED = "the interval that its file states", "assumed: none of its kind was ever measured"


@dataclass(frozen=True)
class Guess:
    key: str
    text: str  # the value as written in the machine file
    source: str
    factor: Mixture  # distribution of the ratio of the true number to the file's
    basis: str  # source of the deviation of `factor`, for the report
    # (key, text) of the number, and of the numbers that the file defines by it (topology/follow.py)
    moved: tuple[tuple[str, str], ...]
    fitted: bool  # True: fitted to the machine's own figures, and no earlier estimate is on record

    def settings(self, factor: float) -> list[str]:
        return [f"{key}={scaled(text, factor)}" for key, text in self.moved]

    def row(self) -> dict[str, object]:
        return {
            "key": self.key,
            "text": self.text,
            "deviation": self.factor.deviation,
            "basis": self.basis,
            "source": self.source,
        }


def guesses(name: str, known: Sequence[Observation], lent: frozenset[str]) -> list[Guess]:
    machine, (tree, _) = topology.load(name, measured=True), read_measured(name)
    other_machines = {o.machine for o in known} - {machine.id}
    siblings = machine.harts > machine.cores
    shared_places = {
        place for machine_name in other_machines for place in _places(machine_name, siblings)
    }
    return [
        _guess(_earlier_estimate(machine, number), machine.numbers, _kind(number, tree), known)
        for number in machine.numbers
        if number.key not in lent
        and _is_guessed_time(number)
        and (number.interval or is_unknown(number) or _place(number) not in shared_places)
    ]


def _is_guessed_time(number: Number) -> bool:
    if number.key.partition(".")[0] in NO_HANDOFF_TABLES or FOLLOWS_PATTERN.match(number.source):
        return False
    text = number.text.strip()
    guessed = number.source.startswith(GUESSED) or is_unknown(number) or number.interval
    return bool(guessed and (TIME_AMOUNT.fullmatch(text) or CLOCK_AMOUNT.fullmatch(text)))


def _guess(
    number: Number, other_numbers: tuple[Number, ...], kind: str, known: Sequence[Observation]
) -> Guess:
    factor, basis = (
        _stated_distribution(number) if number.interval else learnt_distribution(kind, known)
    )
    follow = (
        (follower.key, scaled(number.text, ratio))
        for follower, ratio in followers(number, other_numbers)
    )
    moved = ((number.key, number.text), *follow)
    fitted = number.source.startswith(FITTED)
    return Guess(number.key, number.text, number.source, factor, basis, moved, fitted)


def _earlier_estimate(machine: Machine, number: Number) -> Number:
    """Returns the estimate that was on record before the number was fitted; if there is none, the
    number itself.
    """
    estimate = _estimates().get(machine.id, {}).get(number.key)
    if estimate is None or not number.source.startswith(FITTED):
        return number
    return replace(number, text=f"{estimate}ns", source="estimate: before it was measured")


@cache
def _places(name: str, siblings: bool) -> frozenset[tuple[str, int, str]]:
    """Returns the lines of files that state a machine's estimates. With `siblings`, the numbers of
    cores are left out if the machine's siblings were not measured, because its figures do not
    depend on what cores with siblings do.
    """
    machine = topology.load(name, measured=True)
    cores = not siblings or any(c.within == "core" for c in read(name).classes.values())
    return frozenset(
        _place(number)
        for number in machine.numbers
        if number.source.startswith(GUESSED) and (cores or _kind_of(number.key) != "cores")
    )


def _place(number: Number) -> tuple[str, int, str]:
    return number.file, number.line, number.key


# ---- Deviation of a guess ------------------------------------------------------------------------


def _stated_distribution(number: Number) -> tuple[Mixture, str]:
    """Returns the distribution of a number with a stated interval, whose ends are read as the first
    and the last decile, as in `run --samples`.
    """
    assert number.interval
    texts = (number.text, *number.interval)
    value, low, high = (AMOUNT.fullmatch(text.strip()) for text in texts)
    one_unit = value and low and high and value[2] == low[2] == high[2]
    if not (value and low and high and one_unit and 0 < float(low[1]) < float(high[1])):
        raise UserError(
            f"{number.file}:{number.line}: '{number.key}': expected an interval above zero whose"
            f' ends have the unit of {number.text}, the smaller first, like ["28ns", "36ns"]'
        )
    low_factor, high_factor = (float(end[1]) / float(value[1]) for end in (low, high))
    return log_normal(
        sqrt(low_factor * high_factor), log(high_factor / low_factor) / 2 / FOUR_FIFTHS_DEVIATIONS
    ), STATED


def learnt_distribution(kind: str, known: Sequence[Observation]) -> tuple[Mixture, str]:
    errors = list(_errors(kind, known))
    if len(errors) < MIN_MEASURED_ESTIMATES:
        return log_normal(1.0, DEVIATION_BY_KIND.get(kind, DEFAULT_DEVIATION)), ASSUMED
    deviation = sqrt(sum(error**2 for error in errors) / len(errors))
    return log_normal(1.0, deviation), f"{len(errors)} estimates of {kind} that were measured later"


def _errors(kind: str, known: Sequence[Observation]) -> Iterator[float]:
    """Yields ln(measured value / estimate) for each number that was measured after its estimate."""
    observed = {(o.machine, o.key): o for o in known}
    for machine, estimates in _estimates().items():
        for key, ns in estimates.items():
            if (machine, key) in observed and _kind_of(key) == kind:
                yield log(observed[machine, key].fitted / ns)


@cache
def _estimates() -> Mapping[str, Mapping[str, float]]:
    document: Mapping[str, Mapping[str, float]] = tomllib.loads(ESTIMATES.read_text())
    return document


def _kind(number: Number, tree: Branch) -> str:
    level, *_, name = number.key.split(".")
    if CLOCK_AMOUNT.fullmatch(number.text.strip()):
        return CLOCKS
    node: Node = tree
    for part in (level, "join", "kind"):
        node = node.items.get(part, node) if isinstance(node, Branch) else node
    stops = isinstance(node, Leaf) and node.value in JOINS_WITH_STOPS
    hop = _kind_of(number.key) == "wires" and (name in HOP_KEYS or (name == "latency" and stops))
    return HOPS if hop else _kind_of(number.key)


def _kind_of(key: str) -> str:
    level, *inner = key.split(".")
    return KIND_BY_TABLE.get(inner[-2] if inner[1:] else "") or KIND_BY_FIRST_PART.get(
        level, "caches"
    )

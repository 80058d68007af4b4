"""A claim as its file says it: what was claimed, which runs ask for it, which number answers.

    load(ids) -> claims in the order of their names; no ids: all of them
    claim.jobs() -> the job of each run            claim.amount(results, tables) -> the number
    unasked() -> figures of the articles that are no experiments, with the reason

The keys of a file are explained in README.md.  Invariant: a claim that was loaded
has a quantity whose runs, thread counts and functions exist.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec

from uncore.api import make_job
from uncore.errors import UserError, nearest
from uncore.job import Job
from uncore.result import Result
from uncore_lab.claims.quantity import Quantity, Tables

CLAIMS = Path(__file__).with_name("files")
FIGURES = Path(__file__).with_name("figures.toml")  # what is no experiment


class Run(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A curve: the words of `uncore run`."""

    machine: str
    workload: str
    threads: str = "1"
    set: dict[str, str | int] = {}
    with_: dict[str, str] = msgspec.field(name="with", default={})
    place: str = "compact"
    home: str = "addressed"
    smt: bool = True

    def job(self) -> Job:
        return make_job(
            self.machine,
            self.workload,
            self.threads,
            parameters={name: str(value) for name, value in self.set.items()},
            overrides=self.with_,
            placement=self.place,
            home=self.home,
            smt=self.smt,
        )


class Claim(msgspec.Struct, frozen=True, forbid_unknown_fields=True, dict=True):
    """One file of `files/`."""

    claim: str
    source: str
    figures: list[int]
    quantity: str
    expected: tuple[float, float]
    unit: str
    runs: dict[str, Run]
    neutral: float | None = None
    fitted: list[str] = []
    reason: str = ""
    id: str = ""

    @cached_property
    def path(self) -> Path:
        return CLAIMS / f"{self.id}.toml"

    def jobs(self) -> dict[str, Job]:
        """Of each run, after the quantity has been checked against them."""
        jobs = {}
        for name, run in self.runs.items():
            try:
                jobs[name] = run.job()
            except UserError as error:
                raise UserError(f"{self.path}: run '{name}': {error}") from None
        try:
            Quantity(self.quantity).check({name: job.threads for name, job in jobs.items()})
        except UserError as error:
            raise UserError(f"{self.path}: {error}") from None
        return jobs

    def amount(self, results: Mapping[str, Result], tables: Tables) -> float:
        try:
            return Quantity(self.quantity).amount(results, tables)
        except UserError as error:
            raise UserError(f"{self.path}: {error}") from None


def load(ids: Sequence[str] = ()) -> list[Claim]:
    """The claims of these names, or all."""
    known = sorted(path.stem for path in CLAIMS.glob("*.toml"))
    for name in ids:
        if name not in known:
            raise UserError(
                f"no claim is called '{name}'.{nearest(name, known)} There are {', '.join(known)}"
            )
    return [_read(name) for name in (ids or known)]


def _read(name: str) -> Claim:
    path = CLAIMS / f"{name}.toml"
    document = _document(path)
    other = document.pop("runs_of", name)  # a claim may ask another question of the same runs
    asked = _document(CLAIMS / f"{other}.toml")
    every = asked.get("every", {})  # what all runs have in common
    document.pop("every", None)
    document["runs"] = {run: {**every, **keys} for run, keys in asked.get("runs", {}).items()}
    try:
        claim = msgspec.convert({**document, "id": name}, Claim)
    except msgspec.ValidationError as error:
        raise UserError(f"{path}: not a claim: {error}") from None
    low, high = claim.expected
    if low > high or not claim.runs:
        raise UserError(f"{path}: expected a range from low to high, and at least one run")
    return claim


def unasked() -> list[tuple[list[int], str, str]]:
    """(figures, what they are, why the simulator is not asked)."""
    rows = _document(FIGURES)["group"]
    return [(row["figures"], row["what"], row["why"]) for row in rows]


def _document(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text())
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise UserError(f"{path}: cannot read the claim: {error}") from None

"""All claims, and the figures of articles that no run can show.

The interface:

    load(ids) -> claims      in the order of their names; without ids, all of them
    figures() -> figures     every figure that the articles state, by its number
    unasked() -> tuples      figures that no run can show, with the reason
    subjects() -> subjects   everything that the articles name, with the claims or commands that
                             check it
"""

from __future__ import annotations

import csv
import pkgutil
import tomllib
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from uncore.errors import UserError, suggestion
from uncore_lab.claims import articles
from uncore_lab.claims.claim import Claim

FIGURES = Path(__file__).with_name("figures.csv")
SUBJECTS = Path(__file__).with_name("subjects.csv")
UNASKED = Path(__file__).with_name("unasked.toml")  # figures of articles that no run can show


class Figure(NamedTuple):
    """A line of figures.csv."""

    article: str
    where: str  # place in the article, such as a section
    quantity: str
    value: str  # the value, as the article writes it
    unit: str


class Subject(NamedTuple):
    """A line of subjects.csv. It has claims, or a figure that no claim checks, or a verdict."""

    row: str
    article: str
    what: str
    claims: str  # names of claims, separated by spaces
    command: str  # arguments of `uncore`; if empty, `claims` with these names
    unasked: str  # a figure of the group in unasked.toml
    verdict: str  # verdict of a subject without claims: "runs", "nominal" or "missing"
    note: str


def load(ids: Sequence[str] = ()) -> list[Claim]:
    """Returns the claims with these names, or all claims if no name is given."""
    all_claims = _claims_by_name()
    for name in ids:
        if name not in all_claims:
            raise UserError(
                f"no claim is called '{name}'.{suggestion(name, all_claims)}"
                f" There are {', '.join(all_claims)}"
            )
    return [all_claims[name] for name in (ids or all_claims)]


@cache
def _claims_by_name() -> dict[str, Claim]:
    """Returns every claim in the modules of `articles`, by its name."""
    modules = [
        import_module(f"{articles.__name__}.{module.name}")
        for module in pkgutil.iter_modules(articles.__path__)
    ]
    all_claims = [
        value for module in modules for value in vars(module).values() if isinstance(value, Claim)
    ]
    return {value.id: value for value in sorted(all_claims, key=lambda value: value.id)}


def figures() -> dict[int, Figure]:
    with FIGURES.open(newline="") as file:
        return {int(line.pop("figure")): Figure(**line) for line in csv.DictReader(file)}


def subjects() -> list[Subject]:
    with SUBJECTS.open(newline="") as file:
        return [Subject(**line) for line in csv.DictReader(file)]


def unasked() -> list[tuple[list[int], str, str]]:
    """Returns tuples of figures, their description, and the reason why no claim checks them."""
    groups = tomllib.loads(UNASKED.read_text())["group"]
    return [(group["figures"], group["what"], group["why"]) for group in groups]

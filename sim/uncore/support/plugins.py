"""Loads additions to this package from other installed packages, such as `uncore_lab`.

    commands() -> {name: Command}          from the entry points of `uncore.commands`: each a table
                                           like `uncore.cli.commands.COMMANDS`
    loaded(group) -> Iterator              objects of a group's entry points; `uncore.measured`:
                                           functions that return median handoffs of real machines
                                           (uncore.study.matrix)

A package declares them in its pyproject.toml:

    [project.entry-points."uncore.commands"]
    laboratory = "uncore_lab.commands:COMMANDS"

uncore works without such packages, and also if a package was removed but left its entry points.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from importlib.util import find_spec
from typing import Any


class Task(StrEnum):
    """Tasks of a user, which are the headings of the commands in `uncore --help`, in this order."""

    START = "Start here"
    PROGRAM = "My program: what it costs, where, and what would help"
    MACHINE = "My machine: described, measured, predicted, searched for"
    SYSTEM = "An operating system"
    TEACH = "Seeing what happens"
    TRUST = "How far to trust it, and other engines"


class Command:
    """An entry of a table of commands.

    `path` is MODULE:FUNCTION.  `tables` are MODULE:NAME of the columns that its --help explains.
    """

    def __init__(self, task: Task, path: str, about: str, *tables: str) -> None:
        self.task, self.path, self.about, self.tables = task, path, about, tables


Commands = Mapping[str, Command]


def commands() -> dict[str, Command]:
    """Returns the commands of all packages."""
    tables: Iterator[Commands] = loaded("uncore.commands")
    return {name: command for table in tables for name, command in table.items()}


def loaded(group: str) -> Iterator[Any]:
    """Yields the objects of the group's entry points, skipping packages that are not installed."""
    from importlib.metadata import entry_points  # noqa: PLC0415 (slow to load)

    for point in entry_points(group=group):
        if find_spec(point.module.partition(".")[0]):
            yield point.load()

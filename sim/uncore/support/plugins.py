"""Loads what other installed packages, like the laboratory `uncore_lab`, add to this one.

    commands() -> {name: Command}          entry points of the group `uncore.commands`: each a table
                                           like `uncore.cli.commands.COMMANDS`
    loaded(group) -> Iterator              what entry points of any group name; `uncore.measured`:
                                           functions that know median handoffs of real machines
                                           (uncore.study.matrix)

A package names them in its pyproject.toml:

    [project.entry-points."uncore.commands"]
    laboratory = "uncore_lab.commands:COMMANDS"

Without any, everything else works; so it does where a package has gone and left its names here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from importlib.util import find_spec
from typing import Any


class Task(StrEnum):
    """Tasks for which a user looks for a command, in the order of `uncore --help`."""

    START = "Start here"
    PROGRAM = "My program: what it costs, where, and what would help"
    MACHINE = "My machine: described, measured, predicted, searched for"
    SYSTEM = "An operating system"
    TEACH = "Seeing what happens"
    TRUST = "How far to trust it, and other engines"


class Command:
    """An entry of a table of commands.

    `path`: MODULE:FUNCTION.  `tables`: MODULE:NAME of the columns that its --help explains.
    """

    def __init__(self, task: Task, path: str, about: str, *tables: str) -> None:
        self.task, self.path, self.about, self.tables = task, path, about, tables


Commands = Mapping[str, Command]


def commands() -> dict[str, Command]:
    """The tables of all packages as one."""
    tables: Iterator[Commands] = loaded("uncore.commands")
    return {name: command for table in tables for name, command in table.items()}


def loaded(group: str) -> Iterator[Any]:
    """Objects that entry points of the group name, of the packages that are there."""
    from importlib.metadata import entry_points  # noqa: PLC0415 (slow to load)

    for point in entry_points(group=group):
        if find_spec(point.module.partition(".")[0]):
            yield point.load()

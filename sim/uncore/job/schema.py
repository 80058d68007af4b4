"""Declares the options of a Job's fields, for job.py.

    placement: str = option("--place", "compact, scatter, ...", default="compact", form=PLACES)
    options(Job)        all options, by the names of their fields

A field declares its option once: flag, help, group, and its form, which converts a value from and
to text (forms.py).  The command line (cli/options), the keywords of `uncore.run` (execution), the
command that repeats a run, the columns of a result, the choices of an exploration and the
playground are all generated from it.
"""

from __future__ import annotations

import dataclasses
from enum import Enum
from functools import cache
from types import MappingProxyType
from typing import Any, NamedTuple, get_type_hints

from uncore.job.forms import TEXT, Form


class Group(Enum):
    """The heading of --help under which an option is listed."""

    COMMON = "Common"
    MACHINE = "Machine and placement"
    PROGRAM = "Program of Linux, with main()"
    CHANCE = "Chance and repeats"
    LIMITS = "Limits"


class Scope(Enum):
    """The commands that have an option."""

    MACHINE = "all that simulate"
    WORKLOAD = "those that run a workload"
    RATE = "those that ask for a rate"
    LINUX = "those that run a program of Linux, too"


class Option(NamedTuple):
    """An option of a command, and the field of Job that holds its value."""

    name: str  # the field, and the keyword in Python
    flag: str
    about: str
    form: Form
    group: Group
    scope: Scope
    axis: bool  # True: `run` accepts several values, and results have a column for the option
    # True: a job's document omits the default, so that hashes of older results stay valid
    sparse: bool
    default: Any
    type: Any  # type of the field

    @property
    def word(self) -> str:
        """The flag without its dashes."""
        return self.flag.removeprefix("--")

    def written(self, value: Any) -> tuple[str, ...]:
        """Returns the words that request this value; () if it is the default."""
        is_default = value == self.default and not self.form.always
        return () if is_default else self.form.write(self.flag, value)


def option(
    flag: str,
    about: str,
    *,
    default: Any,
    form: Form = TEXT,
    group: Group = Group.MACHINE,
    scope: Scope = Scope.MACHINE,
    axis: bool = False,
    sparse: bool = False,
) -> Any:
    """Declares a dataclass field that is also an option."""
    declared = {"flag": flag, "about": about, "form": form, "group": group}
    metadata = {"option": {**declared, "scope": scope, "axis": axis, "sparse": sparse}}
    return dataclasses.field(default=default, metadata=metadata)


@cache
def options(kind: type) -> MappingProxyType[str, Option]:
    """Returns the options that the fields of a dataclass declare, by the names of the fields."""
    types = get_type_hints(kind)
    fields = [field for field in dataclasses.fields(kind) if "option" in field.metadata]
    return MappingProxyType(
        {
            field.name: Option(
                name=field.name,
                default=field.default,
                type=types[field.name],
                **field.metadata["option"],
            )
            for field in fields
        }
    )

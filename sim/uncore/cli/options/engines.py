"""Limits and options of engines, for every command that executes a run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import make_dataclass
from typing import Annotated, Any, get_type_hints

from cyclopts import Group as Panel
from cyclopts import Parameter, validators
from msgspec import Struct

from uncore import engine
from uncore.cli.options.groups import OUTSIDE, panel
from uncore.engine import EngineOptions
from uncore.engine.limits import Limits
from uncore.job.schema import Group


def _option_fields(kind: type[Struct] | None, group: Panel) -> Iterator[tuple[str, Any, None]]:
    """Yields the fields of an engine's struct as options of the command line."""
    for name, hint in get_type_hints(kind, include_extras=True).items():
        (meta,) = hint.__metadata__
        if hint.__origin__ is int:
            number = validators.Number(gte=meta.ge)
            option = Parameter(help=meta.description, validator=number, group=group)
            yield name, Annotated[int | None, option], None
        else:
            option = Parameter(help=meta.description, group=group)
            yield name, Annotated[str | None, option], None


_LIMITS = _option_fields(Limits, panel(Group.LIMITS))
_OUTSIDE = (
    option for name in engine.OPTIONS for option in _option_fields(engine.options(name), OUTSIDE)
)
_Declared: Any = make_dataclass("_Declared", [*_LIMITS, *_OUTSIDE], frozen=True, eq=False)


@Parameter(name="*")
class EngineWords(_Declared):  # type: ignore[misc]
    """Options of engines, as each declares them (`uncore.engine.OPTIONS`), and limits."""

    def engine_options(self) -> EngineOptions:
        """Returns the options that the user has given."""
        return {name: value for name, value in vars(self).items() if value is not None}


ENGINE_WORDS = EngineWords()

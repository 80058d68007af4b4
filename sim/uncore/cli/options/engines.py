"""How engines are run, and limits: options of every command that executes a run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, make_dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, Self, get_type_hints

from cyclopts import Parameter, validators
from msgspec import Struct

from uncore import engine
from uncore.engine.limits import Limits


def _declared(kind: type[Struct] | None) -> Iterator[tuple[str, Any, None]]:
    """What engines can be told, as fields that are options of the command line."""
    for option, hint in get_type_hints(kind, include_extras=True).items():
        (meta,) = hint.__metadata__
        if hint.__origin__ is int:
            number = Parameter(help=meta.description, validator=validators.Number(gte=meta.ge))
            yield option, Annotated[int | None, number], None
        else:
            yield option, Annotated[str | None, Parameter(help=meta.description)], None


_KINDS = (Limits, *map(engine.options, engine.OPTIONS))
_OF_ENGINES = [told for kind in _KINDS for told in _declared(kind)]
TOLD = frozenset(option for option, _, _ in _OF_ENGINES)

_Declared: Any = make_dataclass("_Declared", _OF_ENGINES, frozen=True)


@Parameter(name="*")
@dataclass(frozen=True)
class Engines(_Declared if not TYPE_CHECKING else object):  # type: ignore[misc]
    """How engines are run, as each declares it (`uncore.engine.OPTIONS`), and limits: of every
    command that executes a run, as new as it may be."""

    def told(self) -> dict[str, Any]:
        said = {name: getattr(self, name) for name in TOLD}
        return {name: value for name, value in said.items() if value is not None}

    def untold(self) -> Self:
        """The same without."""
        return replace(self, **dict.fromkeys(TOLD))


ENGINES = Engines()

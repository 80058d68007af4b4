"""Columns of a point, declared where its quantity is: everything that shows it follows.

    invalidations: Annotated[int | None, Meta(description="..."), PointColumn()] = None
    @property
    @derived(PointColumn(head="fairness", ...), after="latency")
    def fairness(self) -> float | None: ...

    columns(Point)     all of them, in order
    values(point)      what rows (`--json`, polars, Parquet) hold of a point

The table that `run` prints and its `--help` (report/curve.py), pictures (report/selection.py),
formulas (study/explore) and the page of results (describe.py) read the same declarations.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple, TypeVar, get_type_hints

from msgspec import UNSET, Meta

from uncore.drawing import formats as units

Getter = TypeVar("Getter", bound=Callable[[Any], Any])


def _itself(value: Any) -> Any:
    return None if value is UNSET else value


class PointColumn(NamedTuple):
    """One quantity of a point: its key in rows, and how tables, pictures and formulas show it."""

    key: str = ""  # in rows; empty: the field's name; a dictionary has KEY.NAME for each entry
    of: Callable[[Any], Any] = _itself  # the column's value, from the field's
    each: bool = True  # stands in the row of each repeat, too
    head: str = ""  # in the table that `run` prints; empty: not there
    write: Callable[..., str] = units.count  # a value, for people
    apart: bool = False  # printed with the spread of the repeats
    minor: bool = False  # left out where it does not fit
    about: str = ""  # for --help and the page; empty: the field's description
    name: str = ""  # in `--y` and in formulas; empty: the key, where there is an axis
    axis: str = ""  # its title in pictures; empty: not drawn
    scale: float = 1  # one unit of the axis

    @property
    def figure(self) -> str:
        """Its name in `--y` and in formulas; empty where it is not drawn."""
        return self.axis and (self.name or self.key)


def derived(column: PointColumn, *, after: str) -> Callable[[Getter], Getter]:
    """Declares the column of a property; it stands behind those of the field `after`."""

    def declare(getter: Getter) -> Getter:
        getter.column = column, after  # type: ignore[attr-defined]
        return getter

    return declare


@cache
def _declared(kind: Any) -> tuple[tuple[str, PointColumn], ...]:
    """Attributes of a point that have a column, with it, in the order of columns."""
    of_fields: dict[str, list[tuple[str, PointColumn]]] = {}
    for field, hint in get_type_hints(kind, include_extras=True).items():
        metadata = getattr(hint, "__metadata__", ())
        description = next((m.description or "" for m in metadata if isinstance(m, Meta)), "")
        own = (column for column in metadata if isinstance(column, PointColumn))
        of_fields[field] = [(field, _named(column, field, description)) for column in own]
    for name, attribute in vars(kind).items():
        if declaration := getattr(getattr(attribute, "fget", None), "column", None):
            column, after = declaration
            of_fields[after].append((name, _named(column, name, "")))
    return tuple(declaration for own in of_fields.values() for declaration in own)


def _named(column: PointColumn, name: str, description: str) -> PointColumn:
    return column._replace(key=column.key or name, about=column.about or description)


def columns(kind: Any) -> tuple[PointColumn, ...]:
    """All columns, in the order of the fields."""
    return tuple(column for _, column in _declared(kind))


def values(point: Any, *, each: bool = False) -> dict[str, Any]:
    """A point's columns with their values; `each`: those of every repeat's row."""
    row: dict[str, Any] = {}
    kind: Any = type(point)
    for attribute, column in _declared(kind):
        if each and not column.each:
            continue
        value = column.of(getattr(point, attribute))
        if isinstance(value, dict):
            row |= {f"{column.key}.{name}": entry for name, entry in value.items()}
        else:
            row[column.key] = value
    return row

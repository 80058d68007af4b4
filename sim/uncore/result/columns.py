"""Columns of a point, declared with the quantity that they show.

    invalidations: Annotated[int | None, Meta(description="..."), PointColumn()] = None

    @property
    @derived(PointColumn(head="fairness", ...), after="latency")
    def fairness(self) -> float | None: ...

    columns(Point)     all of them, in order
    values(point)      a point's values in rows (`--json`, polars, Parquet)

The table that `run` prints and its `--help` (report/curve.py), pictures (report/selection.py),
formulas (study/explore) and the page of results (describe.py) all read these declarations.
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
    """One quantity of a point: its key in rows, and its form in tables, pictures and formulas."""

    key: str = ""  # key in rows; "": the field's name; values of a dictionary get KEY.NAME
    of: Callable[[Any], Any] = _itself  # computes the column's value from the field's value
    each: bool = True  # True: rows of single repeats have it, too
    head: str = ""  # in the table that `run` prints; "": not printed
    write: Callable[..., str] = units.count  # formats a value for people
    apart: bool = False  # printed with the spread of the repeats
    minor: bool = False  # left out if it does not fit
    about: str = ""  # for --help and the page; "": the field's description
    name: str = ""  # in `--y` and in formulas; "": the key, if there is an axis
    axis: str = ""  # title of its axis in pictures; "": not drawn
    scale: float = 1  # value of one unit on the axis

    @property
    def figure(self) -> str:
        """Its name in `--y` and in formulas; "" if it is not drawn."""
        return self.axis and (self.name or self.key)


def derived(column: PointColumn, *, after: str) -> Callable[[Getter], Getter]:
    """Declares the column of a property, which follows those of the field `after`."""

    def declare(getter: Getter) -> Getter:
        getter.column = column, after  # type: ignore[attr-defined]
        return getter

    return declare


@cache
def _declared(kind: Any) -> tuple[tuple[str, PointColumn], ...]:
    """Returns the attributes of a point that have a column, with it, in the order of columns."""
    of_fields: dict[str, list[tuple[str, PointColumn]]] = {}
    for field, hint in get_type_hints(kind, include_extras=True).items():
        metadata = getattr(hint, "__metadata__", ())
        description = next((m.description or "" for m in metadata if isinstance(m, Meta)), "")
        own_columns = (column for column in metadata if isinstance(column, PointColumn))
        of_fields[field] = [(field, _named(column, field, description)) for column in own_columns]
    for name, attribute in vars(kind).items():
        if declaration := getattr(getattr(attribute, "fget", None), "column", None):
            column, after = declaration
            of_fields[after].append((name, _named(column, name, "")))
    return tuple(declaration for own_columns in of_fields.values() for declaration in own_columns)


def _named(column: PointColumn, name: str, description: str) -> PointColumn:
    return column._replace(key=column.key or name, about=column.about or description)


def columns(kind: Any) -> tuple[PointColumn, ...]:
    """Returns all columns, in the order of the fields."""
    return tuple(column for _, column in _declared(kind))


def values(point: Any, *, each: bool = False) -> dict[str, Any]:
    """Returns the values of a point's columns; `each` selects those for every repeat's row."""
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

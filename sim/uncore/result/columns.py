"""Columns of a point, declared with the quantity that they show.

    invalidations: Annotated[int | None, Meta(description="..."), PointColumn()] = None

    @property
    @derived(PointColumn(head="fairness", ...), after="latency")
    def fairness(self) -> float | None: ...

    columns(Point)     all declared columns, in order
    values(point)      the values of a point's columns, as in rows (`--json`, polars, Parquet)

These declarations determine the table that `run` prints and its `--help` (report/curve.py),
pictures (report/selection.py), formulas (study/explore) and the page of results (describe.py).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple, TypeVar, get_type_hints

from msgspec import UNSET, Meta

from uncore.drawing import formats as units

Getter = TypeVar("Getter", bound=Callable[[Any], Any])


def _none_if_unset(value: Any) -> Any:
    return None if value is UNSET else value


class PointColumn(NamedTuple):
    """Describes one quantity of a point: its key in rows, and its form in tables and pictures."""

    # key in rows; "": the field's name. If the value is a dictionary, each entry has KEY.NAME.
    key: str = ""
    value_of: Callable[[Any], Any] = _none_if_unset  # computes the value from the field's value
    in_repeats: bool = True  # True: rows of single repeats have this column, too
    head: str = ""  # column head in the table that `run` prints; "": not printed
    write: Callable[..., str] = units.count  # formats a value for people
    has_spread: bool = False  # True: printed with the spread of the repeats
    minor: bool = False  # True: left out if the table is too wide
    about: str = ""  # description in --help and on the page; "": the field's description
    name: str = ""  # name in `--y` and in formulas; "": the key, if there is an axis
    axis: str = ""  # title of the axis in pictures; "": not drawn
    scale: float = 1  # value that one unit on the axis stands for

    @property
    def figure(self) -> str:
        """Returns the column's name in `--y` and in formulas; "" if it is not drawn."""
        return self.axis and (self.name or self.key)


def derived(column: PointColumn, *, after: str) -> Callable[[Getter], Getter]:
    """Declares the column of a property; it is placed after the columns of the field `after`."""

    def declare(getter: Getter) -> Getter:
        getter.column = column, after  # type: ignore[attr-defined]
        return getter

    return declare


@cache
def _declared_columns(kind: Any) -> tuple[tuple[str, PointColumn], ...]:
    """Returns (attribute, column) for each column of a point, in the order of the columns."""
    of_fields: dict[str, list[tuple[str, PointColumn]]] = {}
    for field, hint in get_type_hints(kind, include_extras=True).items():
        metadata = getattr(hint, "__metadata__", ())
        description = next((m.description or "" for m in metadata if isinstance(m, Meta)), "")
        own_columns = (column for column in metadata if isinstance(column, PointColumn))
        of_fields[field] = [
            (field, _with_name(column, field, description)) for column in own_columns
        ]
    for name, attribute in vars(kind).items():
        if declaration := getattr(getattr(attribute, "fget", None), "column", None):
            column, after = declaration
            of_fields[after].append((name, _with_name(column, name, "")))
    return tuple(declaration for own_columns in of_fields.values() for declaration in own_columns)


def _with_name(column: PointColumn, name: str, description: str) -> PointColumn:
    return column._replace(key=column.key or name, about=column.about or description)


def columns(kind: Any) -> tuple[PointColumn, ...]:
    """Returns all columns, in the order of the fields."""
    return tuple(column for _, column in _declared_columns(kind))


def values(point: Any, *, in_repeats: bool = False) -> dict[str, Any]:
    """Returns the values of a point's columns; with `in_repeats`, only of columns that rows of
    single repeats have.
    """
    row: dict[str, Any] = {}
    kind: Any = type(point)
    for attribute, column in _declared_columns(kind):
        if in_repeats and not column.in_repeats:
            continue
        value = column.value_of(getattr(point, attribute))
        if isinstance(value, dict):
            row |= {f"{column.key}.{name}": entry for name, entry in value.items()}
        else:
            row[column.key] = value
    return row

"""Prints the page on results, derived from the schema:  python -m uncore.result.describe

`tables(parts)` describes the layout of any file: it returns one table for each part (a Struct).
"""

from __future__ import annotations

import re
import typing
from collections.abc import Iterable
from typing import Any

from msgspec import Meta, Struct

from uncore.result import frame, observed, schema
from uncore.result.columns import columns

PARTS = (
    *(schema.Result, schema.Outcome, schema.Point, schema.Latency, schema.Interval, schema.Host),
    *(observed.Observed, observed.Line, observed.Object, observed.Use, observed.Others),
)

RESULT_PAGE_HEAD = f"""# The result of a run

This page is derived from `sim/uncore/result/schema.py`; change it there.

A result file is JSON (`run --output FILE.json`) or Parquet (`FILE.parquet`: one row per thread
count, and the whole result in the metadata entry `uncore.result`). Layout: `{schema.SCHEMA}`.
"""


def describe() -> str:
    """Returns the whole page."""
    return "\n".join([RESULT_PAGE_HEAD, tables(PARTS), _columns()])


def tables(parts: Iterable[type[Struct]]) -> str:
    return "\n".join(map(_section, parts))


def _section(part: type[Struct]) -> str:
    hints = typing.get_type_hints(part, include_extras=True)
    rows = [f"| `{name}` | {_type(hint)} | {_meaning(hint)} |" for name, hint in hints.items()]
    title = f"## {part.__name__}\n\n{part.__doc__}\n"
    return "\n".join([title, "| field | type | meaning |", "|---|---|---|", *rows, ""])


def _meaning(hint: Any) -> str:
    return next(m.description or "" for m in hint.__metadata__ if isinstance(m, Meta))


def _type(hint: Any) -> str:
    text = str(hint.__origin__) if not isinstance(hint.__origin__, type) else ""
    text = text or getattr(hint.__origin__, "__name__", "")
    return (
        "`"
        + re.sub(r"uncore[\w.]*\.", "", text)
        .replace("|", "or")
        .replace("msgspec.UnsetType", "absent")
        + "`"
    )


def _columns() -> str:
    """Returns the table of the columns of rows."""
    rows = [f"| `{column.key}` | {column.about} |" for column in columns(schema.Point)]
    table = ["| column | meaning |", "|---|---|", *rows, ""]
    return "\n".join([f"## Columns\n\n{(frame.__doc__ or '').strip()}\n", *table])


if __name__ == "__main__":
    print(describe(), end="")

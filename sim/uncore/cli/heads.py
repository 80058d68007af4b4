"""Columns that commands print, with their explanations, for `--help` and the site.

    explained(paths) -> the columns at `MODULE:NAME`, as COMMANDS names them

A report is imported only here, when somebody asks.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from uncore.drawing.table import Column


def explained(paths: Iterable[str]) -> list[Column]:
    """Columns that have an explanation."""
    columns = []
    for path in paths:
        module, _, name = path.partition(":")
        columns += [column for column in getattr(import_module(module), name) if column.about]
    return columns

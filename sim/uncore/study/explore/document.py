"""Reads the file of an exploration; docs/explore.md explains its keys.

    read(file) -> ExplorationFile      returns its typed values, and the line of each key

Every mistake in the file raises a UserError with the file and the line.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct, field
from msgspec.structs import fields

from uncore.errors import UserError, suggestion
from uncore.support.input_files import read_bounded
from uncore.topology.positions import key_lines

Value = str | int | float
Number = int | float
MAX_EXPLORATION_BYTES = 1 << 24
# message of msgspec: the mistake, and the path to the value
VALIDATION_ERROR_PATTERN = re.compile(r"(.*?)(?: - at `(?:key in `)?\$?(.*?)`*)?")
UNKNOWN_FIELD_ERROR_PATTERN = re.compile(r"Object contains unknown field `(.*)`")


class QuantityRange(Struct, forbid_unknown_fields=True, frozen=True):
    """Quantities between two ends, in equal steps. Without a step, any value may be drawn, with a
    uniform distribution of its logarithm.
    """

    from_: Value = field(name="from")
    to: Value
    step: Value | None = None


Choice = Annotated[list[Value], Meta(min_length=1)] | QuantityRange


class RunTable(Struct, forbid_unknown_fields=True, frozen=True):
    workload: str
    threads: Annotated[int, Meta(ge=1)] | None = None
    set: dict[str, Value | bool] = {}


class Prices(Struct, forbid_unknown_fields=True, frozen=True):
    lines: dict[str, Number] = {}
    messages: dict[str, Number] = {}
    bits: dict[str, Number] = {}


class SearchTable(Struct, forbid_unknown_fields=True, frozen=True):
    designs: Annotated[int, Meta(ge=1, le=100_000)] = 100
    batch: Annotated[int, Meta(ge=1, le=1000)] = 8
    seed: Annotated[int, Meta(ge=0, lt=1 << 32)] = 1


class ExplorationDocument(Struct, forbid_unknown_fields=True, kw_only=True):
    title: str = ""
    machine: str
    threads: Annotated[int, Meta(ge=1)]
    seed: Annotated[int, Meta(ge=0, lt=1 << 62)] = 1
    repeat: Annotated[int, Meta(ge=1, le=1000)] = 3
    with_: dict[str, Value] = field(name="with", default_factory=dict)
    runs: Annotated[dict[str, RunTable], Meta(min_length=1)]
    choices: Annotated[dict[str, Choice], Meta(min_length=1)]
    prices: Prices = Prices()
    figures: dict[str, str] = {}
    maximise: list[str] = []
    minimise: list[str] = []
    constraints: list[str] = []
    search: SearchTable = SearchTable()


@dataclass(frozen=True)
class ExplorationFile:
    """The values of a file, and the line of each key."""

    file: Path
    lines: Mapping[tuple[str | int, ...], int]
    values: ExplorationDocument

    def position(self, *path: str) -> str:
        return _position(self.file, self.lines, path)


def _position(file: Path, lines: Mapping[tuple[str | int, ...], int], path: tuple[str, ...]) -> str:
    """Returns file and line of a key, or of the innermost enclosing table that the file has."""
    while path and path not in lines:
        path = path[:-1]
    return f"{file}:{lines[path]}" if path else str(file)


def read(file: Path) -> ExplorationFile:
    try:
        text = read_bounded(file, MAX_EXPLORATION_BYTES).decode()
        values = tomllib.loads(text)
        lines = key_lines(text)
    except OSError as error:
        raise UserError(f"{file}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise UserError(f"{file}: byte {error.start} is not UTF-8 text; expected TOML") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise UserError(f"{file}: broken TOML: {error}") from None
    reader = _DocumentReader(file, lines)
    for table, kind in (("runs", RunTable), ("choices", Choice)):
        if isinstance(tables_by_name := values.get(table), dict):
            values[table] = {
                k: reader.converted(v, kind, (table, k)) for k, v in tables_by_name.items()
            }
    return ExplorationFile(file, lines, reader.converted(values, ExplorationDocument, ()))


@dataclass(frozen=True)
class _DocumentReader:
    file: Path
    lines: Mapping[tuple[str | int, ...], int]

    def converted(self, value: Any, kind: Any, path: tuple[str, ...]) -> Any:
        try:
            return msgspec.convert(value, kind)
        except msgspec.ValidationError as error:
            match = VALIDATION_ERROR_PATTERN.fullmatch(str(error))
            assert match
            inner_path = re.sub(r"\[[^]]*\]", "", match[2] or "").strip(".")
            keys = (*path, *filter(None, inner_path.split(".")))
            raise self._error(match[1], keys) from None

    def _error(self, what: str, keys: tuple[str, ...]) -> UserError:
        if unknown := UNKNOWN_FIELD_ERROR_PATTERN.fullmatch(what):
            allowed = KEYS[keys[:1]]
            keys = (*keys, unknown[1])
            what = f"no such key.{suggestion(unknown[1], allowed)} There are {', '.join(allowed)}"
            if keys[0] == "choices":
                what += '; a name with points stands in quotes, like "ccx.join.latency"'
        name = f"'{'.'.join(keys)}': " if keys else ""
        return UserError(f"{_position(self.file, self.lines, keys)}: {name}{what}")


KEYS = {
    (): [field_.encode_name for field_ in fields(ExplorationDocument)],
    ("runs",): [field_.encode_name for field_ in fields(RunTable)],
    ("choices",): [field_.encode_name for field_ in fields(QuantityRange)],
    ("prices",): [field_.encode_name for field_ in fields(Prices)],
    ("search",): [field_.encode_name for field_ in fields(SearchTable)],
}

"""Makes the site's page about all keys of a machine file and all numbers of a machine.

`uncore show --keys` prints only the keys.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from types import NoneType, UnionType
from typing import Any, get_args, get_origin

from uncore.topology.keys import KEYS, LEVEL
from uncore.topology.machine import PARTS
from uncore.topology.schema import (
    MAX_COUNT,
    Field,
    Form,
    Key,
    fields,
    form_of,
    limits,
    metadata,
    words_of,
)

PAGE_HEAD = """\
# The numbers of a machine

Made from the fields of `sim/uncore/topology/machine.py`; `uncore show --keys` prints the keys.
[topologies/README.md](../topologies/README.md) tells how a file is written.

## Keys of a machine file

LEVEL is a level of the tree, NAME a name of your own. A key without a default must be in the file,
or in one that it extends.
"""
FIELDS = """\
## What they come to

The machine that engines execute, `uncore.topology.Machine`. Durations are picoseconds, sizes bytes,
shares thousandths.
"""
MAX_STATED_LIMIT = 1 << 20  # larger limits are not printed
PLAIN = {str: "text", bool: "yes or no", int: "number", NoneType: "nothing"}
UNITS = {Form.DURATION: "ps", Form.SIZE: "bytes", Form.SHARE: "thousandths"}


def page() -> str:
    return "\n".join([PAGE_HEAD, *_keys(), FIELDS, *_fields()])


def _keys() -> Iterator[str]:
    tables: dict[str, list[Key]] = {}
    for key in KEYS.values():
        top, dot, _ = key.name.partition(".")
        table = key.name.rpartition(".")[0] if top == LEVEL else top * len(dot)
        tables.setdefault(table, []).append(key)
    for table in sorted(tables):
        yield f"**{f'[{table}]' if table else 'At the head'}**\n"
        rows = (_key(table, key) for key in tables[table])
        yield from _table(("key", "written", "default", "what it is"), rows)


def _key(table: str, key: Key) -> tuple[str, ...]:
    name = key.name.removeprefix(f"{table}.")
    default = f"`{key.default}`" if key.default is not None else key.absent
    joins = f" ({', '.join(key.joins)})" if key.joins else ""
    return f"`{name}`", _allowed_values(key), default, key.about + joins


def _allowed_values(key: Key) -> str:
    if key.form is Form.WORD:
        return " ".join(f"`{word}`" for word in key.words)
    if key.form is Form.COUNT:
        return f"{key.low} to {key.high}" if key.high < MAX_COUNT else key.form.value
    if key.form is Form.SHARE:
        return f"above 0, at most {key.high}" if key.low else f"0 to {key.high}"
    return str(key.form.value)


def _fields() -> Iterator[str]:
    for part in PARTS:
        yield f"**{part.__name__}**: {' '.join((part.__doc__ or '').split())}\n"
        yield from _table(
            ("field", "type", "from", "what it is"), (_field(field_) for field_ in fields(part))
        )


def _field(described: Field) -> tuple[str, ...]:
    keys = ", ".join(f"`{key.name}`" for key in described.keys)
    return f"`{described.name}`", _type(described.type), keys, described.about


def _type(type_: Any) -> str:
    if isinstance(type_, UnionType):
        return " or ".join(_type(option) for option in get_args(type_))
    if get_origin(type_) is tuple:
        return f"list of {_type(get_args(type_)[0])}"
    if words := words_of(type_):
        return " ".join(f"`{word}`" for word in words)
    if metadata(type_):
        (low, high), unit = limits(type_), UNITS.get(form_of(type_), "")
        lower_bound = f"from {low}" if low else ""
        span = f"{low} to {high}" if high <= MAX_STATED_LIMIT else lower_bound
        return f"{unit or 'number'} {span}".strip()
    return PLAIN.get(type_) or str(getattr(type_, "__name__", type_))


def _table(head: Iterable[str], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    names = list(head)
    yield "| " + " | ".join(names) + " |"
    yield "|" + "---|" * len(names)
    for row in rows:
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |"
    yield ""

"""What there is: list, show."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from uncore import engine, program, topology
from uncore.commands.options import Json, Plot, With
from uncore.commands.status import OK
from uncore.report.table import Column, emit
from uncore.words import check_endings

if TYPE_CHECKING:
    from uncore.topology.machine import Number


def list_(*, json: Json = False) -> int:
    rows = [
        {"kind": "topology", "name": n, "about": about} for n, about in topology.list_machines()
    ]
    rows += [{"kind": "workload", "name": p.name, "about": p.summary} for p in program.shipped()]
    rows += [{"kind": "engine", "name": n, "about": engine.load(n).ABOUT} for n in engine.names()]
    emit(rows, json, [Column(key, key, left=True) for key in ("kind", "name", "about")])
    return OK


def show(
    machine: str,
    *,
    keys: Annotated[
        bool, Parameter(negative="", help="only the numbers --with can change")
    ] = False,
    with_: With = [],  # noqa: B006
    plot: Plot = None,
    json: Json = False,
) -> int:
    check_endings({"--plot": plot})
    resolved = topology.load(machine, with_)
    if not (keys or json):
        print(topology.draw(resolved, plot), end="\n\n")
    rows = [_number(number) for number in resolved.numbers]
    names = ["key", "value", "interval", "source"]
    if not any(row["interval"] for row in rows):
        names.remove("interval")
    columns = [Column(name, name, left=True) for name in names]
    about = [Column("what it is", "about", left=True)] if keys else []
    emit(rows, json, [*columns, Column("where", _where, left=True), *about])
    return OK


def _number(number: Number) -> dict[str, Any]:
    from uncore.topology.keys import declaration

    return {
        "key": number.key,
        "value": number.text,
        "interval": " to ".join(number.interval or ()),
        "source": number.source,
        "file": number.file,
        "line": number.line,
        "about": declaration(number.key).about,
    }


def _where(row: Any) -> str:
    return f"{Path(row['file']).name}:{row['line']}" if row["file"] else "-"

"""What there is: list, show."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from uncore import engine, program, topology
from uncore.commands.options import Json, Plot, With
from uncore.commands.status import OK
from uncore.report.table import Column, emit
from uncore.words import check_endings


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
    rows = [
        {"key": n.key, "value": n.text, "source": n.source, "file": n.file, "line": n.line}
        for n in resolved.numbers
    ]
    columns = [Column(key, key, left=True) for key in ("key", "value", "source")]
    emit(rows, json, [*columns, Column("where", _where, left=True)])
    return OK


def _where(row: Any) -> str:
    return f"{Path(row['file']).name}:{row['line']}" if row["file"] else "-"

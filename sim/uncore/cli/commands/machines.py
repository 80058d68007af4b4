"""Machines, workloads and engines: list, show."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from uncore import engine, program, topology
from uncore.cli.options import Json, Plot, With, note
from uncore.cli.status import OK
from uncore.drawing.table import Column, emit, say
from uncore.errors import UserError
from uncore.execution.request import find_program
from uncore.job.option_values import check_endings, is_workload
from uncore.report import workload
from uncore.support.output_files import write_whole
from uncore.topology.hwloc import xml
from uncore.topology.load import stated, whole
from uncore.topology.machine import Number
from uncore.topology.table_reader import noted


def list_(*, json: Json = False) -> int:
    rows = [
        {"kind": "topology", "name": n, "about": about} for n, about in topology.list_machines()
    ]
    rows += [{"kind": "workload", "name": p.name, "about": p.summary} for p in program.shipped()]
    rows += [{"kind": "engine", "name": n, "about": engine.load(n).ABOUT} for n in engine.names()]
    emit(rows, json, [Column(key, key, left=True) for key in ("kind", "name", "about")])
    return OK


def show(
    what: Annotated[str, Parameter(help="a machine or a workload")],
    *,
    keys: Annotated[
        bool, Parameter(negative="", help="only the keys --with can change, and what they are")
    ] = False,
    with_: With = [],  # noqa: B006
    complete: Annotated[
        bool,
        Parameter(negative="", help="print one whole file of it, with examples of what it lacks"),
    ] = False,
    plot: Plot = None,
    hwloc: Annotated[
        Path | None, Parameter(name="--hwloc", help="write it for hwloc's tools (.xml)")
    ] = None,
    json: Json = False,
) -> int:
    check_endings({"--plot": plot, "--hwloc": hwloc})
    if is_workload(what):
        return _show_workload(what, keys or complete or bool(with_ or plot or hwloc), json)
    if complete:
        if keys or plot or hwloc or json:
            raise UserError("--complete: prints a machine file, and goes with --with alone")
        print(whole(what, with_), end="")
        return OK
    resolved = topology.load(what, with_)
    if hwloc:
        write_whole(hwloc, xml(resolved))
        note(f"hwloc: {hwloc}")
    if not (keys or json):
        say(topology.draw(resolved, plot) + "\n")
    rows = _keys(what, with_) if keys else [_number(number) for number in resolved.numbers]
    names = [name for name in ("key", "value", "interval", "source") if any(r[name] for r in rows)]
    columns = [Column(name, name, left=True, key=name == "key") for name in names]
    about = [Column("what it is", "about", left=True)] if keys else []
    emit(rows, json, [*columns, Column("where", _where, left=True, minor=True), *about])
    return OK


def _show_workload(name: str, machines_options: bool, json: bool) -> int:
    if machines_options:
        raise UserError(
            f"show {name}: a workload; --keys, --complete, --with, --plot and --hwloc are of"
            " machines"
        )
    workload.show(find_program(name), json)
    return OK


def _number(number: Number) -> dict[str, Any]:
    return {
        "key": number.key,
        "value": number.text,
        "interval": " to ".join(number.interval or ()),
        "source": number.source,
        "file": number.file,
        "line": number.line,
    }


def _keys(machine: str, settings: Sequence[str]) -> list[dict[str, Any]]:
    """A row for each key; what a kind of parts inherits stands at its level only."""
    rows, seen = [], set[int]()
    for name, (key, leaf) in stated(machine, settings).items():
        if leaf is None:
            number = Number(name, key.default or key.absent, "default", "", 0)
        elif id(leaf) not in seen:
            seen.add(id(leaf))
            number = noted(name, leaf)
        else:
            continue
        rows.append({**_number(number), "about": key.about})
    return rows


def _where(row: Any) -> str:
    return f"{Path(row['file']).name}:{row['line']}" if row["file"] else "-"

"""What there is: list, engines, show."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from uncore.commands import OK, Json, Plot, With, app
from uncore.words import check_endings


@app.command(name="list")
def list_(*, json: Json = False) -> int:
    """Topologies, workloads and engines, each with one line."""
    from uncore import engine, program, topology
    from uncore.report.table import Column, emit

    rows = [
        {"kind": "topology", "name": n, "about": about} for n, about in topology.list_machines()
    ]
    rows += [{"kind": "workload", "name": p.name, "about": p.summary} for p in program.shipped()]
    rows += [{"kind": "engine", "name": n, "about": engine.load(n).ABOUT} for n in engine.names()]
    emit(rows, json, [Column(key, key, left=True) for key in ("kind", "name", "about")])
    return OK


@app.command
def engines(*, json: Json = False) -> int:
    """What is installed, and what each engine can do here."""
    from uncore import engine
    from uncore.report.table import Column, emit

    modules = {name: engine.load(name) for name in engine.names()}
    rows = [
        {"engine": n, "missing": m.missing(), "about": engine.about(n), "gives": sorted(m.GIVES)}
        for n, m in modules.items()
    ]
    columns = [
        Column("engine", "engine", left=True),
        Column("here", lambda row: row["missing"] or "ready", left=True),
        Column("about", "about", left=True),
        Column("gives", lambda row: " ".join(row["gives"]), left=True),
    ]
    emit(rows, json, columns)
    return OK


@app.command
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
    """A machine as a tree, its resolved numbers with their sources, and a drawing."""
    from uncore import topology
    from uncore.report.table import Column, emit

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

"""The commands `list` and `show`: machines, workloads and engines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from uncore import engine, program, topology
from uncore.cli.options import Json, Plot, With, note
from uncore.cli.status import OK
from uncore.drawing import protocol_diagram as diagram
from uncore.drawing.formats import EMPTY
from uncore.drawing.table import Column, emit, say
from uncore.errors import UserError
from uncore.execution.request import find_program
from uncore.job.option_values import check_outputs, is_workload
from uncore.protocol.table_shapes import PROTOCOLS
from uncore.protocol.tables import Tables
from uncore.protocol.tables import load as load_tables
from uncore.report import workload
from uncore.support.output_files import write_whole
from uncore.support.output_kinds import DIAGRAM
from uncore.topology.hwloc import xml
from uncore.topology.load import stated, whole_text
from uncore.topology.machine import Machine, Number
from uncore.topology.table_reader import noted
from uncore.topology.wiring import bisection, wires


def list_(*, json: Json = False) -> int:
    rows = [
        {"kind": "topology", "name": n, "about": about} for n, about in topology.list_machines()
    ]
    rows += [{"kind": "workload", "name": p.name, "about": p.summary} for p in program.shipped()]
    rows += [{"kind": "engine", "name": n, "about": engine.load(n).ABOUT} for n in engine.names()]
    emit(rows, json, [Column(key, key, left=True) for key in ("kind", "name", "about")])
    return OK


def show(
    what: Annotated[
        str, Parameter(help="a machine, a workload, or a protocol (a folder of tables)")
    ],
    *,
    keys: Annotated[
        bool,
        Parameter(
            negative="", help="print only the keys that --with can change, with descriptions"
        ),
    ] = False,
    with_: With = [],  # noqa: B006
    complete: Annotated[
        bool,
        Parameter(
            negative="",
            help="print the machine as one complete file, with commented examples of keys that it"
            " does not use",
        ),
    ] = False,
    links: Annotated[
        bool,
        Parameter(
            negative="", help="print only the machine's links: number, width and length, by level"
        ),
    ] = False,
    plot: Plot = None,
    hwloc: Annotated[
        Path | None,
        Parameter(name="--hwloc", help="write the machine's topology for hwloc's tools (.xml)"),
    ] = None,
    json: Json = False,
) -> int:
    check_outputs({"--plot": plot, "--hwloc": hwloc})
    if what in PROTOCOLS or any(Path(what.partition(":")[0]).glob("*.table")):
        _refuse(what, "a protocol", keys or complete or links or bool(with_ or hwloc))
        return _show_protocol(load_tables(what), plot, json)
    if is_workload(what):
        _refuse(what, "a workload", keys or complete or links or bool(with_ or plot or hwloc))
        workload.show(find_program(what), json)
        return OK
    if complete:
        if keys or links or plot or hwloc or json:
            raise UserError("--complete: prints a machine file, and goes with --with alone")
        print(whole_text(what, with_), end="")
        return OK
    if links:
        if keys or plot or hwloc:
            raise UserError("--links: one table, which goes with --with and --json alone")
        return _show_links(topology.load(what, with_), json)
    resolved = topology.load(what, with_)
    if hwloc:
        write_whole(hwloc, xml(resolved))
        note(f"hwloc: {hwloc}")
    if not (keys or json):
        say(f"{_draw(resolved, plot)}\n")
    _show_numbers(_keys(what, with_) if keys else [_number(n) for n in resolved.numbers], json)
    return OK


def _draw(machine: Machine, plot: Path | None) -> str:
    text = topology.explained_text(machine)
    if not plot:
        return text
    from uncore.report.machine_picture import save_picture  # noqa: PLC0415 (slow to load)

    save_picture(machine, plot)
    return f"{text}\n\ndrawn in {plot}"


def _show_numbers(rows: list[dict[str, Any]], json: bool) -> None:
    names = [name for name in ("key", "value", "interval", "source") if any(r[name] for r in rows)]
    columns = [Column(name, name, left=True, key=name == "key") for name in names]
    about = [Column("what it is", "about", left=True)] * all("about" in row for row in rows)
    emit(rows, json, [*columns, Column("where", _file_and_line, left=True, minor=True), *about])


def _format_number(value: float | None) -> str:
    return EMPTY if value is None else f"{value:.6g}"


LINK_COLUMNS = [
    Column("level", "level", left=True, key=True, about="level whose groups the links connect"),
    Column(
        "links", "links", about="number of links: one for each direction of a wire, one for a bus"
    ),
    Column("width, GB/s", "width", _format_number, about="width of one link; -: unlimited"),
    Column(
        "length, tiles",
        "length",
        _format_number,
        about="total length of these links; a core is one tile wide",
    ),
    Column(
        "wire",
        "wire",
        _format_number,
        about="width times length, in proportion to the metal at one clock",
    ),
]


def _show_links(machine: Machine, json: bool) -> int:
    rows = [{**asdict(row), "wire": row.wire} for row in wires(machine)]
    emit(rows, json, LINK_COLUMNS, f"links of {machine.id}")
    if not json:
        width_gb_per_s = bisection(machine)
        limit = "no limit" if width_gb_per_s is None else f"{width_gb_per_s:.4g} GB/s"
        say(f"bisection: {limit} from one half of the cores to the other")
    return OK


def _show_protocol(tables: Tables, plot: Path | None, json: bool) -> int:
    """Prints the changes of state as rows; also draws them as a diagram if `plot` names a file."""
    check_outputs({"--plot": plot}, {"--plot": DIAGRAM})
    heads = ("state", "event", "textbook", "does", "next")
    rows = [move._asdict() for move in diagram.state_changes(tables)]
    columns = [Column(head, head, left=True) for head in heads]
    emit(rows, json, columns, f"{tables.name}: what changes the state of a line in a core's caches")
    if plot:
        write_whole(plot, diagram.picture(tables))
        note(f"picture: {plot}")
    elif not json:
        say(f"As a diagram: uncore show {tables.name} --plot {tables.name}.svg")
    return OK


def _refuse(name: str, what: str, machines_options: bool) -> None:
    if machines_options:
        raise UserError(
            f"show {name}: {what}; --keys, --links, --complete, --with and --hwloc are of machines"
        )


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
    """Returns a row for each key. A value that a kind of parts inherits from its level is listed
    only at the level.
    """
    rows, listed_ids = [], set[int]()
    for name, (key, leaf) in stated(machine, settings).items():
        if leaf is None:
            number = Number(name, key.default or key.absent, "default", "", 0)
        elif id(leaf) not in listed_ids:
            listed_ids.add(id(leaf))
            number = noted(name, leaf)
        else:
            continue
        rows.append({**_number(number), "about": key.about})
    return rows


def _file_and_line(row: Any) -> str:
    return f"{Path(row['file']).name}:{row['line']}" if row["file"] else "-"

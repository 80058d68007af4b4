"""Makes the page of the playground. It needs no Python: it contains machines and workloads as data.

    shared() -> dict                constants, protocols, and defaults of jobs
    of_machine(machine) -> dict     resolved numbers, derived figures and drawing of a machine
    workload("lock/ticket")         memory segments, parameters, symbols, types, source lines
    engine() -> str                 the script of the worker that runs jobs
    page(wasm) -> str               the whole page, which loads nothing from the network

The scripts of the page (playground/) reimplement uncore.job, .engine.native, .engine.outcome,
.program.fields and .trace in JavaScript. Tests compare both implementations by the hashes of
results and by whole documents.
"""

from __future__ import annotations

import base64
import dataclasses
import re
from pathlib import Path
from typing import Any

import msgspec

from uncore import topology
from uncore.drawing import protocol_diagram as diagram
from uncore.drawing import standalone
from uncore.engine import initial_memory, outcome
from uncore.engine.native import job_spec, trace
from uncore.execution.request import find_program
from uncore.job import Job
from uncore.job.job import USUAL_NUMBERS
from uncore.job.placement import place
from uncore.job.schema import Scope, options
from uncore.program import abi, locate
from uncore.program.types import Array, Pointer, Struct, Type
from uncore.protocol import tables
from uncore.protocol.table_shapes import PROTOCOLS
from uncore.topology.link import Link
from uncore.topology.load import shipped
from uncore.topology.machine import Machine
from uncore.topology.parts import Core, Interrupt, Memory, Resolver
from uncore.topology.route import nearest_memories
from uncore.topology.schema import Form, fields, form_of, limits
from uncore.trace.stepper import data as stepper
from uncore.trace.stepper.page import empty

HERE = Path(__file__).parent / "playground"
ENGINE = ("digest.js", "engine.js", "job.js", "names.js", "outcome.js", "trace.js", "run.js")
PAGE = (
    "program.js", "digest.js", "written.js", "form.js", "editor.js", "heat.js", "figures.js",
    "playground.js",
)  # fmt: skip
SHAPES = ("bus:8", "ring:16", "mesh:4x4", "mesh:8x8", "ccx:2x4", "ccx:4x8", "ccx:8x8")
FRAME = HERE / "written.c"  # C program into which a workload written in the page is inserted
MAX_EXACT = 1 << 53  # larger numbers are written as text, because JavaScript would round them
PLACEMENTS = ("compact", "scatter")
RUNS, ALLOWED = "'wasm-unsafe-eval' blob:", "; worker-src blob:; frame-src blob:"


def shared() -> dict[str, Any]:
    job = Job(topology.load("bus:2"), locate.find("lock/ticket"), (1,))
    document = job.document()
    for varying in ("machine", "program", "threads", "parameters"):
        del document[varying]
    return {
        "constants": dict(abi.CONSTANTS),
        "fields": dict(abi.FIELDS),
        "magic": abi.MAGIC.decode(),
        "timebase": initial_memory.TIMEBASE_HZ,
        "job": document,
        "usual_numbers": USUAL_NUMBERS,
        "hottest_lines": outcome.MAX_LINES_KEPT,
        "percentiles": outcome.PERCENTILES,
        "absent": {
            "latency": outcome.NO_OPERATIONS_REASON,
            "steady": outcome.NO_STEADY_STATE_REASON,
        },
        "options": {
            name: {"flag": option.flag, "usual": option.default, "word": option.form.word}
            for name, option in options(Job).items()
            if option.scope is not Scope.LINUX
        },
        "spec": exact(msgspec.to_builtins(dataclasses.replace(job_spec(job), segments=()))),
        "protocols": {name: protocol(name) for name in PROTOCOLS},
        "columns": stepper.COLUMNS,
        "times": sorted(stepper.TIME_COLUMNS_OF_PAGE),
        "interned": sorted(stepper.INTERNED_COLUMNS),
    }


def exact(value: Any) -> Any:
    """Turns integers that JavaScript would round into text, also in nested lists and dicts."""
    if isinstance(value, dict):
        return {key: exact(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [exact(item) for item in value]
    return str(value) if type(value) is int and value >= MAX_EXACT else value


def protocol(name: str) -> dict[str, Any]:
    protocol_tables = tables.of(name, ())
    client, resolver = protocol_tables.client, protocol_tables.resolver
    cells = {
        row: {column: client[row, column].text for column in client.columns} for row in client.rows
    }
    rows = {
        row: {column: resolver[row, column].text for column in resolver.columns}
        for row in resolver.rows
    }
    return {
        "packed": tables.pack(protocol_tables),
        "states": stepper.states(protocol_tables),
        "diagram": diagram.drawing(protocol_tables, *stepper.DIAGRAM_SIZE_PX, avoid_overlap=False),
        "cells": cells,
        "rows": rows,
        "words": trace.words(protocol_tables),
    }


def of_machine(machine: Machine) -> dict[str, Any]:
    without_numbers = dataclasses.replace(machine, numbers=())
    first_harts = [machine.harts_of(core)[0] for core in range(machine.cores)]
    return {
        "resolved": exact(msgspec.to_builtins(without_numbers)),
        "harts": {policy: place(machine, policy) for policy in PLACEMENTS},
        "cores": machine.hart_cores,
        "near": nearest_memories(machine, first_harts),
        "channels": outcome.channels(machine),
        "origins": outcome.origins(machine),
        "drawing": stepper.drawing(machine),
    }


def workload(name: str) -> dict[str, Any]:
    program = find_program(name)
    types = _Types()
    named_lines = dict.fromkeys(line for _, line in program.line_table if line)
    return {
        "name": program.name,
        "summary": program.summary,
        "sha256": program.sha256,
        "entry": program.entry,
        "boot": program.symbol("uc_boot").address,
        "segments": [
            [s.address, base64.b64encode(s.data).decode()] for s in program.segments if s.data
        ],
        "params": [{**dataclasses.asdict(p), "default": p.show(p.default)} for p in program.params],
        "tables": [{"name": t.name, "address": t.address} for t in program.tables],
        "symbols": [[s.name, s.address, s.size] for s in program.symbols],
        "variables": [
            [address, text, types.number_of(kind)] for address, text, kind in program.variables
        ],
        "types": types.rows(),
        "lines": program.line_table,
        "sources": stepper.sources(program, named_lines),
    }


class _Types:
    """Numbers the types of a program. `same` in a row is the number of the first equal type."""

    def __init__(self) -> None:
        self.types: list[Type] = []
        self.number: dict[int, int] = {}

    def number_of(self, kind: Type) -> int:
        if id(kind) not in self.number:
            self.number[id(kind)] = len(self.types)
            self.types.append(kind)
        return self.number[id(kind)]

    def rows(self) -> list[dict[str, Any]]:
        first_equal: dict[Type, int] = {}
        rows = []
        # the list grows during the loop, because _row() adds the types of members
        for number, kind in enumerate(self.types):
            rows.append(self._row(kind) | {"same": first_equal.setdefault(kind, number)})
        return rows

    def _row(self, kind: Type) -> dict[str, Any]:
        row: dict[str, Any] = {"size": kind.size}
        if isinstance(kind, Pointer):
            row["target"] = self.number_of(kind.target())
        if isinstance(kind, Struct):
            row["members"] = [
                [start, name, self.number_of(inner)] for start, name, inner in kind.members
            ]
        if isinstance(kind, Array):
            row["element"] = self.number_of(kind.element)
        return row


def numbers() -> dict[str, list[list[Any]]]:
    """Returns the times that can be edited, by kind of part: [name, meaning, smallest and largest
    value in ps].
    """
    return {
        part.__name__: [
            [field.name, field.about, *limits(field.type)]
            for field in fields(part)
            if form_of(field.type) is Form.DURATION
        ]
        for part in (Core, Resolver, Link, Memory, Interrupt)
    }


def machines() -> list[str]:
    return [*SHAPES, *shipped()]


def examples() -> dict[str, str]:
    """Returns examples of workloads written in the page: name -> text."""
    parts = re.split(r"^== (.*)\n", _text("written.txt"), flags=re.MULTILINE)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


def page(wasm: bytes) -> str:
    machine_data = {name: of_machine(topology.load(name)) for name in machines()}
    data = {
        "shared": shared(),
        "numbers": numbers(),
        "machines": {
            name: [
                data_of["resolved"]["name"],
                standalone.packed(data_of),
                len(data_of["harts"]["compact"]),
            ]
            for name, data_of in machine_data.items()
        },
        "workloads": {name: standalone.packed(workload(name)) for name in locate.catalogue()},
        "stepper": empty(),
        "frame": standalone.packed(workload(str(FRAME))),
        "examples": examples(),
        "wasm": standalone.letters(wasm),
    }
    body = standalone.filled(_text("playground.html"), ENGINE=engine(), DATA=standalone.data(data))
    script = "".join(map(_text, PAGE))
    style = _text("playground.css")
    return standalone.page(
        "uncore in the browser", body, style, script, inner=empty(), runs=RUNS, allowed=ALLOWED
    )


def engine() -> str:
    """Returns the script of the worker."""
    return standalone.shared("sorted.js") + "\n".join(map(_text, (*ENGINE, "worker.js")))


def _text(name: str) -> str:
    return (HERE / name).read_text()

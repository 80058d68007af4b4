"""The playground's page, which needs no Python: machines resolved, workloads as memory and names.

    shared() -> dict            what all jobs share: constants, protocols, the job they vary
    of_machine(found) -> dict   its numbers, what follows from its tree, its drawing
    workload("lock/ticket")     its segments, parameters, symbols, types, source lines
    page(wasm) -> str           the whole page, which asks nobody for anything

The page's scripts (playground/) are the counterpart of uncore.job, .engine.native, .engine.outcome,
.program.fields and .trace: a test holds the two together by hashes and whole documents.
"""

from __future__ import annotations

import base64
import dataclasses
import gzip
import json
from pathlib import Path
from typing import Any

import msgspec

from uncore import topology
from uncore.drawing import standalone
from uncore.engine import initial_memory as boot
from uncore.engine import outcome
from uncore.engine.native import job_spec, trace
from uncore.job import Job
from uncore.job.placement import place
from uncore.job.schema import options
from uncore.program import abi
from uncore.program import locate as shelf
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
ENGINE = ("engine.js", "job.js", "names.js", "point.js", "trace.js", "run.js")
PAGE = ("asked.js", "run.js", "ui.js")
SHAPES = ("bus:8", "ring:16", "mesh:4x4", "mesh:8x8", "ccx:2x4", "ccx:4x8", "ccx:8x8")
EXACT = 1 << 53  # larger numbers are texts in a page
PLACEMENTS = ("compact", "scatter")
ALLOWED = "; script-src 'unsafe-inline' 'wasm-unsafe-eval' blob:; worker-src blob:; frame-src blob:"


def shared() -> dict[str, Any]:
    job = Job(topology.load("bus:2"), shelf.find("lock/ticket"), (1,))
    document = job.document()
    for varying in ("machine", "program", "threads", "parameters"):
        del document[varying]
    return {
        "constants": dict(abi.CONSTANTS),
        "fields": dict(abi.FIELDS),
        "magic": abi.MAGIC.decode(),
        "timebase": boot.TIMEBASE,
        "job": document,
        "options": {
            name: {"flag": one.flag, "usual": one.default, "word": one.form.word}
            for name, one in options(Job).items()
        },
        "spec": exact(msgspec.to_builtins(dataclasses.replace(job_spec(job), segments=()))),
        "protocols": {name: protocol(name) for name in PROTOCOLS},
        "columns": stepper.COLUMNS,
        "times": sorted(stepper.TIMES),
        "interned": sorted(stepper.INTERNED),
    }


def exact(value: Any) -> Any:
    """With numbers that JavaScript would round as texts."""
    if isinstance(value, dict):
        return {key: exact(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [exact(one) for one in value]
    return str(value) if type(value) is int and value >= EXACT else value


def protocol(name: str) -> dict[str, Any]:
    found = tables.of(name, ())
    client, resolver = found.client, found.resolver
    cells = {
        row: {column: client[row, column].text for column in client.columns} for row in client.rows
    }
    rows = {
        row: {column: resolver[row, column].text for column in resolver.columns}
        for row in resolver.rows
    }
    return {
        "packed": tables.pack(found),
        "states": stepper.states(found),
        "cells": cells,
        "rows": rows,
        "words": trace.words(found),
    }


def of_machine(found: Machine) -> dict[str, Any]:
    whole = dataclasses.replace(found, numbers=())
    firsts = [found.harts_of(core)[0] for core in range(found.cores)]
    return {
        "resolved": exact(msgspec.to_builtins(whole)),
        "harts": {policy: place(found, policy) for policy in PLACEMENTS},
        "cores": found.hart_cores,
        "near": nearest_memories(found, firsts),
        "channels": outcome.channels(found),
        "origins": outcome.origins(found),
        "drawing": stepper.drawing(found),
    }


def workload(name: str) -> dict[str, Any]:
    found = shelf.find(name)
    kinds = _Types()
    return {
        "name": found.name,
        "summary": found.summary,
        "sha256": found.sha256,
        "entry": found.entry,
        "boot": found.symbol("uc_boot").address,
        "segments": [
            [s.address, base64.b64encode(s.data).decode()] for s in found.segments if s.data
        ],
        "params": [{**dataclasses.asdict(p), "default": p.show(p.default)} for p in found.params],
        "tables": [{"name": t.name, "address": t.address} for t in found.tables],
        "symbols": [[s.name, s.address, s.size] for s in found.symbols],
        "variables": [[address, text, kinds.of(kind)] for address, text, kind in found.variables],
        "types": kinds.rows(),
        "lines": found.line_table,
        "sources": stepper.sources(found, dict.fromkeys(at for _, at in found.line_table if at)),
    }


class _Types:
    """Types by number; those that are equal say which is the first of them."""

    def __init__(self) -> None:
        self.found: list[Type] = []
        self.number: dict[int, int] = {}

    def of(self, kind: Type) -> int:
        if id(kind) not in self.number:
            self.number[id(kind)] = len(self.found)
            self.found.append(kind)
        return self.number[id(kind)]

    def rows(self) -> list[dict[str, Any]]:
        first: dict[Type, int] = {}
        rows = []
        for number, kind in enumerate(self.found):  # grows as members are met
            rows.append(self._row(kind) | {"same": first.setdefault(kind, number)})
        return rows

    def _row(self, kind: Type) -> dict[str, Any]:
        row: dict[str, Any] = {"size": kind.size}
        if isinstance(kind, Pointer):
            row["target"] = self.of(kind.target())
        if isinstance(kind, Struct):
            row["members"] = [[start, name, self.of(inner)] for start, name, inner in kind.members]
        if isinstance(kind, Array):
            row["element"] = self.of(kind.element)
        return row


def packed(value: Any) -> str:
    """For a page: JSON, compressed, in letters."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()
    return base64.b64encode(gzip.compress(text, 9, mtime=0)).decode()


def numbers() -> dict[str, list[list[Any]]]:
    """Of each part the times that a page lets change: name, what it is, least and most ps."""
    found = {}
    for part in (Core, Resolver, Link, Memory, Interrupt):
        times = [one for one in fields(part) if form_of(one.type) is Form.DURATION]
        found[part.__name__] = [[one.name, one.about, *limits(one.type)] for one in times]
    return found


def machines() -> list[str]:
    return [*SHAPES, *shipped()]


def page(wasm: bytes) -> str:
    known = {name: of_machine(topology.load(name)) for name in machines()}
    data = {
        "shared": shared(),
        "numbers": numbers(),
        "machines": {
            name: [one["resolved"]["name"], packed(one), len(one["harts"]["compact"])]
            for name, one in known.items()
        },
        "workloads": {name: packed(workload(name)) for name in shelf.catalogue()},
        "stepper": empty(),
        "wasm": base64.b64encode(gzip.compress(wasm, 9, mtime=0)).decode(),
    }
    engine = "\n".join(map(_text, (*ENGINE, "worker.js")))
    body = standalone.filled(_text("playground.html"), ENGINE=engine, DATA=standalone.data(data))
    script = "".join(map(_text, PAGE))
    return standalone.page("uncore in the browser", body, _text("playground.css"), script, ALLOWED)


def _text(name: str) -> str:
    return (HERE / name).read_text()

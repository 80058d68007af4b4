"""A protocol's tables proved, or broken to see whether the proofs notice: check."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from cyclopts import Parameter

from uncore.cli.options import Json
from uncore.cli.status import FAILED, OK
from uncore.drawing.progress import progress
from uncore.drawing.table import print_json
from uncore.protocol import check as proving
from uncore.protocol import mutate, render
from uncore.protocol.check import Proof
from uncore.protocol.table_shapes import PROTOCOLS
from uncore.protocol.tables import Tables, load
from uncore.report import proofs


def check(
    *protocols: Annotated[str, Parameter(help=f"{', '.join(PROTOCOLS)}; none: msi and mesi")],
    all_: Annotated[bool, Parameter(name="--all", negative="", help="all, and longer")] = False,
    mutants: Annotated[
        bool, Parameter(negative="", help="break every cell in turn: do the proofs notice?")
    ] = False,
    print_: Annotated[
        bool, Parameter(name="--print", negative="", help="print the tables instead, with reasons")
    ] = False,
    json: Json = False,
) -> int:
    if print_:
        print(render.document(protocols or PROTOCOLS), end="")
        return OK
    if mutants:
        return _break([load(name) for name in protocols or PROTOCOLS], json)
    return _prove([load(name) for name in protocols or _usual(all_)], all_, json)


def _usual(everything: bool) -> Sequence[str]:
    return PROTOCOLS if everything else PROTOCOLS[:2]


def _prove(protocols: Sequence[Tables], everything: bool, json: bool) -> int:
    total = sum(len(proving.plan(tables, everything)) for tables in protocols)
    proven: list[Proof] = []
    with progress(total, "proving", "machines") as advance:
        for tables in protocols:
            for proof in proving.proofs(tables, everything):
                proven.append(proof)
                advance(1)
    if json:
        print_json(proven)
    else:
        proofs.show(protocols, proven)
    return FAILED if any(proof.violation for proof in proven) else OK


def _break(protocols: Sequence[Tables], json: bool) -> int:
    scores = []
    for tables in protocols:
        mutants = list(mutate.mutants(tables))
        with progress(len(mutants), f"{tables.name}: mutants", "mutants") as advance:
            scores.append(mutate.score(tables, mutants, lambda: advance(1)))
    if len(scores) > 1:
        scores.append(mutate.together(scores))
    proofs.show_mutants(scores, json)
    return OK if scores[-1].enough else FAILED

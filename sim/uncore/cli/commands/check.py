"""The command `check`: proves a protocol's tables, or breaks them to test the proofs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from cyclopts import Parameter

from uncore.cli.options import Json
from uncore.cli.status import FAILED, OK
from uncore.drawing.progress import progress
from uncore.drawing.table import print_json
from uncore.errors import UserError, suggestion
from uncore.protocol import check as proving
from uncore.protocol import mutate, render
from uncore.protocol.check import Proof
from uncore.protocol.table_shapes import PROTOCOLS
from uncore.protocol.tables import Tables, load
from uncore.report import proofs


def check(
    *protocols: Annotated[str, Parameter(help=f"{', '.join(PROTOCOLS)}; default: msi and mesi")],
    all_: Annotated[
        bool, Parameter(name="--all", negative="", help="check all protocols, and more machines")
    ] = False,
    mutants: Annotated[
        bool,
        Parameter(
            negative="",
            help="break each cell of the tables in turn, and report which breaks the proofs notice",
        ),
    ] = False,
    print_: Annotated[
        bool,
        Parameter(
            name="--print",
            negative="",
            help="print the tables and the reasons of their cells instead of checking",
        ),
    ] = False,
    machine: Annotated[
        str,
        Parameter(help="check only these groups of machines, such as 2-cores or 2-cores,random"),
    ] = "",
    json: Json = False,
) -> int:
    if machine and (print_ or mutants):
        raise UserError(f"--machine {machine}: it goes with neither --print nor --mutants")
    if print_:
        print(render.document(protocols or PROTOCOLS), end="")
        return OK
    if mutants:
        return _break([load(name) for name in protocols or PROTOCOLS], json)
    loaded = [load(name) for name in protocols or _default_protocols(all_)]
    return _prove(loaded, all_, _groups(machine, loaded, all_), json)


def _default_protocols(everything: bool) -> Sequence[str]:
    return PROTOCOLS if everything else PROTOCOLS[:2]


def _groups(machine: str, protocols: Sequence[Tables], everything: bool) -> list[str]:
    """Returns the groups of machines that the user names; [] means all."""
    names = [name.strip() for name in machine.split(",")] if machine else []
    plans = (proving.plan(tables, everything) for tables in protocols)
    known_groups = dict.fromkeys(system.group for plan in plans for system in plan.values())
    for name in names:
        if name not in known_groups:
            raise UserError(
                f"--machine {machine}: no machines are called '{name}'; write some of"
                f" {', '.join(known_groups)}{'' if everything else ' (--all has more)'}."
                f"{suggestion(name, known_groups)}"
            )
    return names


def _prove(protocols: Sequence[Tables], everything: bool, groups: Sequence[str], json: bool) -> int:
    total = sum(len(proving.plan(tables, everything, groups)) for tables in protocols)
    proven: list[Proof] = []
    with progress(total, "proving", "machines") as advance:
        for tables in protocols:
            for proof in proving.proofs(tables, everything, groups):
                proven.append(proof)
                advance(1)
    if json:
        print_json(proven)
    else:
        proofs.show(protocols, proven, whole=not groups)
    return FAILED if any(proof.violation for proof in proven) else OK


def _break(protocols: Sequence[Tables], json: bool) -> int:
    scores = []
    for tables in protocols:
        mutants = list(mutate.mutants(tables))
        with progress(len(mutants), f"{tables.name}: mutants", "mutants") as advance:
            scores.append(mutate.score(tables, mutants, lambda: advance(1)))
    if len(scores) > 1:
        scores.append(mutate.in_all_protocols(scores))
    proofs.show_mutants(scores, json)
    return OK if scores[-1].enough else FAILED

"""Why the answers can be believed: check, litmus."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter, validators

from uncore.commands.options import Cores, Json, workers
from uncore.litmus import run
from uncore.protocol import check as proving
from uncore.protocol import mutate
from uncore.protocol.shapes import PROTOCOLS


def check(
    *protocols: Annotated[str, Parameter(help="msi, mesi, mesif, moesi; none: msi and mesi")],
    all_: Annotated[bool, Parameter(name="--all", negative="", help="all, and longer")] = False,
    mutants: Annotated[
        bool, Parameter(negative="", help="break every cell in turn: do the proofs notice?")
    ] = False,
    json: Json = False,
) -> int:
    if mutants:
        return int(mutate.main(protocols or PROTOCOLS, json=json))
    return int(proving.main(protocols, everything=all_, json=json))


def litmus(
    *shapes: Annotated[str, Parameter(help="MP, SB, LB, ... IRIW; none: all of them")],
    rounds: Annotated[
        int, Parameter(validator=validators.Number(gt=0), help="of each test on each machine")
    ] = 50,
    seed: Annotated[int, Parameter(validator=validators.Number(gte=0), help="repeats a run")] = 1,
    cores: Cores = 0,
    json: Json = False,
) -> int:
    return int(run.main(shapes, rounds=rounds, seed=seed, cores=workers(cores), json=json))

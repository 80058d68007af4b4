"""The command `litmus`: compares outcomes with the memory model."""

from __future__ import annotations

from typing import Annotated, Literal

from cyclopts import Parameter, validators

from uncore.cli.options import Cores, Json, workers
from uncore.study.litmus import run


def litmus(
    *shapes: Annotated[
        str, Parameter(help="shapes of litmus tests: MP, SB, LB, ... IRIW; default: all")
    ],
    rounds: Annotated[
        int, Parameter(validator=validators.Number(gt=0), help="runs of each test on each machine")
    ] = 50,
    order: Annotated[
        Literal["tso", "weak"],
        Parameter(
            help="memory order of the cores, and the model that outcomes are checked against"
        ),
    ] = "tso",
    seed: Annotated[
        int, Parameter(validator=validators.Number(gte=0), help="seed of the random variation")
    ] = 1,
    cores: Cores = 0,
    json: Json = False,
) -> int:
    return int(
        run.main(shapes, rounds=rounds, seed=seed, order=order, cores=workers(cores), json=json)
    )

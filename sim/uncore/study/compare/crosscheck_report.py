"""Several engines' views of one job, as a table, with what must agree and the known reasons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from uncore.drawing.formats import count, duration
from uncore.drawing.panels import Grid
from uncore.drawing.table import Column, emit, print_json, say
from uncore.study.compare.crosscheck import COUNTED, Crossed
from uncore.study.compare.outside import Made


def show(found: Sequence[Crossed], reasons: Mapping[str, Sequence[str]], as_json: bool) -> None:
    """One row an engine and thread count; below it what is broken, apart, or known to differ."""
    rows = [row for crossed in found for row in _rows(crossed)]
    broken = [words for crossed in found for words in crossed.broken()]
    apart = [words for crossed in found for words in crossed.apart()]
    if as_json:
        print_json({"rows": rows, "broken": broken, "apart": apart, "reasons": reasons})
        return
    emit(
        rows,
        False,
        COLUMNS,
    )
    say("must agree: " + ("; ".join(broken) or "yes"))
    say("should agree: " + ("; ".join(apart) or "yes, within 10 times"))
    for name, words in reasons.items():
        say(f"{name} differs, because")
        for word in words:
            say(f"  - {word}")


def show_all(made: Sequence[Made], as_json: bool) -> None:
    """A row a job, and what must agree."""
    broken = [words for _, crossed, _ in made for words in crossed.broken()]
    rows = [row for *_, row in made]
    if as_json:
        print_json({"rows": rows, "broken": broken})
        return
    emit(rows, False, ALL)
    say("must agree: " + ("; ".join(broken) or "yes"))


def panels(made: Sequence[Made]) -> list[Grid]:
    """Each engine's ratios: machines and harts against programs."""
    by_panel: dict[str, dict[str, dict[str, float | None]]] = {}
    for job, crossed, _ in made:
        title = f"{job.engine} over native" + (", matching conventions" * (job.file == "matching"))
        line = by_panel.setdefault(title, {}).setdefault(f"{job.machine}, {job.harts}", {})
        line[job.workload] = crossed.ratio(crossed.sides[1])
    grids = []
    for title, lines in by_panel.items():
        programs = list(dict.fromkeys(program for line in lines.values() for program in line))
        values = [[line.get(program) for program in programs] for line in lines.values()]
        words = ("workload", "machine, harts", "time per operation")
        names = [program.replace("/", "/\n") for program in programs]
        grids.append(Grid(values, names, list(lines), title, *words))
    return grids


ALL = [
    Column("engine", "engine", left=True, key=True),
    Column("machine", "machine", left=True, key=True),
    Column("workload", "program", left=True, key=True),
    Column("harts", "harts", key=True),
    Column("ratio", "ratio", about="of time/op, over native's"),
    Column("native s", "native_s", about="seconds of this host"),
    Column("engine s", "engine_s", about="seconds of this host"),
]
COLUMNS = [
    Column("threads", "threads", key=True),
    Column("engine", "engine", left=True, key=True),
    Column("operations", "ops", about="that were counted; must agree"),
    Column("checks", lambda row: "failed" if row["failures"] else "hold", left=True),
    Column("time/op", "per_operation_ps", duration, about="simulated time over operations"),
    Column("ratio", "ratio", count, about="of time/op, over that of the first engine"),
    Column("requests/op", "transactions_per_op", count, about="coherence requests an operation"),
    Column(
        "taken away/op",
        "invalidations_per_op",
        count,
        about="copies taken from cores, an operation",
    ),
    Column("instructions", "instructions"),
    Column("host s", "seconds", about="seconds of this host"),
    Column("speed", "speed", count, about="instructions a second of this host"),
]


def _rows(crossed: Crossed) -> list[dict[str, Any]]:
    first = crossed.sides[0]
    return [
        {
            "threads": crossed.threads,
            "engine": side.engine,
            "ops": side.point.ops,
            "failures": side.point.failures,
            "per_operation_ps": side.per_operation,
            "ratio": crossed.ratio(side),
            **{f"{field}_per_op": side.rate(field) for field in COUNTED},
            "instructions": side.point.instructions,
            "seconds": side.seconds,
            "speed": first.seconds / side.seconds if side.seconds else None,
        }
        for side in crossed.sides
    ]

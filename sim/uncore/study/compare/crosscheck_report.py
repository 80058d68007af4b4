"""Prints a job's results on several engines as a table; failed checks and differences below it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from uncore.drawing.formats import count, duration
from uncore.drawing.panels import Grid
from uncore.drawing.table import Column, emit, print_json, say
from uncore.study.compare.crosscheck import COMPARED_COUNTS, CrosscheckedPoint
from uncore.study.compare.outside import ComparedRun


def show(
    results: Sequence[CrosscheckedPoint], reasons: Mapping[str, Sequence[str]], as_json: bool
) -> None:
    """Prints one row per engine and thread count; below them failures, large differences, and known
    reasons for differences.
    """
    rows = [row for crossed in results for row in _rows(crossed)]
    broken = [words for crossed in results for words in crossed.broken()]
    large = [words for crossed in results for words in crossed.large_differences()]
    if as_json:
        print_json({"rows": rows, "broken": broken, "apart": large, "reasons": reasons})
        return
    emit(
        rows,
        False,
        COLUMNS,
    )
    say("must agree: " + ("; ".join(broken) or "yes"))
    say("should agree: " + ("; ".join(large) or "yes, within 10 times"))
    for name, words in reasons.items():
        say(f"{name} differs, because")
        for word in words:
            say(f"  - {word}")


def show_all(comparisons: Sequence[ComparedRun], as_json: bool) -> None:
    """Prints one row per job, then differences in what must agree."""
    broken = [words for _, crossed, _ in comparisons for words in crossed.broken()]
    rows = [row for *_, row in comparisons]
    if as_json:
        print_json({"rows": rows, "broken": broken})
        return
    emit(rows, False, ALL_JOBS_COLUMNS)
    say("must agree: " + ("; ".join(broken) or "yes"))


def panels(comparisons: Sequence[ComparedRun]) -> list[Grid]:
    """Returns a grid for each engine: the ratio of times per operation for each machine (rows) and
    program (columns).
    """
    by_panel: dict[str, dict[str, dict[str, float | None]]] = {}
    for job, crossed, _ in comparisons:
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


ALL_JOBS_COLUMNS = [
    Column("engine", "engine", left=True, key=True),
    Column("machine", "machine", left=True, key=True),
    Column("workload", "program", left=True, key=True),
    Column("harts", "harts", key=True),
    Column("ratio", "ratio", about="of time/op, over native's"),
    Column("native s", "native_s", about="host time in s"),
    Column("engine s", "engine_s", about="host time in s"),
]
COLUMNS = [
    Column("threads", "threads", key=True),
    Column("engine", "engine", left=True, key=True),
    Column("operations", "ops", about="operations that were counted; these must agree"),
    Column("checks", lambda row: "failed" if row["failures"] else "hold", left=True),
    Column(
        "time/op", "per_operation_ps", duration, about="simulated time per operation of a thread"
    ),
    Column("ratio", "ratio", count, about="time/op relative to the first engine"),
    Column("requests/op", "transactions_per_op", count, about="coherence requests per operation"),
    Column(
        "taken away/op",
        "invalidations_per_op",
        count,
        about="copies invalidated in cores, per operation",
    ),
    Column("instructions", "instructions"),
    Column("host s", "seconds", about="host time in s"),
    Column("speed", "speed", count, about="simulated instructions per second of host time"),
]


def _rows(crossed: CrosscheckedPoint) -> list[dict[str, Any]]:
    first = crossed.sides[0]
    return [
        {
            "threads": crossed.threads,
            "engine": side.engine,
            "ops": side.point.ops,
            "failures": side.point.failures,
            "per_operation_ps": side.per_operation,
            "ratio": crossed.ratio(side),
            **{f"{field}_per_op": side.rate(field) for field in COMPARED_COUNTS},
            "instructions": side.point.instructions,
            "seconds": side.seconds,
            "speed": first.seconds / side.seconds if side.seconds else None,
        }
        for side in crossed.sides
    ]

"""What `run` and `sweep` print and draw: results over thread counts.

Interface: `show(results, as_json)` prints, `panel(results)` draws.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from uncore.report import plot as plots
from uncore.report import units
from uncore.report.spread import height, say_seeds, throughput
from uncore.report.table import Column, Row, console, emit
from uncore.result import Result, to_medians

JOB = ("machine", "workload", "placement", "home", "engine")


def show(results: Sequence[Result], as_json: bool) -> None:
    """One table of all thread counts; what is the same for all of them stands in the title."""
    rows = to_medians(results)
    heads = list(dict.fromkeys(k for row in rows for k in row if _names(k)))
    same = [k for k in heads if len({row.get(k) for row in rows}) == 1]
    varying = [Column(k, k, left=True) for k in heads if k not in same]
    emit(rows, as_json, varying + COLUMNS, _title(rows[0], same) if rows else "")
    if not as_json:
        say_seeds(seed for row in rows for seed in row["seeds"])
        for result in results:
            _remarks(result)
    if len(results) == 1 and not as_json:
        console().print(f"result {results[0].result_hash[:16]}", style="dim")


def _remarks(result: Result) -> None:
    """What a reader of the table must know: failed checks, missing points, unknown fields."""
    remark = partial(console().print, markup=False, soft_wrap=True)
    for point in result.points:
        for failure in point.failures:
            remark(f"check failed at {point.threads} threads{point.by_seed}: {failure}")
    if result.outcome.partial:
        repeated = len(result.job.get("seeds", ())) or 1
        done, asked = len(result.points), repeated * len(result.job["threads"])
        remark(f"partial: {done} of {asked} points finished")
    absent = result.points[0].absent if result.points else {}
    for reason in dict.fromkeys(absent.values()):
        names = ", ".join(field for field, why in absent.items() if why == reason)
        remark(f"not known: {names} ({reason})", style="dim")


def panel(results: Sequence[Result]) -> plots.Panel:
    """Throughput over threads, one line per result, named by what differs between them."""
    rows = [to_medians([result]) for result in results if result.points]
    heads = dict.fromkeys(k for r in rows for k in r[0] if _names(k))
    distinct = [k for k in heads if len({r[0].get(k) for r in rows}) > 1]
    series = {
        ", ".join(str(r[0].get(k)) for k in distinct) or r[0]["machine"]: [
            (row["threads"], *height(row)) for row in r
        ]
        for r in rows
    }
    title = " on ".join(rows[0][0][k] for k in ("workload", "machine") if k not in distinct)
    return plots.curves(series, title, "threads", "million operations per second")


def _names(key: str) -> bool:
    return key in JOB or key.startswith(("set.", "with."))


def _title(row: Row, same: Sequence[str]) -> str:
    policies = [f"{k.partition('.')[2] or k} {row[k]}" for k in same if k not in JOB[:2]]
    return "  ".join([row[k] for k in JOB[:2] if k in same] + policies)


COLUMNS = [
    Column("threads", "threads"),
    throughput(),
    Column("p50", "latency.p50_ps", units.duration),
    Column("p99", "latency.p99_ps", units.duration),
    Column("fairness", "fairness", units.ratio),
    Column("busiest link", "busiest_link_ppm", units.percent),
    Column("resolver", "busiest_resolver_ppm", units.percent),
    Column("instructions", "instructions", units.count),
    Column("lines fetched per operation, from", lambda row: _fetched(row), left=True),
]


def _fetched(row: Row) -> str:
    prefix = "transfers."
    per_op = {
        key.removeprefix(prefix): count / max(row["ops"], 1)
        for key, count in row.items()
        if key.startswith(prefix)
    }
    return "  ".join(f"{name} {n:.2f}" for name, n in per_op.items() if n >= 0.005) or units.EMPTY

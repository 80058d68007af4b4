"""Writes the report of a run: the curves of all results, and the costs at the largest thread count
of the first result.

write_run(path, results, jobs, command)     writes it to `path`; `command` repeats the run
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from uncore.drawing.sections import ReportSection, figure, table, write
from uncore.drawing.table import Column
from uncore.engine import NO_OPTIONS, EngineOptions
from uncore.errors import UserError
from uncore.execution.rerun import observe
from uncore.job import Job
from uncore.report import chart, curve, objects
from uncore.report.document.source import annotated
from uncore.report.document.traffic import takings, traffic
from uncore.report.selection import Wanted
from uncore.result import Observed, Point, Result, repeats, to_medians
from uncore.result.frame import names_job
from uncore.trace import MEASURED, Window, record

TRACED_PS = 20_000_000  # length of the trace in which protocol cells are counted
CELL_COLUMNS = [
    Column("state", "before", left=True),
    Column("event", "event", left=True),
    Column("cell", "cell", left=True, about="of the client table: actions>next state"),
    Column("times", "times", str),
]
NUMBER_COLUMNS = [
    Column("key", "key", left=True),
    Column("value", "value", left=True),
    Column("source", "source", left=True),
]


def write_run(
    path: Path,
    results: Sequence[Result],
    jobs: Sequence[Job],
    command: str,
    engine_options: EngineOptions = NO_OPTIONS,
) -> None:
    shown = [(result, job) for result, job in zip(results, jobs, strict=True) if result.points]
    if not shown:
        raise UserError(f"--report {path}: there is no finished point to report")
    result, job = shown[0]
    title = f"{job.program.name} on {job.machine.name}"
    threads = f"Threads {', '.join(map(str, job.threads))}."
    about = f"{job.program.summary}. {threads}" if job.program.summary else threads
    all_results = [section for section, _ in shown]
    write(
        path,
        title,
        about,
        [
            *_curve(all_results),
            *_point(result, job, engine_options),
            _how_to_repeat(all_results, command),
        ],
    )


def _curve(results: Sequence[Result]) -> list[ReportSection]:
    rows = to_medians(results)
    keys = list(dict.fromkeys(k for row in rows for k in row if names_job(k)))
    varying = [k for k in keys if len({row.get(k) for row in rows}) > 1]
    columns = [Column(curve.head(k), k, curve.short_time, left=True, key=True) for k in varying]
    figures = ("throughput", "p99") if results[0].points[0].latency else ("throughput",)
    drawn = figure(chart.panels(results, Wanted(y=figures))) if len(rows) > 1 else ""
    seeds = sorted({seed for row in rows for seed in row["seeds"]})
    spread = "+- is half the range of all repeats." if seeds else ""
    return [
        ReportSection("What came of it", drawn + table(rows, [*columns, *curve.COLUMNS]), spread),
        ReportSection(
            "Where lines came from",
            table(rows, [*columns, curve.COLUMNS[0], *_fetch_columns(rows)]),
            "Lines fetched per operation, from a cache that is so far away, or from memory.",
        ),
    ]


def _fetch_columns(rows: Sequence[dict[str, Any]]) -> list[Column]:
    return [column._replace(group="") for column in curve.fetch_columns(rows)]


def _point(result: Result, job: Job, engine_options: EngineOptions) -> list[ReportSection]:
    """Returns the sections about the median repeat at the largest thread count."""
    point = repeats(result)[-1].median
    point_text = f"{point.threads} threads{point.by_seed.replace(' with --seed', ', seed')}"
    sections = [
        ReportSection("The machine, and traffic", traffic(job, point), _traffic(point, point_text))
    ]
    if job.engine == "native":
        observed = observe(
            result, point.threads, point.seed if isinstance(point.seed, int) else None
        )
        sections += _costs(result, job, point, observed, point_text)
        sections.append(_cells(job.at(point.threads, point.seed), engine_options, point_text))
    numbers = [{"key": n.key, "value": n.text, "source": n.source} for n in job.machine.numbers]
    about = "Every number of the machine's file, and where it comes from."
    return [
        *sections,
        ReportSection("Numbers of the machine", table(numbers, NUMBER_COLUMNS), about),
    ]


def _traffic(point: Point, point_text: str) -> str:
    busiest = ", ".join(f"{name} {ppm / 1e4:.0f} %" for name, ppm in (point.links or [])[:3])
    return (
        f"With {point_text}: a link is as wide as it is busy, filled cores run the program."
        f" Busiest: {busiest or 'not known'}."
    )


def _costs(
    result: Result, job: Job, point: Point, observed: Observed, point_text: str
) -> list[ReportSection]:
    lines = objects.Lines(result, observed)
    rows = lines.to_rows()
    return [
        ReportSection(
            "What an operation's time is made of",
            figure([objects.panel(lines)]) + table(rows[:20], objects.COLUMNS),
            f"With {point_text}: {lines.sum}."
            " What does not stand on the critical path passes beside it.",
        ),
        ReportSection(
            "By source line",
            annotated(job.program, observed, point),
            f"Per operation, with {point_text}; shaded by its part of the critical path.",
        ),
        ReportSection(
            "Who took lines from whom",
            takings(job.machine, observed),
            "Rows: the core that had the line; columns: the core that took it; cores in the order"
            " of the machine's tree, so distance grows from the diagonal.",
        ),
    ]


def _cells(job: Job, engine_options: EngineOptions, point_text: str) -> ReportSection:
    """Returns the section on the cells of the client table that a short trace met, most frequent
    first.
    """
    states = record(job, Window(around=MEASURED, span=TRACED_PS), engine_options).tables["states"]
    times_met = Counter(states.select("before", "event", "cell").iter_rows())
    rows: list[dict[str, Any]] = [
        {"before": before, "event": event, "cell": cell, "times": times}
        for (before, event, cell), times in times_met.most_common()
    ]
    about = (
        f"With {point_text}, in the first {TRACED_PS // 10**6} us of what is measured;"
        " hits are not counted."
    )
    return ReportSection("Protocol cells met", table(rows, CELL_COLUMNS), about)


def _how_to_repeat(results: Sequence[Result], command: str) -> ReportSection:
    host = results[0].host
    hashes = "".join(f"<li><code>{escape(repr(result))}</code></li>" for result in results)
    body = (
        f"<pre>{escape(command)}</pre><ul>{hashes}</ul><p>uncore {escape(host.uncore)}, engine"
        f" {escape(host.engine)}, {escape(host.started)}, {escape(host.cpu)}.</p>"
    )
    return ReportSection(
        "How to repeat it", body, "The same command gives the same result, bit for bit."
    )

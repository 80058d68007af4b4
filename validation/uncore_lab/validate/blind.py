"""Compares the predictions on record with measurements that were made afterwards.

    run(request) -> Section     the named machines, or all machines measured after their prediction
    section_of_day(day)         every machine that was predicted on that day

The predictions are read from the ledger (predict/ledger); none is computed again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import mean, median
from typing import Any

from uncore.drawing.table import Column, Row
from uncore_lab.predict.forecast import INTERVAL_SHARE
from uncore_lab.predict.ledger import LedgerEntry, entries, scores
from uncore_lab.validate.section import Request, Section

PROSE = (
    "Class medians, in ns, that were predicted before anybody here had a measurement of the"
    " machine, with 80 % intervals, from public specifications and the numbers of relatives (see"
    " [prediction.md](prediction.md)). What is on record stays as it was, whatever the model says"
    " now. Where memory has several nodes the line is on"
    " node 0; sides are named after it. `guess`: a number that matters came from no relative."
    " Contended atomics and locks, at a number of threads, are ns an operation; their span is that"
    " of seeds, which is no interval."
)


def run(request: Request) -> Section:
    recorded = entries()
    names = request.chosen({e.machine: e for e in recorded}, "no prediction is on record of")
    chosen = [e for e in recorded if e.machine in names and (request.machines or e.measured)]
    return Section(
        name="blind",
        title="Predicted blind, then measured",
        prose=PROSE,
        columns=COLUMNS,
        rows=_rows(chosen),
        notes=_notes(chosen),
    )


def section_of_day(day: str) -> Section:
    """Returns a table of all predictions of a day."""
    then = [entry for entry in entries() if entry.date == day]
    return Section("blind", f"Predicted on {day}", "", COLUMNS, _rows(then), notes=_notes(then))


def _rows(chosen: Sequence[LedgerEntry]) -> list[dict[str, Any]]:
    return [row for entry in chosen for row in (*_classes(entry), *_rates(entry))]


def _classes(entry: LedgerEntry) -> Iterator[dict[str, Any]]:
    measured = entry.measured.classes if entry.measured else {}
    for label, (low, ns, high) in entry.predicted.classes.items():
        real = measured.get(label)
        yield {
            "machine": entry.machine,
            "date": entry.date,
            "commit": entry.predicted.commit,
            "class": label,
            "predicted_ns": ns,
            "low_ns": low,
            "high_ns": high,
            "lent": label not in entry.predicted.kept,
            "measured_ns": real,
            "error_pct": None if real is None else round(100 * (ns / real - 1), 1),
            "inside": None if real is None else low <= real <= high,
            "since": _since(entry, real),
        }


def _rates(entry: LedgerEntry) -> Iterator[dict[str, Any]]:
    """Yields a row for each workload and thread count, with the ns per operation."""
    predicted, measured = entry.predicted.rates, entry.measured.rates if entry.measured else {}
    if not predicted:
        return
    for workload, row in predicted.millions.items():
        for index, (count, (low, rate, high)) in enumerate(
            zip(predicted.threads, row, strict=True)
        ):
            real = 1000 / measured[workload][index] if workload in measured else None
            yield {
                "machine": entry.machine,
                "date": entry.date,
                "commit": entry.predicted.commit,
                "class": f"{workload}, {count}",
                "predicted_ns": 1000 / rate,
                "low_ns": 1000 / high,
                "high_ns": 1000 / low,
                "lent": True,
                "measured_ns": real,
                "error_pct": None if real is None else round(100 * (1000 / rate / real - 1), 1),
                "inside": None,
                "since": _since(entry, real),
            }


def _since(entry: LedgerEntry, real: float | None) -> str | None:
    if entry.measured and real is not None:
        return entry.measured.date
    return f"{entry.scored.date}, held back" if entry.scored and not entry.measured else None


def _notes(chosen: Sequence[LedgerEntry]) -> list[str]:
    measured_rows = [row for row in _rows(chosen) if row["measured_ns"] is not None]
    rows, contended = (
        [row for row in measured_rows if (row["inside"] is None) == rate] for rate in (False, True)
    )
    measured_entries = [entry for entry in chosen if entry.measured]
    notes = [_summary(rows, len(measured_entries))] if rows else []
    if contended:
        median_error_pct = median(abs(row["error_pct"]) for row in contended)
        notes.append(
            f"Contended: {len(contended)} points, {median_error_pct:.0f} % off in the median."
        )
    notes += [
        f"{e.machine}: {e.measured.note}"
        for e in measured_entries
        if e.measured and e.measured.note
    ]
    names = {entry.machine for entry in chosen}
    return notes + [
        f"{score.date}, {', '.join(score.machines)}: {score.said}"
        for score in scores()
        if names & set(score.machines)
    ]


def _summary(rows: Sequence[Row], machines: int) -> str:
    inside_share, errors_pct = (
        mean(row["inside"] for row in rows),
        [abs(row["error_pct"]) for row in rows],
    )
    return (
        f"Measured since: {len(rows)} classes of {machines} machines, {inside_share:.0%} inside"
        f" intervals of {INTERVAL_SHARE:.0%}; error {mean(errors_pct):.0f}% mean,"
        f" {median(errors_pct):.0f}% median."
    ).replace("%", " %")


COLUMNS = [
    Column("machine", "machine", left=True, key=True),
    Column("date", "date", left=True),
    Column("commit", "commit", left=True),
    Column("class", "class", left=True, key=True),
    Column("predicted ns", "predicted_ns", lambda v: f"{v:.1f}"),
    Column("from ns", "low_ns", lambda v: f"{v:.1f}"),
    Column("to ns", "high_ns", lambda v: f"{v:.1f}"),
    Column("lent", lambda row: "yes" if row["lent"] else "guess", left=True),
    Column("measured ns", "measured_ns", lambda v: "-" if v is None else f"{v:.1f}"),
    Column("error", "error_pct", lambda v: "-" if v is None else f"{v:+.1f} %"),
    Column("inside", "inside", lambda v: "-" if v is None else "yes" if v else "no", left=True),
    Column("measured on", "since", left=True),
]

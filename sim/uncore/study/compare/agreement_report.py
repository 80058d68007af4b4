"""Prints a table that says whether two engines agree; if not, also their first difference and the
records before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from uncore.drawing.table import Column, emit, print_json, say
from uncore.result.log import LOG_COLUMNS
from uncore.study.compare.agreement import Agreement, Difference

RECORDS_BEFORE = 8  # at most so many earlier records of the same line are shown


def show(agreements: Sequence[Agreement], engines: tuple[str, str], as_json: bool) -> None:
    """Prints one row per thread count, then the first difference at each thread count."""
    if as_json:
        rows = [asdict(agreement) | {"equal": agreement.equal} for agreement in agreements]
        print_json(rows)
        return
    columns = [
        Column("threads", lambda agreement: agreement["threads"], key=True),
        Column("seed", "seed"),
        Column("transactions", lambda agreement: agreement["records"]),
        Column(
            "logs", lambda agreement: "differ" if agreement["difference"] else "equal", left=True
        ),
        Column("outcomes", lambda agreement: " ".join(agreement["outcome"]) or "equal", left=True),
    ]
    emit([asdict(agreement) for agreement in agreements], False, columns, " and ".join(engines))
    for agreement in agreements:
        if agreement.difference:
            _show_difference(agreement.difference, engines, agreement.threads)
        for field, (a, b) in agreement.outcome.items():
            if not agreement.difference:
                say(f"{field}: {engines[0]} {a}, {engines[1]} {b}")


def _show_difference(difference: Difference, engines: tuple[str, str], threads: int) -> None:
    records = [("", record) for record in difference.before[-RECORDS_BEFORE:]]
    records += [
        (name, record or {})
        for name, record in zip(engines, (difference.a, difference.b), strict=True)
    ]
    rows: list[dict[str, Any]] = [{"engine": name, **record} for name, record in records]
    for row in rows:
        if "line" in row:
            row["line"] = f"{row['line']:#x}"
    what = ", ".join(difference.columns) or "only one engine has it"
    emit(
        rows,
        False,
        [Column(key, key, left=key == "engine") for key in ("engine", *LOG_COLUMNS)],
        f"first difference at {threads} threads: {what}\nrules in question: {difference.rule}",
    )

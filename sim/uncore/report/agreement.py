"""Whether two engines agree, as a table; where not, the first difference with what came before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from uncore.drawing.table import Column, emit, print_json, say
from uncore.result.log import COLUMNS
from uncore.study.compare.agreement import Agreement, Difference

BEFORE = 8  # records of the line shown before the difference


def show(found: Sequence[Agreement], engines: tuple[str, str], as_json: bool) -> None:
    """One row a thread count, then the first difference of each."""
    if as_json:
        rows = [asdict(one) | {"equal": one.equal} for one in found]
        print_json(rows)
        return
    columns = [
        Column("threads", lambda one: one["threads"], key=True),
        Column("seed", "seed"),
        Column("transactions", lambda one: one["records"]),
        Column("logs", lambda one: "differ" if one["difference"] else "equal", left=True),
        Column("outcomes", lambda one: " ".join(one["outcome"]) or "equal", left=True),
    ]
    emit([asdict(one) for one in found], False, columns, " and ".join(engines))
    for one in found:
        if one.difference:
            _show_difference(one.difference, engines, one.threads)
        for field, (a, b) in one.outcome.items():
            if not one.difference:
                say(f"{field}: {engines[0]} {a}, {engines[1]} {b}")


def _show_difference(difference: Difference, engines: tuple[str, str], threads: int) -> None:
    records = [("", record) for record in difference.before[-BEFORE:]]
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
        [Column(key, key, left=key == "engine") for key in ("engine", *COLUMNS)],
        f"first difference at {threads} threads: {what}\nrules in question: {difference.rule}",
    )

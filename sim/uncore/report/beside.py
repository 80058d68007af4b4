"""`uncore lines FILE --beside c2c.txt`: compares a run's lines with those that `perf c2c report`
has measured on a real machine.

    read(path)                      returns the measured lines, with the source lines that accessed
                                    them
    show(result, observed, path, top, as_json)

The text is that of `perf c2c report --stdio`, as perf's manual page describes it: first a table of
lines, whose columns are found by their heads, then for each line the code that accessed it.
Addresses of two machines have nothing in common, so two lines are matched if they were accessed at
the same FILE:LINE.  Shares are shares of all fetches from another core's cache (HITM): perf samples
loads only, while the run also counts stores.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePath

import msgspec

from uncore.drawing import formats as units
from uncore.drawing.table import Column, Row, emit, say
from uncore.errors import UserError
from uncore.report import c2c
from uncore.result import Observed, Result
from uncore.result.observed import Line
from uncore.support.input_files import read_bounded
from uncore.topology.machine import Machine

MAX_REPORT_BYTES = 1 << 26
HEADS = ("Index", "Address", "LclHitm", "RmtHitm")
TABLE_HEAD_PATTERN = re.compile(r"#\s*Index\s+Address\b.*")
CODE_OF_LINE_PATTERN = re.compile(r"\s*\d+\s[\d\s.%]*(0x[0-9a-f]+)\s*")
SOURCE_PATTERN = re.compile(r"(\S+\.\w+:\d+)\b")
MILLION = 10**6


class MeasuredLine(msgspec.Struct, frozen=True):
    address: str
    local: int  # samples in which the line came from a core of the same node
    remote: int  # samples in which the line came from a core of another node
    sources: frozenset[str]  # the places that accessed the line, as FILE:LINE

    @property
    def taken(self) -> int:
        return self.local + self.remote


def read(path: Path) -> list[MeasuredLine]:
    """Returns the lines of perf's report in its order: those with most samples first."""
    try:
        text = read_bounded(path, MAX_REPORT_BYTES).decode(errors="replace")
    except OSError as error:
        raise UserError(f"--beside {path}: cannot read it: {error.strerror}") from None
    lines = text.splitlines()
    start = next((n for n, line in enumerate(lines) if TABLE_HEAD_PATTERN.fullmatch(line)), None)
    if start is None:
        raise UserError(
            f"{path}:1: expected the text of `perf c2c report --stdio`, whose table begins with"
            " '# Index  Address'; write: perf c2c report --stdio > c2c.txt"
        )
    heads = re.split(r"\s{2,}", lines[start].lstrip("# ").rstrip())
    for head in HEADS:
        if head not in heads:
            raise UserError(
                f"{path}:{start + 1}: the table has no column '{head}', only {', '.join(heads)};"
                " write: perf c2c report --stdio --display tot"
            )
    sources = _sources(lines[start:])
    return list(_rows(path, lines, start, heads, sources))


def _rows(
    path: Path,
    lines: Sequence[str],
    start: int,
    heads: Sequence[str],
    sources: dict[str, set[str]],
) -> Iterator[MeasuredLine]:
    for number, line in enumerate(lines[start + 1 :], start + 2):
        cells = line.split()
        if not cells or line.startswith("#"):
            continue
        if not cells[0].isdigit():
            return
        try:
            # reversed, so that of several columns with the same head the first one counts
            row = dict(zip(reversed(heads), reversed(cells), strict=True))
            local, remote = (int(row[head]) for head in ("LclHitm", "RmtHitm"))
        except ValueError:
            raise UserError(
                f"{path}:{number}: '{line.strip()}': expected a row of the table whose head is line"
                f" {start + 1}"
            ) from None
        address = row["Address"]
        yield MeasuredLine(address, local, remote, frozenset(sources.get(address, ())))


def _sources(lines: Sequence[str]) -> dict[str, set[str]]:
    """Returns, by address of a cache line, the source lines that accessed it, from the second table
    of the report.
    """
    sources_of_line: dict[str, set[str]] = {}
    address = ""
    for line in lines:
        if match := CODE_OF_LINE_PATTERN.fullmatch(line):
            address = match[1]
        elif address:
            names = (_place(name) for name in SOURCE_PATTERN.findall(line))
            sources_of_line.setdefault(address, set()).update(names)
    return sources_of_line


def _place(source: str) -> str:
    """Removes the folders from FILE:LINE, because they differ from machine to machine."""
    return PurePath(source).name


def show(result: Result, observed: Observed, path: Path, top: int, as_json: bool) -> None:
    rows = beside(result, observed, read(path))
    emit(rows[:top], as_json, COLUMNS, f"{path.name} beside {result.job['program']['name']}")
    if not as_json and not any(row["at"] for row in rows):
        say(
            "no line of the report was touched at a FILE:LINE of the run: compile the measured"
            " program with -g, from the same file"
        )


def beside(result: Result, observed: Observed, measured: Sequence[MeasuredLine]) -> list[Row]:
    """Returns a row for each measured line, with the line of the run that shares most source places
    with it; then a row for each other line of the run.
    """
    nodes = c2c.nodes_of(msgspec.convert(result.job["machine"], Machine))
    counted = [(line, c2c.row(line, nodes)) for line in observed.lines]
    unmatched = [(line, row) for line, row in counted if row["Hitm Total"]]
    all_run = sum(row["Hitm Total"] for _, row in unmatched) or 1
    all_measured = sum(line.taken for line in measured) or 1
    rows: list[Row] = []
    for measured_line in measured:
        match = max(
            unmatched, key=lambda pair: len(measured_line.sources & _places(pair[0])), default=None
        )
        places = measured_line.sources & _places(match[0]) if match else set[str]()
        rows.append(
            {
                "address": measured_line.address,
                "measured": measured_line.taken * MILLION // all_measured,
                "measured_remote": _share(measured_line.remote, measured_line.taken),
                **(
                    _run_columns(match[1], all_run)
                    if match and places
                    else _run_columns({}, all_run)
                ),
                "at": " ".join(sorted(places)),
            }
        )
        if match and places:
            unmatched.remove(match)
    not_measured = {"address": None, "measured": None, "measured_remote": None, "at": ""}
    return [*rows, *({**not_measured, **_run_columns(row, all_run)} for _, row in unmatched)]


def _places(line: Line) -> set[str]:
    return {_place(use.source) for use in line.uses if use.source}


def _run_columns(row: Row, total: int) -> Row:
    if not row:
        return {"symbol": "", "run": None, "run_remote": None}
    return {
        "symbol": row["Symbol"],
        "run": row["Hitm Total"] * MILLION // total,
        "run_remote": _share(row["RmtHitm"], row["Hitm Total"]),
    }


def _share(part: int, total: int) -> int | None:
    return part * MILLION // total if total else None


COLUMNS = [
    Column(
        "measured",
        "address",
        left=True,
        key=True,
        about="beside: address of the line on the real machine",
    ),
    Column(
        "Hitm", "measured", units.percent, about="beside: the line's share of all measured Hitm"
    ),
    Column(
        "remote", "measured_remote", units.percent, about="beside: part of these from another node"
    ),
    Column(
        "in the run",
        "symbol",
        lambda name: name or units.EMPTY,
        left=True,
        about="beside: objects on the run's line that were accessed at the same source line",
    ),
    Column(
        "Hitm here", "run", units.percent, about="beside: the line's share of all Hitm of the run"
    ),
    Column(
        "remote here", "run_remote", units.percent, about="beside: part of these from another node"
    ),
    Column("at", "at", lambda at: at or units.EMPTY, left=True, about="beside: that place"),
]

"""What `uncore whatif` foretells, beside the same change made by hand.

    python -m validation.whatif.confirm [WORD...]

    confirmed(case)   a Row for each thread count: as it is, foretold, by hand

By hand means: in a copy of the C file and its headers, or in a machine file that says what is
otherwise (cases.toml).  With words, only cases are run whose workload has one of them in its name.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from uncore import api, paths
from uncore.counterfactual import changed
from uncore.execute import execute
from uncore.job import Job
from uncore.report import units
from uncore.report.table import Column, emit
from uncore.result import repeats

HERE = Path(__file__).parent
SEEDS = (1, 2, 3)


@dataclass(frozen=True)
class Case:
    """A row of cases.toml."""

    change: dict[str, str]
    workload: str = ""  # a shipped one, or
    source: str = ""  # a file of this folder
    on: str = "epyc7601x2"
    with_: dict[str, str] = field(default_factory=dict)
    threads: tuple[int, ...] = (16,)
    ops: int = 30
    machine: dict[str, str] = field(default_factory=dict)  # by hand: table -> its text
    edits: tuple[tuple[str, str, str], ...] = ()  # or: file, text, what it becomes
    measured: tuple[str, ...] = ()  # gains

    @property
    def name(self) -> str:
        return self.workload or self.source

    @property
    def c_file(self) -> Path:
        return HERE / self.source if self.source else paths.WORKLOADS / f"{self.workload}.c"


@dataclass(frozen=True)
class Row:
    """Operations a second."""

    case: Case
    threads: int
    base: int
    foretold: int
    by_hand: int
    measured: str


def cases() -> list[Case]:
    found = tomllib.loads((HERE / "cases.toml").read_text())["case"]
    return [_case(**one) for one in found]


def _case(threads: Any = (16,), **row: Any) -> Case:
    counts = tuple(threads) if isinstance(threads, list | tuple) else (threads,)
    with_ = row.pop("with", {})
    return Case(threads=counts, with_=with_, **row)


def confirmed(case: Case) -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        machine, program = _by_hand(case, Path(folder))
        measured = [*case.measured, *[""] * len(case.threads)]
        for threads, gain in zip(case.threads, measured, strict=False):
            as_it_is = _job(case, threads)
            rates = [
                _rate(job)
                for job in (
                    as_it_is,
                    _foretold(case, threads),
                    _job(case, threads, machine=machine, program=program),
                )
            ]
            yield Row(case, threads, *rates, gain)


def _job(case: Case, threads: int, machine: str = "", program: str = "", **more: Any) -> Job:
    overrides = case.with_ | more.pop("overrides", {})
    return api.make_job(
        machine or case.on,
        program or case.workload or case.c_file,
        [threads],
        parameters={"ops": case.ops},
        overrides=overrides,
        seeds=SEEDS,
        **more,
    )


def _foretold(case: Case, threads: int) -> Job:
    """The words of the row of `whatif`."""
    change = dict(case.change)
    free, apart = ([change.pop(word)] if word in change else [] for word in ("free", "apart"))
    if "with" in change:
        key, _, value = change.pop("with").partition("=")
        change["overrides"] = {key: value}  # type: ignore[assignment]
    return changed(_job(case, threads, **change), free, apart)


def _by_hand(case: Case, folder: Path) -> tuple[str, str]:
    """A machine file, or a C file with the headers that are otherwise."""
    if case.machine:
        tables = "\n".join(f"[{table}]\n{text}" for table, text in case.machine.items())
        machine = folder / "by_hand.toml"
        machine.write_text(f'extends = "{case.on}"\nname = "by hand"\n\n{tables}\n')
        return str(machine), ""
    shutil.copy(case.c_file, folder)
    for name, before, after in case.edits:
        path = folder / name
        if not path.exists():
            shutil.copy(paths.WORKLOADS / "include" / name, path)
        text = path.read_text()
        assert text.count(before) == 1, f"{name}: '{before}' is there {text.count(before)} times"
        path.write_text(text.replace(before, after))
    return "", str(folder / case.c_file.name)


def _rate(job: Job) -> int:
    (found,) = repeats(execute([job])[0])
    assert not found.median.failures, found.median.failures
    return found.median.throughput


def _gain(key: str) -> Any:
    return lambda row: f"{100 * (row[key] / row['base'] - 1):+.1f} %"


COLUMNS = [
    Column("workload", lambda row: row["case"].name, left=True),
    Column("threads", "threads"),
    Column(
        "change",
        lambda row: " ".join(f"--{k} {v}" for k, v in row["case"].change.items()),
        left=True,
    ),
    Column("as it is", "base", units.rate),
    Column("foretold", _gain("foretold")),
    Column("by hand", _gain("by_hand")),
    Column("by hand over foretold", lambda row: f"{row['by_hand'] / row['foretold']:.3f}"),
    Column("measured", lambda row: row["measured"] or units.EMPTY),
]


def main(words: Sequence[str]) -> None:
    chosen = [one for one in cases() if not words or any(word in one.name for word in words)]
    rows = [vars(row) for case in chosen for row in confirmed(case)]
    emit(rows, False, COLUMNS, "what a change gains: foretold, and made by hand")


if __name__ == "__main__":
    main(sys.argv[1:])

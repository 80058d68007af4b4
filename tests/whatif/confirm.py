"""Compares predictions of `uncore whatif` with the same changes made by hand.

    python -m tests.whatif.confirm [WORD...]

    cases()           the cases of cases.toml
    first(case)       the case with the change that whatif ranks first
    confirmed(case)   a Row for each thread count: unchanged, predicted, changed by hand

A change by hand is made in a copy of the C file and its headers (cases.toml has the edits), or in a
machine file that states the changed numbers.  With words, the command runs only the cases with a
workload whose name contains one of them.
"""

from __future__ import annotations

import shlex
import shutil
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from uncore.drawing import formats as units
from uncore.drawing.table import Column, emit
from uncore.execution import request
from uncore.execution.execute import execute
from uncore.job import Job
from uncore.job.option_values import pairs
from uncore.result import Repeats, repeats
from uncore.result.repeats import rate
from uncore.study import whatif as counterfactual
from uncore.study.whatif import CHANGED_PART, Kind, changed
from uncore.support import paths

HERE = Path(__file__).parent
SEEDS = (1, 2, 3, 4, 5)
FEASIBLE_KINDS: tuple[Kind, ...] = tuple(
    kind for kind, where in CHANGED_PART.items() if where != "bound"
)
Edit = tuple[str, str, str]  # file, text, replacement


@dataclass(frozen=True)
class Case:
    """A row of cases.toml."""

    change: str = ""  # options of a row of whatif; if empty, those of its first row
    workload: str = ""  # a shipped workload; if empty, `source` is used
    source: str = ""  # a file of this folder
    on: str = "epyc7601x2"
    with_: dict[str, str] = field(default_factory=dict)
    threads: tuple[int, ...] = (16,)
    ops: int = 30
    # edits of each change, by its name
    edits: Mapping[str, Sequence[Edit]] = field(default_factory=dict)
    measured: tuple[str, ...] = ()  # gains that others measured

    @property
    def name(self) -> str:
        return self.workload or self.source

    @property
    def c_file(self) -> Path:
        return HERE / self.source if self.source else paths.WORKLOADS / f"{self.workload}.c"


@dataclass(frozen=True)
class Row:
    """The runs of each variant, and a row of the table with their operations per second."""

    case: Case
    threads: int
    base: Repeats
    foretold: Repeats
    by_hand: Repeats | None  # None if cases.toml has no edits for the change
    measured: str

    def columns(self) -> dict[str, Any]:
        rates = {"base": rate(self.base.median), "foretold": rate(self.foretold.median)}
        made = self.by_hand and rate(self.by_hand.median)
        _, interval = counterfactual.change_of_rate(self.base, self.foretold)
        doubtful = counterfactual.is_doubtful(interval)
        return {**vars(self), **rates, "by_hand": made, "doubtful": doubtful}


def cases() -> list[Case]:
    rows = tomllib.loads((HERE / "cases.toml").read_text())["case"]
    return [_case(**row) for row in rows]


def _case(threads: Any = (16,), **row: Any) -> Case:
    counts = tuple(threads) if isinstance(threads, list | tuple) else (threads,)
    with_ = row.pop("with", {})
    return Case(threads=counts, with_=with_, **row)


def first(case: Case) -> Case:
    """Returns the case with the possible change that certainly gains most. A case that states a
    change is returned unchanged.
    """
    if case.change:
        return case
    (threads,) = case.threads
    job = _job(case, threads)
    effects = counterfactual.whatif(case.on, case.name, job, only=FEASIBLE_KINDS)
    return replace(case, change=shlex.join(effects.effects[0].change.words))


def confirmed(case: Case) -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        by_hand = _write_changed_files(case, Path(folder))
        measured = [*case.measured, *[""] * len(case.threads)]
        for threads, gain in zip(case.threads, measured, strict=False):
            base, foretold = _runs(_job(case, threads)), _runs(_predicted_job(case, threads))
            made = _runs(_job(case, threads, **by_hand)) if by_hand else None
            yield Row(case, threads, base, foretold, made, gain)


def _job(case: Case, threads: int, machine: str = "", program: str = "", **more: Any) -> Job:
    overrides = case.with_ | more.pop("overrides", {})
    return request.make_job(
        machine or case.on,
        program or case.workload or case.c_file,
        [threads],
        parameters={"ops": case.ops},
        overrides=overrides,
        seeds=SEEDS,
        **more,
    )


def _values_of(change: str) -> dict[str, list[str]]:
    """Returns the values of a change, by option."""
    arguments, options = shlex.split(change), dict[str, list[str]]()
    for option, value in zip(arguments[::2], arguments[1::2], strict=True):
        options.setdefault(option, []).append(value)
    return options


def _predicted_job(case: Case, threads: int) -> Job:
    """Makes the job that a row of `whatif` describes, in which some objects cost nothing or are
    separated.
    """
    options = _values_of(case.change)
    more: dict[str, Any] = {"overrides": pairs("--with", options.get("--with", []))}
    if "--home" in options:
        (more["home"],) = options["--home"]
    return changed(
        _job(case, threads, **more), options.get("--free", []), options.get("--apart", [])
    )


def _write_changed_files(case: Case, folder: Path) -> dict[str, str]:
    """Writes a changed machine file, or a C file with its changed headers. Returns an empty mapping
    if a program must change but cases.toml has no edits for it.
    """
    if numbers := _values_of(case.change).get("--with"):
        machine = folder / "by_hand.toml"
        machine.write_text(f'extends = "{case.on}"\nname = "by hand"\n' + _tables(numbers))
        return {"machine": str(machine)}
    for name, before, after in case.edits.get(case.change, ()):
        path = folder / name
        if not path.exists():
            shared = paths.WORKLOADS / "include" / name
            shutil.copy(shared if shared.exists() else case.c_file.with_name(name), path)
        text = path.read_text()
        assert text.count(before) == 1, f"{name}: '{before}' is there {text.count(before)} times"
        path.write_text(text.replace(before, after))
    if case.change not in case.edits:
        return {}
    if not (program := folder / case.c_file.name).exists():
        shutil.copy(case.c_file, program)
    return {"program": str(program)}


def _tables(numbers: Sequence[str]) -> str:
    """Returns KEY=VALUE pairs as the tables of a machine file."""
    texts: dict[str, str] = {}
    for key, value in pairs("--with", numbers).items():
        table, _, name = key.rpartition(".")
        texts[table] = texts.get(table, f"\n[{table}]\n") + f'{name} = "{value}"\n'
    return "".join(texts.values())


def _runs(job: Job) -> Repeats:
    (point,) = repeats(execute([job])[0])
    assert not point.median.failures, point.median.failures
    return point


def _gain(key: str) -> Any:
    return lambda row: row[key] and f"{100 * (row[key] / row['base'] - 1):+.1f} %"


COLUMNS = [
    Column("workload", lambda row: row["case"].name, left=True),
    Column("threads", "threads"),
    Column("change", lambda row: row["case"].change, left=True),
    Column("as it is", "base", units.rate),
    Column(
        "foretold",
        lambda row: ("~ " if row["doubtful"] else "") + _gain("foretold")(row),
    ),
    Column("by hand", _gain("by_hand")),
    Column(
        "by hand over foretold",
        lambda row: row["by_hand"] and f"{row['by_hand'] / row['foretold']:.3f}",
    ),
    Column("measured", lambda row: row["measured"] or units.EMPTY),
]


def main(arguments: Sequence[str]) -> None:
    chosen = [
        one for one in cases() if not arguments or any(word in one.name for word in arguments)
    ]
    rows = [row.columns() for case in chosen for row in confirmed(first(case))]
    emit(rows, False, COLUMNS, "what a change gains: foretold, and made by hand")


if __name__ == "__main__":
    main(sys.argv[1:])

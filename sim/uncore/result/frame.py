"""Results as tables: one row per run, the same columns for `--json`, polars and Parquet.

Interface: `to_row` and `to_rows` return rows of builtin types, `write_csv(rows, path)` writes them,
and `Framed` is the base class of all results that consist of rows. Columns are named `set.NAME` for
a parameter, `with.KEY` for an override, and `transfers.CLASS` for a distance class.
"""

from __future__ import annotations

import csv
import importlib
import io
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from functools import singledispatch
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from uncore.errors import UserError
from uncore.job import Job
from uncore.job.schema import options
from uncore.result import columns
from uncore.support.output_files import write_whole

if TYPE_CHECKING:
    import polars

    from uncore.drawing.plot import Picture

AXES = {name: option for name, option in options(Job).items() if option.axis}
JOB_NAME_COLUMNS = (
    "machine",
    "workload",
    *(name for name, option in AXES.items() if option.form.word),
)
# prefixes of columns whose names contain a key: "set." and "with."
PAIR_PREFIXES = tuple(f"{option.word}." for option in AXES.values() if not option.form.word)
ROW_DIMENSION = "row"  # name of the xarray dimension if no column distinguishes the rows


class TabledResult(Protocol):
    """The attributes of a Result from which rows are made. schema.py imports this file, so this
    file cannot import Result.
    """

    @property
    def job(self) -> dict[str, Any]: ...

    @property
    def points(self) -> Sequence[Any]: ...

    @property
    def result_hash(self) -> str: ...

    def interval_columns(self, threads: int) -> dict[str, int]: ...


def to_row(result: TabledResult, point: Any) -> dict[str, Any]:
    """Returns one point of a result as a row."""
    outcome = columns.values(point) | {"result_hash": result.result_hash}
    return job_columns(result.job) | outcome | result.interval_columns(point.threads)


def to_rows(results: Iterable[TabledResult]) -> list[dict[str, Any]]:
    """Returns a row for each point of all results."""
    return [to_row(result, point) for result in results for point in result.points]


class Framed:
    """Base class of all results that consist of rows.

    Its methods convert the rows to tables of other libraries, draw them, and show them in
    notebooks. The layers above draw and print; they register their functions here (uncore.api).
    """

    __slots__ = ()

    @abstractmethod
    def to_rows(self) -> list[dict[str, Any]]:
        """Returns the rows as dictionaries of builtin types."""

    def to_polars(self) -> polars.DataFrame:
        """Returns a polars DataFrame; where a row lacks a column, its value is null."""
        import polars  # noqa: PLC0415 (slow to load)

        frames = [polars.DataFrame([row], infer_schema_length=None) for row in self.to_rows()]
        return polars.concat(frames, how="diagonal_relaxed") if frames else polars.DataFrame()

    def write_csv(self, path: str | Path) -> None:
        """Writes the rows as CSV, including lists (`thread_ops`), which polars cannot write."""
        write_csv(self.to_rows(), Path(path))

    def to_pandas(self) -> Any:
        """Returns a pandas DataFrame."""
        return _library("pandas", "to_pandas").DataFrame(self.to_rows())

    def to_xarray(self) -> Any:
        """Returns an xarray Dataset, whose dimensions are the columns that distinguish the rows."""
        _library("xarray", "to_xarray")
        table, names = self.to_pandas(), self._dimensions()
        numbers = [*names, *(k for k in table.select_dtypes("number") if k not in names)]
        index = (
            table[numbers].set_index(names) if names else table[numbers].rename_axis(ROW_DIMENSION)
        )
        return index.to_xarray()

    def _dimensions(self) -> list[str]:
        """Returns the columns that identify a run and differ between rows, and the thread count."""
        rows = self.to_rows()
        run_columns = [
            key for key in dict.fromkeys(key for row in rows for key in row) if names_run(key)
        ]
        return [k for k in run_columns if k == "threads" or len({row.get(k) for row in rows}) > 1]

    def plot(self, path: str | Path | None = None) -> Picture:
        """Draws the picture; with a path, also saves it."""
        return draw(self, path)

    def _repr_html_(self) -> str:
        return print_html(self)


@singledispatch
def draw(what: Framed, path: str | Path | None) -> Picture:
    raise TypeError(f"nothing draws a {type(what).__name__}; import uncore.api")


@singledispatch
def print_html(what: Framed) -> str:
    raise TypeError(f"nothing prints a {type(what).__name__}; import uncore.api")


def write_csv(rows: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Writes a line for each row. Lists are joined by blanks; columns that hold tables are left
    out.
    """
    names = dict.fromkeys(name for row in rows for name in row)
    plain = [name for name in names if not any(_holds_tables(row.get(name)) for row in rows)]
    table = io.StringIO()
    writer = csv.DictWriter(table, plain, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _in_one_cell(value) for name, value in row.items()} for row in rows)
    write_whole(path, table.getvalue())


def _holds_tables(value: object) -> bool:
    parts = value if isinstance(value, (list, tuple)) else [value]
    return any(isinstance(part, (dict, list, tuple)) for part in parts)


def _in_one_cell(value: object) -> object:
    return " ".join(map(str, value)) if isinstance(value, (list, tuple)) else value


def names_run(column: str) -> bool:
    """True if the column identifies the run; False if it is a result."""
    return column in ("threads", "seed") or names_job(column)


def names_job(column: str) -> bool:
    """True if the column identifies the job."""
    return column in JOB_NAME_COLUMNS or column.startswith(PAIR_PREFIXES)


def _library(name: str, method: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        raise UserError(
            f"{method} needs the package {name}, which is not installed; write: pip install {name}"
        ) from None


def job_columns(job: dict[str, Any]) -> dict[str, Any]:
    """Returns the columns that identify a job; `job` is the job as a document."""
    row = {"machine": job["machine"]["id"], "workload": job["program"]["name"]}
    for name, option in AXES.items():
        value = job.get(name, option.default)
        if option.form.word:
            row[name] = value
        else:
            row |= {f"{option.word}.{key}": text for key, text in value}
    return row

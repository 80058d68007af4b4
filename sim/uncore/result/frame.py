"""Results as tables: one row per run, the same columns for `--json`, polars and Parquet.

Interface: `to_row` and `to_rows` (builtin types) and `to_polars`.  Columns of a parameter are
`set.NAME`, of an override `with.KEY`, of a distance class `transfers.CLASS`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import polars


class Tabled(Protocol):
    """What is a table: a Result (schema.py, which imports this file)."""

    @property
    def job(self) -> dict[str, Any]: ...

    @property
    def points(self) -> Sequence[Any]: ...

    @property
    def result_hash(self) -> str: ...


def to_row(result: Tabled, point: Any) -> dict[str, Any]:
    """One point of a result."""
    return _job_columns(result.job) | _point_columns(point) | {"result_hash": result.result_hash}


def to_rows(results: Iterable[Tabled]) -> list[dict[str, Any]]:
    """One dictionary per point of all results."""
    return [to_row(result, point) for result in results for point in result.points]


def to_polars(results: Iterable[Tabled]) -> polars.DataFrame:
    """One row per point of all results; a column a result does not have is null there."""
    import polars  # noqa: PLC0415 (slow to load)

    frames = [polars.DataFrame([row], infer_schema_length=None) for row in to_rows(results)]
    return polars.concat(frames, how="diagonal_relaxed") if frames else polars.DataFrame()


def _job_columns(job: dict[str, Any]) -> dict[str, Any]:
    return {
        "machine": job["machine"]["id"],
        "workload": job["program"]["name"],
        "engine": job["engine"],
        "placement": job["placement"],
        "home": job["home"],
        **{f"with.{key}": value for key, value in job["overrides"]},
        **{f"set.{name}": value for name, value in job["parameters"]},
    }


def _point_columns(point: Any) -> dict[str, Any]:
    latency = point.latency
    return {
        "threads": point.threads,
        "seed": point.seed if isinstance(point.seed, int) else None,
        "ops": point.ops,
        "elapsed_ps": point.elapsed_ps,
        "throughput": point.throughput,
        "latency.p50_ps": latency and latency.p50,
        "latency.p90_ps": latency and latency.p90,
        "latency.p99_ps": latency and latency.p99,
        "latency.max_ps": latency and latency.max,
        **{f"transfers.{name}": count for name, count in (point.transfers or {}).items()},
        "invalidations": point.invalidations,
        "busiest_link_ppm": point.links[0][1] if point.links else None,
        "busiest_resolver_ppm": point.resolvers[0][1] if point.resolvers else None,
        "instructions": point.instructions,
        "transactions": point.transactions,
        "events": point.events,
        "fairness": None if point.fairness is None else round(point.fairness, 4),
        "thread_ops": point.thread_ops,
        "failures": point.failures,
    }

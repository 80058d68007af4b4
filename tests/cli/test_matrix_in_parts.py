"""Does a matrix that is measured in several runs contain each pair of harts exactly once?"""

from __future__ import annotations

import math
from typing import Any

import pytest

from uncore.execution import request
from uncore.execution.execute import OnInterrupted, execute
from uncore.result import Point
from uncore.study import matrix as matrices

WORKLOADS = ("latency/pingpong", "ipi/pingpong")


@pytest.fixture
def runs_of_ten_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matrices, "MAX_PAIRS_PER_RUN", 10)


def measured(workers: int = 1, **options: str) -> matrices.Matrix:
    return matrices.measure(
        "bus:8", ipi=False, overrides={}, smt=True, workers=workers, engine_options=options
    )


def one_point(workload: str, **values: Any) -> Point:
    job = request.make_job("bus:5", workload, [5], parameters={"rounds": 2, **values})
    return execute([job])[0].points[0]


def table(workload: str, **values: Any) -> list[list[int]]:
    return next(iter(one_point(workload, **values).tables.values()))


@pytest.mark.parametrize("workload", WORKLOADS)
@pytest.mark.parametrize("parts", [1, 3, 10, 12])
def test_each_pair_is_in_exactly_one_part(workload: str, parts: int) -> None:
    tables = [table(workload, parts=parts, part=part) for part in range(parts)]
    for a in range(5):
        for b in range(5):
            assert sum(part_table[a][b] > 0 for part_table in tables) == (a != b)


def test_sizes_of_parts_differ_by_at_most_one_pair() -> None:
    pairs = [sum(cell > 0 for row in table(WORKLOADS[0], parts=3, part=part) for cell in row) / 2
             for part in range(3)]  # fmt: skip
    assert pairs == [3, 3, 4]


def test_part_number_out_of_range_is_refused() -> None:
    (failure,) = one_point(WORKLOADS[0], parts=2, part=2).failures
    assert "part must be less than parts" in failure


@pytest.mark.usefixtures("runs_of_ten_pairs")
def test_latencies_of_a_matrix_are_independent_of_the_number_of_workers() -> None:
    one_worker, two_workers = measured(), measured(workers=2)
    assert len(one_worker.results) == 3 and not one_worker.failed
    assert one_worker.ns == two_workers.ns and matrices.measured_pairs(one_worker.ns) == 8 * 7


def test_latencies_measured_in_parts_are_within_1_percent_of_those_of_one_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    complete = measured()
    monkeypatch.setattr(matrices, "MAX_PAIRS_PER_RUN", 10)
    parts = measured()
    assert (len(complete.results), len(parts.results)) == (1, 3)
    for row, other in zip(parts.ns, complete.ns, strict=True):
        assert row == pytest.approx(other, rel=0.01)


@pytest.mark.usefixtures("runs_of_ten_pairs")
@pytest.mark.parametrize("workers", [1, 2])
def test_matrix_stopped_by_a_limit_keeps_the_measured_pairs(workers: int) -> None:
    complete, stopped = measured(), measured(workers, max_time="100us")
    assert stopped.stopped and "--max-time 100us" in str(stopped.stopped)
    measured_pairs = {
        a * 8 + b for a, row in enumerate(stopped.ns) for b, v in enumerate(row) if v > 0
    }
    assert 6 <= len(measured_pairs) < 8 * 7
    for measured_row, other in zip(stopped.ns, complete.ns, strict=True):
        assert all(math.isnan(v) or v == w for v, w in zip(measured_row, other, strict=True))


def test_interrupt_before_any_pair_is_measured_ends_the_command_matrix(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def execute(*_: Any, interrupted: OnInterrupted, **__: Any) -> list[Any]:
        interrupted(None, KeyboardInterrupt())
        return []

    monkeypatch.setattr(matrices, "execute", execute)
    with pytest.raises(KeyboardInterrupt):
        measured()


def test_parts_of_a_matrix_have_the_round_trips_of_the_whole() -> None:
    """More seeds have fewer round trips each (V10), however many pairs a run measures."""
    whole = request.make_job("epyc7601x2", WORKLOADS[0], "max", parameters={"rounds": 33})
    parts = matrices._parts(whole)
    assert len(parts) > 1
    assert {dict(part.parameters)["rounds"] for part in parts} == {"33"}

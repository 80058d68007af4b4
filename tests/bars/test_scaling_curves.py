"""Are skeletons of kernel paths compared correctly with the curves of will-it-scale?"""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path

import msgspec
import pytest

from uncore.errors import UserError
from uncore.execution.execute import execute
from uncore.execution.request import make_job
from uncore.result.repeats import rate
from uncore_lab.figures import SCALING
from uncore_lab.validate import scaling
from uncore_lab.validate.series import Series, series

ALL = series()
LONGER_CALLS_FACTOR = 4
GETUID = next(s for s in ALL if (s.machine, s.benchmark, s.kind) == ("x6130x2", "getuid1", "linux"))


def shortened(series: Series, tasks: list[int]) -> Series:
    """Returns the series with only these task counts."""
    kept_indexes = [series.measured.tasks.index(n) for n in tasks]
    rates = [
        series.measured.millions[series.benchmark][series.kind][index] for index in kept_indexes
    ]
    millions = {series.benchmark: {series.kind: rates}}
    measured = msgspec.structs.replace(
        series.measured, tasks=tasks, cores=max(tasks), millions=millions
    )
    return dataclasses.replace(series, measured=measured)


@pytest.mark.parametrize("one", ALL, ids=lambda s: f"{s.machine}-{s.benchmark}-{s.kind}")
def test_every_measured_curve_can_be_simulated(one: Series) -> None:
    assert len(one.rates) == len(one.measured.tasks)
    assert all(one.measured.clock(one.system, n) for n in one.measured.tasks)
    values = {name: str(value) for name, value in one.skeleton.values.items()}
    assert make_job("bus:2", one.skeleton.workload, [2], parameters=values | {"work": "1"})


def test_error_about_a_curve_without_a_skeleton_names_the_table_to_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = shutil.copytree(SCALING, tmp_path / "scaling")
    curves = where / "x6130x2.toml"
    curves.write_text(curves.read_text().replace("getuid1", "getuid9"))
    monkeypatch.setattr("uncore_lab.validate.series.SCALING", where)
    with pytest.raises(UserError, match=r"x6130x2.toml: a curve of getuid9.*\[getuid9\]"):
        series()


def test_a_single_task_is_as_fast_as_measured() -> None:
    alone = shortened(GETUID, [1])
    (curve,) = scaling.curves([alone])
    (result,) = execute([alone.job([1], curve.work)])
    assert rate(result.points[0]) == pytest.approx(GETUID.rates[0], rel=0.01)


def test_clock_of_a_curve_follows_the_number_of_busy_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tasks share no data, so four tasks lose only the difference in turbo clock, 3.7 to 3.5
    GHz, as measured.
    """
    # With more calls, the misses of the first calls are negligible.
    calls = LONGER_CALLS_FACTOR * GETUID.calls
    monkeypatch.setattr(Series, "calls", calls)
    (curve,) = scaling.curves([shortened(GETUID, [1, 4])])
    turbo = 4 * 3.5 / 3.7
    # The tolerance allows for figures that were read from a plot.
    assert curve.measured[1] == pytest.approx(turbo, rel=0.005)
    assert curve.simulated[1] == pytest.approx(turbo, rel=0.01)  # all start at a barrier
    plain = make_job(
        "x6130x2", "kernel/getuid", [1, 4], parameters={"work": curve.work, "ops": calls}
    )
    one, four = (rate(p) for p in execute([plain])[0].points)
    assert four / one == pytest.approx(4, rel=0.01)


def test_peak_knee_smt_yield_and_shape_error_follow_from_the_points_of_a_curve() -> None:
    epyc = next(s for s in ALL if s.machine == "epyc7601x2")
    curve = scaling.ScalingCurve(epyc, 0, [1, 4, 2, 1, 1, 1, 1.5], [1, 2, 2, 2, 2, 2, 1])
    assert curve.peak(curve.simulated) == 4
    assert curve.knee([1, 1.9, 2, 2, 2, 2, 2]) == 4
    assert curve.smt_yield(curve.simulated) == 1.5
    assert curve.is_contended(curve.simulated)
    assert curve.shape_error == pytest.approx((2 * 1 * 2 * 2 * 2 * 1.5) ** (1 / 6))
    assert scaling.step_ratios([curve])[0] == (4, 2)

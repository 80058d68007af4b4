"""Does `uncore scaling` describe a curve, and are the standard errors of the fitted law correct?"""

from __future__ import annotations

import json

import numpy as np
import pytest

from uncore.errors import UserError
from uncore.result.scaling import analyse, fit
from uncore.result.schema import Host, Outcome, Point, Result

HOST = Host(uncore="", engine="", python="", system="", cpu="", started="", seconds=[], program="x")
COUNTS = [1, 2, 4, 8, 16, 32, 64]


def law(n, scale=2e6, contention=0.05, coherence=0.001):
    return scale * n / (1 + contention * (n - 1) + coherence * n * (n - 1))


def result(*points: tuple[int, int, int]) -> Result:
    """Makes a result with one point for each tuple of threads, operations and elapsed ps."""
    absent = [f for f in Point.__struct_fields__ if f in ABSENT]
    result_points = [
        Point(
            threads=n,
            ops=ops,
            elapsed_ps=ps,
            thread_ops=[ops // n] * n,
            absent=dict.fromkeys(absent, "made up"),
        )
        for n, ops, ps in points
    ]
    job = {"machine": {"id": "m"}, "program": {"name": "w"}}
    return Result(job=job, outcome=Outcome(points=result_points), host=HOST)


ABSENT = (
    "latency transfers lines invalidations links resolvers instructions transactions events"
).split()


def test_fit_recovers_the_coefficients_of_a_law():
    fitted = fit(COUNTS, np.array([law(n) for n in COUNTS]))
    assert fitted.scale == pytest.approx(2e6)
    assert fitted.contention == pytest.approx(0.05)
    assert fitted.coherence == pytest.approx(0.001)
    assert fitted.worst < 1e-9
    assert fitted.peak == pytest.approx(np.sqrt(0.95 / 0.001))
    assert fitted.predict(256).throughput == pytest.approx(law(256))


def test_standard_errors_equal_the_deviation_of_repeated_noisy_measurements():
    random = np.random.default_rng(1)
    truth = np.array([law(n) for n in COUNTS])
    fits = [fit(COUNTS, truth * (1 + 0.02 * random.standard_normal(7))) for _ in range(400)]
    for name in ("scale", "contention", "coherence"):
        spread = np.std([getattr(f, name) for f in fits])
        stated = np.sqrt(np.mean([getattr(f, f"{name}_error") ** 2 for f in fits]))
        assert stated == pytest.approx(spread, rel=0.15)
    predicted = [f.predict(256) for f in fits]
    stated = np.sqrt(np.mean([p.error**2 for p in predicted]))
    assert stated == pytest.approx(np.std([p.throughput for p in predicted]), rel=0.2)


def test_fitted_coefficients_are_never_negative():
    fitted = fit([1, 2, 4, 8], np.array([1.0, 2.1, 4.4, 9.2]))  # superlinear
    assert (fitted.contention, fitted.coherence, fitted.contention_error) == (0, 0, 0)
    assert fitted.peak is None


def test_coefficient_at_its_bound_uses_no_degree_of_freedom():
    """Four points and one fitted coefficient leave three degrees of freedom."""
    # throughput relative to a law with scale 1 and without contention
    ratios = np.array([1.0, 1.02, 1.01, 1.03])
    fitted = fit([1, 2, 4, 8], np.array([1, 2, 4, 8]) * ratios)
    assert (fitted.contention, fitted.coherence) == (0, 0)
    inverse = ratios.sum() / (ratios**2).sum()
    variance = ((ratios * inverse - 1) ** 2).sum() / 3 / (ratios**2).sum()
    assert fitted.scale == pytest.approx(1 / inverse)
    assert fitted.scale_error == pytest.approx(np.sqrt(variance) / inverse**2)


def test_kind_of_speedup_follows_from_whether_work_or_time_is_constant():
    strong = analyse(result((1, 1000, 1000_000), (4, 1000, 400_000)))
    assert strong.held == "work" and strong.rows[1].speedup_problem == 2.5
    weak = analyse(result((1, 1000, 1000_000), (4, 2500, 1_010_000)))
    assert weak.held == "time" and weak.rows[1].speedup_time == 2.5
    memory = analyse(result((1, 1000, 1000_000), (4, 4000, 1_600_000)))
    assert memory.held == ""
    for scaling in (strong, memory):
        assert scaling.rows[1].speedup_memory == pytest.approx(2.5)


def test_serial_fraction_is_one_at_constant_throughput():
    serial = analyse(result((1, 1000, 1000_000), (4, 1000, 1_000_000))).rows[1]
    assert serial.per_thread == serial.all_serial == 0.25
    assert serial.serial_fraction == pytest.approx(1)
    scalable = analyse(result((1, 1000, 1000_000), (4, 4000, 1_000_000))).rows[1]
    assert scalable.serial_fraction == pytest.approx(0)


def test_law_needs_three_points_and_its_standard_errors_need_four():
    assert analyse(result((1, 10, 10), (2, 10, 10))).law is None
    assert fit([1, 2, 4], np.array([1.0, 1.8, 2.9])).scale_error is None
    with pytest.raises(UserError, match="against one thread"):
        analyse(result((2, 10, 10), (4, 10, 10)))


def test_scaling_command_marks_predicted_rows(uncore):
    uncore("run", "ccx:2x4", "lock/ticket", "--threads", "1,2,4,8", "--output", "r.json")
    shown = uncore("scaling", "r.json", "--plot", "law.png")
    assert shown.status == 0 and "picture" in shown.err
    marked = [line for line in shown.out.splitlines() if "predicted" in line]
    assert [line.split()[0] for line in marked] == ["16", "32"]
    document = json.loads(uncore("scaling", "r.json", "--json").out)
    assert [p["measured"] for p in document["predictions"]] == [True] * 4 + [False] * 2
    assert [row["threads"] for row in document["rows"]] == [1, 2, 4, 8]

"""Does the model of OpenJDK's monitor, a Linux program, exclude, and do its waiters sleep?"""

from __future__ import annotations

import pytest

from uncore.execution.execute import execute
from uncore.execution.request import find_program, make_job
from uncore_lab.validate.lockhammer import MONITOR

pytestmark = pytest.mark.long  # the C library may have to be compiled first


@pytest.mark.parametrize("threads", [1, 4, 16])
def test_monitor_admits_one_thread_at_a_time_and_loses_no_waiter(threads: int) -> None:
    words = ("{threads}", "200", "300", "100", "check")
    job = make_job("ccx:2x4", find_program(MONITOR), min(threads, 8), arguments=words, seeds=(1, 2))
    [result] = execute([job])
    for point in result.points:
        assert point.failures == [] and point.ops == 200 * min(threads, 8)


def test_waiters_of_the_monitor_sleep_in_a_futex() -> None:
    traces: list[str] = []
    job = make_job(
        "ccx:2x4", find_program(MONITOR), 8, arguments=("8", "200", "5000", "0"), seeds=(1,)
    )
    execute(
        [job], observers=frozenset({"calls"}), seen=lambda _, found: traces.append(found["calls"])
    )
    assert "futex" in traces[0].partition("sched_setaffinity")[2]

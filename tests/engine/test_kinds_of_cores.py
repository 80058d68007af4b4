"""Do cores of each kind have their kind's latencies, and are transfers between kinds in between?"""

from __future__ import annotations

import dataclasses

import pytest
from tests.support.line import CORE, NS, line
from tests.support.plans import Do, Step, steps

from uncore import api
from uncore.topology.machine import Kind

CLOCK_RATIO = 2
SLOW = Kind("slow", (1,), dataclasses.replace(
    CORE,
    instruction=CLOCK_RATIO * NS,
    mispredict=CLOCK_RATIO * CORE.mispredict,
    restart=CLOCK_RATIO * CORE.restart,
    l1_hit=CLOCK_RATIO * CORE.l1_hit,
    atomic=CLOCK_RATIO * CORE.atomic,
))  # fmt: skip


def test_loop_on_a_slower_core_takes_longer_by_the_ratio_of_the_clocks() -> None:
    """H1, H2: two harts execute the same plan, each on a line of its own."""
    machine = line(kinds=(SLOW,))
    plans = [
        [Step(1000, Do.COMPUTE), Step(4000, Do.AMO, index), Step(6000, Do.AMO, index)]
        for index in (0, 9)
    ]
    fast, slow = steps(machine, plans)
    for step in (0, 2):  # two instructions, each of one nanosecond, read the clock
        assert slow[step].cost + 2 == CLOCK_RATIO * (fast[step].cost + 2)


@pytest.mark.parametrize("engine", ["native", "reference"])
def test_handoff_between_kinds_is_slower_than_among_fast_and_faster_than_among_slow_cores(
    engine: str,
) -> None:
    slow = {"kinds.slow": "core2-3", "core.slow.clock": "1GHz"}
    result = api.run(
        "bus:4", "latency/pingpong", [4], parameters={"rounds": "8"}, overrides=slow, engine=engine
    )
    ns = result.outcome.points[0].tables["handoff"]
    among_fast, between, among_slow = ns[1][0], ns[2][0], ns[3][2]
    assert 1.1 * among_fast < between < among_slow / 1.1

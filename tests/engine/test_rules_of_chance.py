"""Does each rule of docs/model.md on chance (V) hold exactly, to the picosecond?

Compares a run with a seed to the same run without one: which messages left a core later, and by how
much. The tests compute the draws independently of the engines, as the page defines them.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import polars
import pytest
from tests.support.line import NS, ONE_WAY, SET_STRIDE, line
from tests.support.plans import START, Do, Step, words
from tests.support.runs import guest, logged

from uncore.topology import Machine
from uncore.topology.machine import Chance

WORD = 1 << 64
START_PS = START * NS  # ps at which the programs begin their plans


def mix(x: int) -> int:
    z = (x + 0x9E3779B97F4A7C15) % WORD
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % WORD
    z = (z ^ z >> 27) * 0x94D049BB133111EB % WORD
    return z ^ z >> 31


def draw(most: int, kind: int, agent: int, count: int, seed: int) -> int:
    """V2: returns a number from 0 to `most`, which depends on the kind of draw, the agent and its
    count.
    """
    return (most + 1) * mix(mix(mix(mix(seed) + kind) + agent) + count) // WORD


def records(machine: Machine, *plan: Step, **options: Any) -> polars.DataFrame:
    """Runs one hart's plan. Returns the log's records of the plan."""
    return after_start(logged(machine, guest("plan"), 1, **words([plan]), **options)[0])


def after_start(log: polars.DataFrame) -> polars.DataFrame:
    """Returns the log without the program's start-up: records of the plan, and then of the
    program's end.
    """
    return log.filter(polars.col("request") >= START_PS).sort("requester", "number")


def by_chance(machine: Machine, **most: int) -> Machine:
    return dataclasses.replace(machine, chance=Chance(**most))


def test_draws_mix_numbers_like_splitmix64() -> None:
    """V2: compares the first two numbers from the state 0 (Vigna's splitmix64.c)."""
    assert mix(0) == 0xE220A8397B1DCDAF
    assert mix(0x9E3779B97F4A7C15) == 0x6E789E6AA1B965F4


@pytest.mark.parametrize("most", [dict(start=0, request=0), dict(start=10**9, request=10**6)])
def test_run_without_a_seed_draws_nothing(most: dict[str, int]) -> None:
    """V1: the machine's bounds of chance have no effect."""
    plan = [Step(1000, Do.LOAD), Step(2000, Do.STORE, 1), Step(3000, Do.AMO, 2)]
    assert records(by_chance(line(), **most), *plan).equals(records(line(), *plan))


@pytest.mark.parametrize("seed", [0, 1, 2**63 - 1])
@pytest.mark.parametrize("do", [Do.LOAD, Do.AMO, Do.LR])
def test_each_request_is_delayed_by_its_own_draw(do: Do, seed: int) -> None:
    """V4.1: GetS and GetM requests are delayed."""
    delay = request_delays(line(), seed, [Step(1000 * (i + 1), do, i) for i in range(4)])
    assert len(set(delay)) == 3


def test_an_upgrade_is_delayed_by_its_own_draw() -> None:
    """V4.1: in MSI a store after a load sends an upgrade, which is delayed."""
    request_delays(line(protocol="msi"), 5, [Step(1000, Do.LOAD), Step(2000, Do.STORE)])


def request_delays(machine: Machine, seed: int, plan: list[Step]) -> list[int]:
    """Returns the delays of all requests except the first, in ps. If an answer arrives n ns and
    f ps after the start, the hart's clock, and so its next request, is later by f; this f is
    subtracted.
    """
    most = 123_457
    delayed = records(by_chance(machine, request=most), *plan, seeds=(seed,)).head(len(plan))
    lockstep = records(machine, *plan).head(len(plan))
    delay = delayed["request"] - lockstep["request"] - (delayed["data"] % NS).shift(1)
    expected = [draw(most, 2, 0, number, seed) for number in lockstep["number"]]
    assert delay.to_list()[1:] == expected[1:]
    return expected[1:]


def test_a_put_is_not_delayed_by_a_draw() -> None:
    """V4.1: two lines share a set, so the second evicts the first, which is dirty."""
    machine = line(core=ONE_WAY)
    plan = [Step(1000, Do.AMO, 0), Step(2000, Do.LOAD, 1)]
    options = {"stride": SET_STRIDE, "seeds": (3,)}
    delayed = records(by_chance(machine, request=500_000), *plan, **options)
    put = delayed.filter(polars.col("op") == "Put")
    data_arrived = delayed.filter(polars.col("op") == "GetS")["data"][0]
    assert put["request"][0] == data_arrived + machine.core.l2_hit


def test_posted_amos_leave_in_order() -> None:
    """V4.2: three AMOs are posted at the same time. An AMO whose draw is less than an earlier AMO's
    leaves together with that one.
    """
    most, plan = 400_000, [Step(1000, Do.LOAD, 5), Step(5000, Do.POST_THRICE)]
    is_amo = polars.col("op") == "Amo"
    machine = line(core={"far_atomics": True})
    lockstep = records(machine, *plan).filter(is_amo)
    reordered_runs = 0
    for seed in range(8):
        delayed = records(by_chance(machine, request=most), *plan, seeds=(seed,))
        amos = delayed.filter(is_amo)
        before = delayed.filter(polars.col("number") == amos["number"][0] - 1)
        undelayed = lockstep["request"] + before["data"][0] % NS
        draws = [draw(most, 2, 0, number, seed) for number in amos["number"]]
        independent = [time + delay for time, delay in zip(undelayed, draws, strict=True)]
        assert amos["request"].to_list() == [max(independent[: i + 1]) for i in range(3)]
        reordered_runs += independent != sorted(independent)
    assert reordered_runs


@pytest.mark.parametrize("opens", [0, 1], ids=["operation", "region"])
def test_each_hart_is_delayed_once_at_its_first_marker(opens: int) -> None:
    """V3: each hart has its own draw, whose bound grows with the number of harts. Everything after
    the marker is delayed by as much.
    """
    most, seed = 10_000 * NS, 7
    machine = by_chance(line(), start=most)
    delay = request_times(machine, 3, opens, seed) - request_times(line(), 3, opens)
    expected = [draw(3 * most, 1, hart, 0, seed) for hart in range(3)]
    assert delay.to_list() == [time for time in expected for _ in range(2)]
    assert len(set(expected)) == 3


def test_an_interrupt_does_not_end_the_delay_of_a_start() -> None:
    """V3: the interrupt is taken when the delay ends, before the hart does anything else."""
    most, seed = 30_000 * NS, 7
    machine = by_chance(line(), start=most)
    on_time = request_times(line(), 2, 0)[0] + draw(2 * most, 1, 0, 0, seed)
    assert (
        request_times(machine, 2, 0, seed, ipi=1000)[0]
        > on_time
        == request_times(machine, 2, 0, seed)[0]
    )


def test_start_delay_is_drawn_by_hart_number_and_request_delay_by_core_number() -> None:
    """V3, V4: hart 0 is on core 2."""
    seed, most = 11, 40_000 * NS
    start = request_times(by_chance(line(), start=most), 1, 0, seed, placement="2,0")
    assert start[0] - request_times(line(), 1, 0, placement="2,0")[0] == draw(most, 1, 0, 0, seed)
    most, plan = 77_777, [Step(1000, Do.LOAD), Step(2000, Do.LOAD, 1)]
    options = {"placement": "2,0"}
    lockstep = records(line(), *plan, **options)
    delayed = records(by_chance(line(), request=most), *plan, seeds=(seed,), **options)
    delay = delayed["request"][1] - lockstep["request"][1] - delayed["data"][0] % NS
    assert delay == draw(most, 2, 2, lockstep["number"][1], seed)


def request_times(
    machine: Machine, harts: int, opens: int, seed: int | None = None, **options: Any
) -> polars.Series:
    """Returns the times of each hart's requests for its two lines, which are the lines that the
    program allocates last.
    """
    seeds = () if seed is None else (seed,)
    log, _ = logged(machine, guest("late"), harts, opens=opens, seeds=seeds, **options)
    lines = sorted(set(log["line"]))[-2 * harts :]
    requests = log.filter(polars.col("line").is_in(lines)).sort("line")
    assert len(requests) == 2 * harts
    return requests["request"]


@pytest.mark.parametrize("seed", range(4))
def test_each_hold_of_a_line_varies_by_its_own_draw(seed: int) -> None:
    """V5: core 1 requests a line that core 0 has just received."""
    hold, share = 600 * NS, 400
    machine, spread = line(core={"hold": hold}), hold * share // 1000
    plans = [[Step(1000, Do.AMO)], [Step(1050, Do.AMO)]]
    logs = (
        after_start(logged(variant, guest("plan"), 2, **words(plans), seeds=seeds)[0])
        for variant, seeds in ((machine, ()), (by_chance(machine, hold=share), (seed,)))
    )
    lockstep, drawn = (log.filter(polars.col("line") == log["line"].first()) for log in logs)
    assert drawn["requester"].to_list() == [0, 1]
    delay = draw(2 * spread, 3, 0, lockstep["number"][0], seed) - spread
    assert drawn["data"].diff()[1] == lockstep["data"].diff()[1] + delay


def test_draws_are_uniformly_distributed() -> None:
    """V2: draws lie between 0 and the bound, both of which can occur."""
    draws = [draw(3, 1, hart, 0, seed) for hart in range(64) for seed in range(64)]
    shares = [draws.count(value) / len(draws) for value in range(4)]
    assert shares == pytest.approx([0.25] * 4, abs=0.03)

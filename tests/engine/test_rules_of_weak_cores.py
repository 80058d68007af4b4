"""Does each rule of docs/model.md on weakly ordered cores (H8) hold?

Costs, in lockstep, show which access waits for which store. The litmus tests (tests/litmus) show in
which order other harts see accesses.
"""

from __future__ import annotations

import dataclasses

import pytest
from tests.support.line import line
from tests.support.plans import Do, Step, steps
from tests.support.runs import guest

from uncore.execution import request
from uncore.execution.execute import execute
from uncore.topology import Machine
from uncore.topology.machine import Chance

TSO = line()
DELAYED_STORES = Chance(store=1_000_000)  # ps


def weak(machine: Machine = TSO, chance: Chance | None = None) -> Machine:
    core = dataclasses.replace(machine.core, order="weak")
    return dataclasses.replace(machine, core=core, chance=chance or machine.chance)


def cost_after_store(
    machine: Machine, do: Do, index: int, store: Do = Do.STORE, **options: int
) -> int:
    """Returns the cost of a step after a store that misses. The hart already has line 1."""
    plan = [Step(1000, Do.AMO, 1), Step(5000, store, 0), Step(5020, do, index)]
    return steps(machine, [plan], **options)[0][2].cost


def test_an_atomic_does_not_wait_for_stores_to_other_lines() -> None:
    """H8.3: in total store order the atomic waits (H4)."""
    expected = steps(TSO, [[Step(1000, Do.AMO, 1), Step(5000, Do.AMO, 1)]])[0][1].cost
    assert cost_after_store(weak(), Do.AMO, 1) == expected < cost_after_store(TSO, Do.AMO, 1)


def test_an_atomic_waits_for_the_stores_to_its_line() -> None:
    """H8.3: the atomic waits as long as in total store order."""
    assert cost_after_store(weak(), Do.AMO, 0) == cost_after_store(TSO, Do.AMO, 0)


@pytest.mark.parametrize("fenced", [Do.STORE_FENCE_WW, Do.STORE_FENCE_TSO])
def test_an_atomic_waits_for_stores_before_a_fence_that_orders_writes(fenced: Do) -> None:
    """H8.3, H1.5: an LR only reads, so it does not wait."""
    ordered = cost_after_store(weak(), Do.AMO, 1, fenced)
    assert ordered == cost_after_store(TSO, Do.AMO, 1, fenced)
    assert cost_after_store(weak(), Do.LR, 1, fenced) < ordered


@pytest.mark.parametrize("fenced", [Do.STORE_FENCE_WW, Do.STORE_FENCE_TSO])
def test_a_fence_without_write_to_read_order_does_not_wait_for_a_store(fenced: Do) -> None:
    """H8.3, H1.5: a store that misses and such a fence take an instruction each."""
    assert steps(weak(), [[Step(1000, fenced)]])[0][0].cost == 1


def test_a_fence_that_orders_writes_before_reads_waits_for_the_buffer() -> None:
    """H8.3: a fence after a store that misses waits for the store."""
    costs = [steps(machine, [[Step(1000, Do.STORE_FENCE)]])[0][0].cost for machine in (weak(), TSO)]
    assert costs[0] == costs[1] > 1


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_store_stays_in_the_buffer_for_a_drawn_time(seed: int) -> None:
    """H8.1, V7: even a store to a line that the core may write stays in the buffer for a random
    time, and a fence after it waits.
    """
    plan = [Step(1000, Do.AMO, 0), Step(5000, Do.STORE_FENCE, 0)]
    delayed = steps(weak(chance=DELAYED_STORES), [plan], seeds=(seed,))[0][1].cost
    lockstep = steps(weak(), [plan])[0][1].cost
    assert lockstep < delayed <= lockstep + 1000


def test_hart_does_not_wait_for_an_amo_whose_result_is_unused() -> None:
    """H8.10: the AMO waits in the buffer, unless AMOs are performed at the resolver."""
    far = dataclasses.replace(TSO, core=dataclasses.replace(TSO.core, far_atomics=True))

    def cost(machine: Machine, do: Do) -> int:
        return steps(machine, [[Step(1000, do, 0)]])[0][0].cost

    assert cost(weak(), Do.POST) == cost(weak(), Do.STORE)
    assert min(cost(weak(far), Do.POST), cost(TSO, Do.POST)) > cost(weak(), Do.STORE)


def test_load_waits_for_an_earlier_amo_on_its_bytes_even_if_the_result_is_unused() -> None:
    """H8.10: the load needs the value that the AMO writes (rule 3 of RVWMO)."""
    assert cost_after_store(weak(), Do.LOAD, 0, Do.POST) > cost_after_store(
        weak(), Do.LOAD, 0, Do.STORE
    )


@pytest.mark.parametrize("write", [Do.STORE, Do.AMO])
def test_some_writes_stall_and_a_draw_decides_which(write: Do) -> None:
    """H8.11, V9: a draw decides whether a write stalls. In lockstep no write does."""
    plan = [Step(1000, Do.AMO, 0), Step(9000, write, 0)]

    def cost(chance: Chance | None, *seeds: int) -> int:
        return steps(weak(chance=chance), [plan], seeds=seeds)[0][1].cost

    stalls = [cost(DELAYED_STORES, seed) - cost(None) for seed in range(1, 41)]
    assert 4 <= sum(stall > 0 for stall in stalls) <= 18
    assert 0 == min(stalls) < 100 < max(stalls) <= 1000


def test_load_may_wait_for_a_store_that_could_forward_to_it() -> None:
    """H8.9, V8: a draw decides whether a load waits. In lockstep no load does."""
    plan = [Step(1000, Do.AMO, 0), Step(5000, Do.STORE, 0), Step(5002, Do.LOAD, 0)]

    def cost(chance: Chance | None, *seeds: int) -> int:
        return steps(weak(chance=chance), [plan], seeds=seeds)[0][2].cost

    forwarded = cost(None)
    drawn = {cost(DELAYED_STORES, seed) for seed in range(1, 11)}
    assert min(drawn) == forwarded < max(drawn)


@pytest.mark.parametrize(
    ("program", "rule"),
    [
        ("ipi_publishes", "H8.6: a handler sees nothing older than its interrupt"),
        ("acquires", "H8.8: loads after an LR with acquire are as new as the value that it read"),
        (
            "releases",
            "H8.8: an LR with release reads a value as new as those that were seen before",
        ),
        ("forwards", "H8.7: a value that a store forwards is as new as the store's operand"),
    ],
)
def test_delayed_load_reads_no_value_older_than_the_rules_allow(program: str, rule: str) -> None:
    """In these programs a load may return a value that was replaced up to 10 us ago."""
    far = {"core.order": "weak", "chance.load": "10us"}
    job = request.make_job("bus:2", guest(program), (2,), overrides=far, seeds=tuple(range(1, 6)))
    (result,) = execute([job])
    assert [point.failures for point in result.points] == [[]] * 5, rule

"""Do interrupts, messages and threads cost more over a longer distance, and less in batches?

These tests check only which side costs more; `uncore claims` compares the amounts.
"""

from __future__ import annotations

from uncore import api
from uncore.result import Point

TWO_CORES = "athlonx2-3800"


def run(machine: str, workload: str, threads: int, **parameters: object) -> Point:
    values = {name: str(value) for name, value in parameters.items()}
    return api.run(machine, workload, (threads,), parameters=values).points[0]


def table(point: Point, name: str) -> list[list[int]]:
    assert point.tables
    return [list(row) for row in point.tables[name]]


def mean(row: list[int]) -> float:
    return sum(row) / len(row)


def test_network_segments_take_longer_through_a_distant_netisr_thread_than_through_a_near_one() -> (
    None
):
    near, far = (
        run("epyc7601x2", "sched/pipeline", 33, netisr=hart, ops=60).elapsed_ps for hart in (2, 32)
    )
    assert far > 1.5 * near


def test_burst_of_messages_costs_only_one_interrupt() -> None:
    point = run(TWO_CORES, "ipi/ipiq", 2, burst=5)
    assert 0 < table(point, "pipelined")[0][1] < table(point, "one_way")[0][1] / 5


def test_message_fifos_of_2005_move_fewer_lines_than_those_of_2010() -> None:
    def lines_per_message(crossbar: int) -> float:
        point = run(TWO_CORES, "ipi/ipiq", 2, burst=1, crossbar=crossbar)
        assert point.transfers
        return sum(point.transfers.values()) / point.ops

    assert 1 < lines_per_message(2005) < lines_per_message(2010)


def test_full_message_fifo_of_2005_loses_and_reorders_no_message() -> None:
    for workload in ("ipi/ipiq", "ipi/passive"):
        assert not run(TWO_CORES, workload, 2, burst=64, crossbar=2005).failures


def test_one_way_slab_workload_has_harts_that_free_and_harts_that_own_the_objects() -> None:
    freeing, owning = table(run(TWO_CORES, "sched/slab", 2, ways="one"), "free_time")
    assert freeing[0] == 0 < freeing[1]
    assert owning[1] == 0 < owning[0]


def test_local_free_is_cheapest_and_free_by_interrupt_most_expensive() -> None:
    local, passive, active = (
        mean(table(run(TWO_CORES, "sched/slab", 2, free=how), "free_time")[0])
        for how in ("local", "passive", "active")
    )
    assert local < passive / 2 < active / 4


def test_interrupt_with_several_frames_costs_less_per_frame_than_one_interrupt_each() -> None:
    def ns_per_frame(frames: int) -> float:
        [row] = table(run(TWO_CORES, "sched/netintr", 2, frames=frames), "interrupt")
        return (row[0] + row[1]) / frames

    assert ns_per_frame(6) < ns_per_frame(1) * 0.75


def test_polling_costs_a_frame_what_an_interrupt_costs_it_and_saves_the_way_of_the_signal() -> None:
    for frames in (1, 6):
        interrupt, poll = (
            table(run(TWO_CORES, "sched/netintr", 2, frames=frames, by=how, ops=60), "interrupt")[0]
            for how in ("interrupt", "poll")
        )
        assert poll[0] < interrupt[0]
        assert 0.8 < poll[2] / interrupt[2] < 1.05


def test_empty_poll_takes_its_look_at_the_card_and_a_hit_in_the_cache() -> None:
    nothing, register = (
        table(run(TWO_CORES, "sched/netintr", 2, by="poll", look=look, ops=60), "polled")[0][0]
        for look in ("0ns", "300ns")
    )
    assert 0 < nothing < 50_000
    assert 300_000 <= register < 400_000


def test_stages_of_the_protocol_overlap_although_the_card_shares_a_hart_with_one() -> None:
    [row] = table(run(TWO_CORES, "sched/netintr", 2, frames=6, protocol="other", ops=60), "busy")
    driver, protocol, together = row
    assert max(driver, protocol) < together < 0.9 * (driver + protocol)


def test_wake_up_by_message_saves_time_only_for_the_waker() -> None:
    lock, message = (run(TWO_CORES, "sched/wakeup", 2, by=how) for how in ("lock", "message"))
    assert table(message, "wakeup")[0][0] < table(lock, "wakeup")[0][0]
    same_hart = run(TWO_CORES, "sched/wakeup", 2, distance=0)
    assert table(same_hart, "woken")[0][0] < table(message, "woken")[0][0]


def test_switch_to_a_process_costs_more_with_more_page_tables() -> None:
    def switch_time(**options: object) -> float:
        point = run(TWO_CORES, "sched/wakeup", 2, distance=0, **options)
        return table(point, "woken")[0][0] - table(point, "wakeup")[0][0]

    kernel, few, many = (
        switch_time(),
        switch_time(space="process", pages=0),
        switch_time(space="process"),
    )
    assert kernel * 1.3 < few < many
    assert switch_time(space="process", pages=64) - few > 3 * (many - few)


def test_a_grace_period_waits_for_the_slowest_quiescent_state() -> None:
    often, seldom = (
        table(run("ccx", "epoch/rcu", 4, quiescent_every=every, hold="100ns"), "grace")[0]
        for every in (1, 50)
    )
    assert mean(seldom) > 2 * mean(often)


def test_shootdown_by_multicast_takes_less_than_half_the_time_of_single_interrupts() -> None:
    with_multicast, without = (
        api.run(
            "epyc7742x2",
            "ipi/shootdown",
            (32,),
            overrides={"interrupt.multicast": multicast},
            parameters={"ops": "5"},
        )
        .points[0]
        .latency
        for multicast in ("yes", "no")
    )
    assert with_multicast and without and with_multicast.p50 < 0.5 * without.p50

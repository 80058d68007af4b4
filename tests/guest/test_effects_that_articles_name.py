"""Do workloads show the effects that articles describe without giving a figure?

Each test checks the direction of one effect, on a machine small enough to be cheap.
"""

from __future__ import annotations

from statistics import median

import pytest

from uncore import api
from uncore.result import Point


def run(
    workload: str,
    threads: int,
    machine: str = "ccx:2x4",
    place: str = "compact",
    **parameters: object,
) -> Point:
    """Returns the point of one run in lockstep."""
    values = {name: str(value) for name, value in parameters.items()}
    result = api.run(machine, workload, [threads], parameters=values, placement=place, seeds=None)
    return result.points[0]


def rate(workload: str, threads: int, machine: str = "ccx:2x4", **parameters: object) -> float:
    return run(workload, threads, machine, **parameters).throughput


def lines(workload: str, threads: int, **parameters: object) -> float:
    """Returns the lines moved for each operation."""
    point = run(workload, threads, **parameters)
    return sum((point.transfers or {}).values()) / point.ops


def table(point: Point, name: str) -> list[list[int]]:
    assert point.tables
    return [list(row) for row in point.tables[name]]


@pytest.mark.parametrize("walk", ["plain", "chained"])
def test_a_moved_thread_refills_its_caches_in_a_time_that_grows_with_distance(walk: str) -> None:
    first, second = table(run("sched/migrate", 8, ops=7, lines=64, walk=walk), "refill")
    assert first[1] > 1.2 * second[1], "from its neighbour"
    assert first[4] > 1.2 * first[1], "from the other complex"


def test_lines_that_were_only_read_stay_in_the_caches_of_each_hart() -> None:
    """When a thread returns to a hart, the hart still has the copies from the first visit."""
    first, second = table(run("sched/migrate", 2, ops=50, lines=64, written=0), "refill")
    assert first[1] < 1.3 * second[1]


@pytest.mark.parametrize(("own_lines", "together_wins"), [(64, True), (1536, False)])
def test_a_shared_cache_helps_small_working_sets_and_harms_large_ones(
    own_lines: int, together_wins: bool
) -> None:
    """The L2 of a module has 2048 lines of 64 bytes: one large set fits, two together do not."""

    def rounds(place: str) -> float:
        result = api.run(
            "fx8300",
            "layout/shared_cache",
            [2],
            parameters={"lines": str(own_lines), "ops": "5"},
            placement=place,
            overrides={"module.data.size": "128KiB"},
            seeds=None,
        )
        return result.points[0].throughput

    assert (rounds("0,1") > 2 * rounds("0,2")) == together_wins
    assert (rounds("0,2") > 2 * rounds("0,1")) != together_wins


def test_one_netisr_thread_limits_many_connections() -> None:
    def segments(connections: int, netisrs: str) -> float:
        chosen = {"connections": connections, "netisrs": netisrs, "netisr": 8, "ops": 40}
        return rate("sched/pipeline", 16, "ccx:4x4", **chosen)

    assert segments(4, "one") < 1.6 * segments(1, "one")
    assert segments(4, "each") > 3 * segments(1, "one")


def test_preemption_at_each_frame_undoes_the_gain_of_a_burst() -> None:
    def frames(burst: int, policy: str) -> float:
        return rate("sched/preempt", 1, "athlonx2-3800", burst=burst, policy=policy, ops=20)

    assert frames(6, "aggregate") > 1.15 * frames(6, "preempt")
    assert frames(1, "aggregate") == pytest.approx(frames(1, "preempt"), rel=0.05)


def test_an_rcu_report_takes_less_time_in_a_tree_than_under_one_lock() -> None:
    def took(**reports: object) -> float:
        point = run("epoch/rcu_tree", 64, "epyc7742x2", think="100ns", duration="200us", **reports)
        [means] = table(point, "report")
        return median([ns for ns in means if ns])

    tree = took(fanout=16)
    assert took(fanout=64) > 4 * tree
    assert took(reports="counter") < tree, "an addition takes no lock"


def test_the_fan_out_of_an_rcu_tree_changes_the_lines_moved() -> None:
    def moved(**reports: object) -> float:
        point = run("epoch/rcu_tree", 16, "ccx:4x4", ops=200, **reports)
        assert point.tables and any(table(point, "grace")[0])
        return sum((point.transfers or {}).values()) / point.ops

    assert moved(fanout=4) != moved(fanout=16)


@pytest.mark.parametrize("measured", ["section", "record"])
def test_critical_sections_and_clock_records_scale_with_harts(measured: str) -> None:
    alone, together = (rate("sched/critical", n, ops=20, measured=measured) for n in (1, 8))
    assert together > 4 * alone, "each hart interrupts the next one"


def test_packets_under_refcache_wait_for_two_to_three_epochs() -> None:
    epoch_ns = 20000
    point = run("kernel/packets", 4, scheme="refcache", epoch=f"{epoch_ns}ns", ops=200)
    [held] = table(point, "backlog")
    per_epoch = epoch_ns * point.throughput / 4 / 1e9
    assert all(2 * per_epoch < packets < 4 * per_epoch for packets in held)
    [few] = table(run("kernel/packets", 4, scheme="atomic", ops=200), "backlog")
    assert max(few) <= 4


def test_spawn_is_faster_because_it_copies_no_entries() -> None:
    fork, spawn = (
        rate("kernel/fork", 1, how=h, entries=64, work=2000, ops=20) for h in ("fork", "spawn")
    )
    assert spawn > 3 * fork


def test_reading_some_attributes_moves_few_lines_if_links_are_in_parts() -> None:
    def moved(links: str, asked: str) -> float:
        return lines("kernel/stat", 8, links=links, asked=asked, ops=60)

    assert moved("parts", "some") < 0.7 * moved("parts", "all") < 0.7 * moved("one", "all")
    assert moved("one", "some") > 1.2 * moved("parts", "some"), "beside the count"


def test_signals_of_the_process_make_its_threads_wait_for_each_other() -> None:
    both, own = (rate("kernel/sigpending", 8, asked=a, ops=60) for a in ("both", "own"))
    assert own > 4 * both


def test_renamed_pages_cause_no_interrupt() -> None:
    remap, repurpose = (
        run("kernel/buffer_cache", 8, recycle=r, ops=20) for r in ("remap", "repurpose")
    )
    assert table(remap, "interrupts") == [[8 * 20] * 8]
    assert table(repurpose, "interrupts") == [[0] * 8]
    assert repurpose.throughput > 5 * remap.throughput


def test_passive_vnodes_let_tasks_avoid_the_contended_lists() -> None:
    moved, passive = (rate("kernel/vnode_lists", 8, change=c, ops=40) for c in ("moved", "passive"))
    assert passive > 2 * moved


def test_locks_of_a_pool_and_unaligned_pages_share_lines() -> None:
    def moved(**layout: object) -> float:
        return lines("kernel/page_locks", 8, pages=16, ops=200, **layout)

    apart = moved(locks="own", page_bytes=128)
    assert moved(locks="pool", pool=64) > 1.3 * apart
    assert moved(locks="own", page_bytes=96) > 1.3 * apart


def test_pages_with_locks_and_lines_of_their_own_move_no_lines() -> None:
    def moved(ops: int) -> float:
        return 8 * ops * lines("kernel/page_locks", 8, locks="own", pages=16, ops=ops)

    assert moved(200) < moved(100) + 20

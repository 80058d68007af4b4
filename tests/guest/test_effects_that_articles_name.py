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
    """Returns the point of a single run in lockstep."""
    values = {name: str(value) for name, value in parameters.items()}
    result = api.run(machine, workload, [threads], parameters=values, placement=place, seeds=None)
    return result.points[0]


def rate(workload: str, threads: int, machine: str = "ccx:2x4", **parameters: object) -> float:
    return run(workload, threads, machine, **parameters).throughput


def lines_per_operation(workload: str, threads: int, **parameters: object) -> float:
    """Returns the number of lines that move per operation."""
    point = run(workload, threads, **parameters)
    return sum((point.transfers or {}).values()) / point.ops


def table(point: Point, name: str) -> list[list[int]]:
    assert point.tables
    return [list(row) for row in point.tables[name]]


@pytest.mark.parametrize("walk", ["plain", "chained"])
def test_thread_that_migrates_farther_takes_longer_to_refill_its_caches(walk: str) -> None:
    first, second = table(run("sched/migrate", 8, ops=7, lines=64, walk=walk), "refill")
    assert first[1] > 1.2 * second[1], "from its neighbour"
    assert first[4] > 1.2 * first[1], "from the other complex"


def test_thread_that_only_reads_finds_its_lines_cached_when_it_returns_to_a_hart() -> None:
    """When a thread returns to a hart, the hart still has the copies from the first visit."""
    first, second = table(run("sched/migrate", 2, ops=50, lines=64, written=0), "refill")
    assert first[1] < 1.3 * second[1]


@pytest.mark.parametrize(("memory", "stay", "near_share"), [("turns", 16, 0.5), ("here", 8000, 1)])
def test_memory_of_a_program_that_stays_is_local_and_memory_of_all_nodes_is_half_local(
    memory: str, stay: int, near_share: float
) -> None:
    chosen = {"life": 8, "memory": memory, "stay": stay, "lines": 16, "ops": 160}
    [[near, far]] = table(run("sched/migrate", 8, "opteron2384x2", **chosen), "accesses")
    assert near + far == 16 * 160
    assert near == near_share * (near + far)


def test_programs_that_are_moved_more_often_access_more_remote_memory() -> None:
    def far_share(stay: int) -> float:
        chosen = {"life": 8, "stay": stay, "lines": 16, "ops": 1600}
        [[near, far]] = table(run("sched/migrate", 8, "opteron2384x2", **chosen), "accesses")
        return far / (near + far)

    assert 0.18 < far_share(8) < 0.32, "half of the moves leave the node for half of a life"
    assert 0.35 < far_share(16) / far_share(8) < 0.65


def test_node_of_memory_matters_only_to_a_set_that_does_not_fit_into_the_caches() -> None:
    def second_walk(lines: int, node: int) -> int:
        chosen = {"lines": lines, "set_node": node, "ops": 1}
        return table(run("sched/migrate", 2, "opteron8218x4", **chosen), "refill")[1][1]

    assert 0.97 < second_walk(128, 1) / second_walk(128, 0) < 1.03
    assert second_walk(20000, 1) > 1.2 * second_walk(20000, 0)


def test_one_arena_forms_a_convoy_only_with_more_clients_than_processors() -> None:
    def queries(heap: str, clients: int) -> float:
        server = {"preempt": "user", "descriptors": "rcu", "allocations": 8, "ops": 60}
        return rate("kernel/mysql", 8, "opteron8218x4", heap=heap, clients=clients, **server)

    assert queries("one", 8) > 0.85 * queries("own", 8)
    assert queries("own", 20) > 0.9 * queries("own", 8)
    assert queries("one", 20) < 0.6 * queries("own", 20)


def test_a_queue_of_clean_buffers_moves_other_tasks_headers_and_a_flag_none() -> None:
    def lines(serial: str) -> float:
        return lines_per_operation("kernel/read", 8, serial=serial, pool=0, ops=200)

    assert lines("queue") > lines("none") + 3, "the lock, the head, and two neighbours"


@pytest.mark.parametrize(("own_lines", "together_wins"), [(64, True), (1536, False)])
def test_a_shared_cache_helps_small_working_sets_and_harms_large_ones(
    own_lines: int, together_wins: bool
) -> None:
    """The shared L2 has 2048 lines of 64 bytes, which hold one large working set but not two."""

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


def test_preemption_after_each_frame_removes_the_gain_of_a_burst() -> None:
    def frames(burst: int, policy: str) -> float:
        return rate("sched/preempt", 1, "athlonx2-3800", burst=burst, policy=policy, ops=20)

    assert frames(6, "aggregate") > 1.15 * frames(6, "preempt")
    assert frames(1, "aggregate") == pytest.approx(frames(1, "preempt"), rel=0.05)


def test_an_rcu_report_takes_less_time_in_a_tree_than_under_one_lock() -> None:
    def report_time(**reports: object) -> float:
        point = run("epoch/rcu_tree", 64, "epyc7742x2", think="100ns", duration="200us", **reports)
        [means] = table(point, "report")
        return median([ns for ns in means if ns])

    tree = report_time(fanout=16)
    assert report_time(fanout=64) > 4 * tree
    assert report_time(reports="counter") < tree, "an addition takes no lock"


def test_fan_out_of_an_rcu_tree_changes_the_number_of_lines_moved() -> None:
    def lines_moved(**reports: object) -> float:
        point = run("epoch/rcu_tree", 16, "ccx:4x4", ops=200, **reports)
        assert point.tables and any(table(point, "grace")[0])
        return sum((point.transfers or {}).values()) / point.ops

    assert lines_moved(fanout=4) != lines_moved(fanout=16)


@pytest.mark.parametrize("measured", ["section", "record"])
def test_critical_sections_and_clock_records_scale_with_the_number_of_harts(measured: str) -> None:
    one_hart, eight_harts = (rate("sched/critical", n, ops=20, measured=measured) for n in (1, 8))
    assert eight_harts > 4 * one_hart, "each hart interrupts the next one"


def test_packets_under_refcache_wait_for_two_to_three_epochs() -> None:
    epoch_ns = 20000
    point = run("kernel/packets", 4, scheme="refcache", epoch=f"{epoch_ns}ns", ops=200)
    [backlog] = table(point, "backlog")
    per_epoch = epoch_ns * point.throughput / 4 / 1e9
    assert all(2 * per_epoch < packets < 4 * per_epoch for packets in backlog)
    [few] = table(run("kernel/packets", 4, scheme="atomic", ops=200), "backlog")
    assert max(few) <= 4


def test_spawn_is_faster_than_fork_which_copies_map_entries() -> None:
    fork, spawn = (
        rate("kernel/fork", 1, how=h, entries=64, work=2000, ops=20) for h in ("fork", "spawn")
    )
    assert spawn > 3 * fork


def test_stat_moves_fewer_lines_for_some_attributes_than_for_all_and_with_a_split_link_count() -> (
    None
):
    def lines_moved(links: str, asked: str) -> float:
        return lines_per_operation("kernel/stat", 8, links=links, asked=asked, ops=60)

    assert (
        lines_moved("parts", "some")
        < 0.7 * lines_moved("parts", "all")
        < 0.7 * lines_moved("one", "all")
    )
    assert lines_moved("one", "some") > 1.2 * lines_moved("parts", "some"), "beside the count"


def test_threads_contend_for_the_pending_signals_of_their_process() -> None:
    both_sets, own_set = (rate("kernel/sigpending", 8, asked=a, ops=60) for a in ("both", "own"))
    assert own_set > 4 * both_sets


def test_buffers_that_reuse_their_mapping_cause_no_interrupt() -> None:
    remap, repurpose = (
        run("kernel/buffer_cache", 8, recycle=r, ops=20) for r in ("remap", "repurpose")
    )
    assert table(remap, "interrupts") == [[8 * 20] * 8]
    assert table(repurpose, "interrupts") == [[0] * 8]
    assert repurpose.throughput > 5 * remap.throughput


def test_vnodes_that_stay_on_their_list_avoid_contention() -> None:
    moving, passive = (
        rate("kernel/vnode_lists", 8, change=c, ops=40) for c in ("moved", "passive")
    )
    assert passive > 2 * moving


def test_pooled_locks_and_unaligned_page_structures_share_lines() -> None:
    def lines_moved(**layout: object) -> float:
        return lines_per_operation("kernel/page_locks", 8, pages=16, ops=200, **layout)

    separate = lines_moved(locks="own", page_bytes=128)
    assert lines_moved(locks="pool", pool=64) > 1.3 * separate
    assert lines_moved(locks="own", page_bytes=96) > 1.3 * separate


def test_page_structures_with_private_locks_and_lines_move_no_lines() -> None:
    def lines_moved(ops: int) -> float:
        return 8 * ops * lines_per_operation("kernel/page_locks", 8, locks="own", pages=16, ops=ops)

    assert lines_moved(200) < lines_moved(100) + 20


def test_memcached_scales_with_finer_locks_and_sleepers_lose_most() -> None:
    """Compares the locks of three releases by gets of many keys, which then are the bottleneck."""
    fetched = {
        locks: rate("server/memcached", 8, locks=locks, sets=0, keys=50, items=512, ops=400)
        for locks in ("global", "items", "buckets")
    }
    assert fetched["items"] > 1.5 * fetched["global"]
    assert fetched["buckets"] > 1.2 * fetched["items"]


def test_a_set_in_memcached_takes_more_lines_than_a_get() -> None:
    def lines(sets: int) -> float:
        chosen = {"locks": "buckets", "items": 512, "ops": 400, "sets": sets}
        return lines_per_operation("server/memcached", 8, **chosen)

    assert lines(100) > lines(0) + 5, "the lock, the list's ends, two neighbours, two allocators"


LATER_POSTGRES = {"relations": "own", "transactions": "own", "messages": "flag"}


def test_postgres_waits_for_the_partitions_of_its_two_relations() -> None:
    def queries(relations: str) -> float:
        chosen = {"pages": 256, "ops": 40, "work": "4us", "relations": relations}
        return rate("server/postgres", 8, **chosen)

    assert queries("own") > 1.3 * queries("shared")


def test_pins_by_compare_and_swap_move_fewer_lines_of_the_root_page() -> None:
    def lines(**chosen: object) -> float:
        chosen = {"pages": 256, "ops": 40, "work": "4us", **LATER_POSTGRES, **chosen}
        return lines_per_operation("server/postgres", 8, **chosen)

    assert lines(lwlock="atomic", pins="atomic") < 0.95 * lines(lwlock="spin", pins="spin")

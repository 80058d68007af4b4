"""Do the layout workloads show costs that depend only on the addresses of data?"""

from __future__ import annotations

from uncore import api
from uncore.result import Point


def run(workload: str, threads: int, seeds: tuple[int, ...] = (1,), **parameters: object) -> Point:
    values = {name: str(value) for name, value in parameters.items()}
    return api.run("epyc7601x2", workload, (threads,), parameters=values, seeds=seeds).points[0]


def transfers_of(point: Point, name_part: str) -> int:
    """Returns the transfers of all lines whose names contain `name_part`."""
    names = dict(point.names)
    return sum(count for line, count in point.lines or [] if name_part in names.get(line, ""))


def test_fields_on_separate_lines_do_not_slow_each_other() -> None:
    same_line, separate_lines = (
        run("layout/false_sharing", 8, ops=4000, distance=d) for d in (8, 64)
    )
    assert transfers_of(same_line, "count") > 100
    assert transfers_of(separate_lines, "count") + transfers_of(
        separate_lines, "limit"
    ) < 0.06 * transfers_of(same_line, "count")
    assert separate_lines.elapsed_ps < 0.8 * same_line.elapsed_ps


def test_per_thread_counter_scales_unless_its_parts_share_lines() -> None:
    one_thread = run("counter/percpu", 1, (), ops=1000)
    packed, separate = (run("counter/percpu", 16, (), ops=1000, distance=d) for d in (8, 64))
    assert separate.elapsed_ps < 1.3 * one_thread.elapsed_ps < 0.5 * packed.elapsed_ps


def test_each_further_line_makes_a_locked_structure_slower() -> None:
    """The harts are on two dies. Within one die, too many other effects decide how two complexes
    share a queue.
    """
    first, second, third = (
        run("layout/hot_structure", 32, lines=n, ops=100).elapsed_ps for n in (1, 2, 3)
    )
    assert first < second < third
    assert 1.2 < third / second < 1.5


def test_list_fetches_one_line_per_element_and_array_a_quarter_of_a_line() -> None:
    """Caches are cold, so all elements are fetched from memory."""
    array, linked = (
        run("layout/traversal", 1, shape=shape, ops=1, elements=1024).transfers or {}
        for shape in ("array", "list")
    )
    assert 700 < linked["memory"] - array["memory"] < 800

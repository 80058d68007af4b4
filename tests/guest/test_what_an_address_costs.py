"""Do the layout workloads show their subject: a cost that depends on addresses alone?"""

from __future__ import annotations

from uncore import api
from uncore.result import Point


def run(workload: str, threads: int, seeds: tuple[int, ...] = (1,), **parameters: object) -> Point:
    values = {name: str(value) for name, value in parameters.items()}
    return api.run("epyc7601x2", workload, (threads,), parameters=values, seeds=seeds).points[0]


def moved(point: Point, what: str) -> int:
    """Returns the transfers of lines whose names contain `what`."""
    names = dict(point.names)
    return sum(count for line, count in point.lines or [] if what in names.get(line, ""))


def test_fields_on_lines_of_their_own_do_not_disturb_each_other() -> None:
    near, far = (run("layout/false_sharing", 8, ops=1000, distance=d) for d in (8, 64))
    assert moved(near, "count") > 100
    assert moved(far, "count") + moved(far, "limit") < 0.06 * moved(near, "count")
    assert far.elapsed_ps < 0.8 * near.elapsed_ps


def test_a_counter_in_parts_scales_unless_parts_share_lines() -> None:
    alone = run("counter/percpu", 1, (), ops=1000)
    packed, apart = (run("counter/percpu", 16, (), ops=1000, distance=d) for d in (8, 64))
    assert apart.elapsed_ps < 1.3 * alone.elapsed_ps < 0.5 * packed.elapsed_ps


def test_each_further_line_makes_a_locked_structure_slower() -> None:
    """The harts are on two dies; how two complexes of one die share a queue depends on too much
    else.
    """
    first, second, third = (
        run("layout/hot_structure", 32, lines=n, ops=100).elapsed_ps for n in (1, 2, 3)
    )
    assert first < second < third
    assert 1.2 < third / second < 1.5


def test_a_list_fetches_a_line_per_element_and_an_array_a_quarter_of_a_line() -> None:
    """Caches are cold: the elements come from memory, and a few lines that both variants touch."""
    array, linked = (
        run("layout/traversal", 1, shape=shape, ops=1, elements=1024).transfers or {}
        for shape in ("array", "list")
    )
    assert 700 < linked["memory"] - array["memory"] < 800

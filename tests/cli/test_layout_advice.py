"""Does the advice on layout separate fields only if separate lines would save misses?"""

from __future__ import annotations

from uncore.result.observed import Line, Observed, Others, Use
from uncore.result.sharing import OUTSIDE_INTEREST, costs

A, B = (0, 8), (8, 8)  # two fields: (offset, size)


def use(hart: int, *, read: tuple[int, int] | None = None, written=None, kind=0) -> Use:
    return Use(
        pc=0, function="", source="", kind=kind, harts=[hart], reads=1, writes=0, misses=1,
        needless=1, waited_ps=10, needless_ps=10,
        read=[read] if read else [], written=[written] if written else [],
    )  # fmt: skip


def groups_to_separate(*uses: Use) -> list[list[str]]:
    """Returns the groups of fields that should not share the line."""
    line = Line(
        address=0, fields=[(*A, "a"), (*B, "b")], transfers={}, taken=[], invalidations=0,
        uses=list(uses),
    )  # fmt: skip
    observed = Observed(threads=2, hart_ps=100, waited_ps=20, lines=[line], others=Others())
    return [group.fields for group in costs(observed)[0].apart]


def test_fields_of_different_harts_are_separated_if_one_is_written() -> None:
    assert groups_to_separate(use(0, written=A), use(1, read=B)) == [["a"], ["b"]]


def test_fields_that_are_only_read_may_share_a_line() -> None:
    assert groups_to_separate(use(0, read=A), use(1, read=B)) == []


def test_fields_used_by_the_same_harts_may_share_a_line() -> None:
    assert groups_to_separate(use(0, written=A), use(0, read=B)) == []


def test_advice_ignores_writes_outside_the_region_of_interest() -> None:
    assert (
        groups_to_separate(use(0, written=A, kind=OUTSIDE_INTEREST), use(0, read=A), use(1, read=B))
        == []
    )

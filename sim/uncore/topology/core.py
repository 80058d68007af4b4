"""Reads the table `[core]`, which has a core's costs and the sizes of its private caches."""

from __future__ import annotations

from uncore.topology import units
from uncore.topology.machine import Core
from uncore.topology.schema import MAX_COUNT
from uncore.topology.table_reader import Table


def sets_and_ways(cache: Table) -> tuple[int, int]:
    """Returns the sets and the ways of a cache, from its table with `size` and `ways`."""
    ways, line = cache.count("ways"), cache.key_record.line
    sets, remainder = divmod(cache.size("size"), line * ways)
    if remainder or not sets:
        raise cache.wrong(
            "size",
            f"'{cache.key}': {cache.text('size')} is no whole number of sets of {ways} lines of"
            f" {line}B; expected a multiple of {line * ways}B",
        )
    if sets > MAX_COUNT:
        raise cache.wrong(
            "size",
            f"'{cache.key}': {sets} sets; expected at most {MAX_COUNT}: more ways, or less size",
        )
    return sets, ways


def read_core(table: Table, threads: int) -> Core:
    # The key is read only so that it counts as known; load.py uses its value in place of `clock`.
    table.read("measured_clock", units.frequency, None)
    l1, l2 = table.table("l1"), table.table("l2")
    if l1 is None or l2 is None:
        raise table.absent("l1" if l1 is None else "l2")
    has_l2 = l2.text("size") != "none"
    l1_sets, l1_ways = sets_and_ways(l1)
    l2_sets, l2_ways = sets_and_ways(l2) if has_l2 else (0, 0)
    atomics = table.word("atomics")
    core = table.part(
        Core,
        far_atomics=atomics != "near",
        far_owned=atomics == "far",
        l1_sets=l1_sets,
        l1_ways=l1_ways,
        l2_sets=l2_sets,
        l2_ways=l2_ways,
        **({} if has_l2 else {"l2_hit": 0}),
    )
    if core.store_buffer < threads:
        raise table.wrong(
            "store_buffer",
            f"'{table.name('store_buffer')} = {core.store_buffer}': expected at least one entry for"
            f" each of {threads} threads",
        )
    return core

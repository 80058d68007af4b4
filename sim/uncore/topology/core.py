"""The tables `[core]` and `[interrupt]`: costs of a core with its private caches, and of an IPI."""

from __future__ import annotations

from uncore.topology.fabric import ps
from uncore.topology.machine import LARGEST, Core, Interrupt
from uncore.topology.table import Table

LINE = 64  # bytes
MOST_WAYS = 1 << 20


def sets_and_ways(cache: Table, largest: int = MOST_WAYS) -> tuple[int, int]:
    """Of a cache given as a table of `size` and `ways`."""
    ways = cache.count("ways", 1, largest)
    sets, rest = divmod(cache.size("size"), LINE * ways)
    if rest or not sets:
        raise cache.wrong(
            "size",
            f"'{cache.key}': {cache.text('size')} is no whole number of sets of {ways} lines of"
            f" {LINE}B; expected a multiple of {LINE * ways}B",
        )
    if sets > LARGEST:
        raise cache.wrong(
            "size",
            f"'{cache.key}': {sets} sets; expected at most {LARGEST}: more ways, or less size",
        )
    return sets, ways


def read_core(table: Table, threads: int) -> Core:
    l1, l2 = table.table("l1"), table.table("l2")
    if l1 is None or l2 is None:
        raise table.absent("l1" if l1 is None else "l2")
    has_l2 = l2.text("size") != "none"
    l1_sets, l1_ways = sets_and_ways(l1)
    l2_sets, l2_ways = sets_and_ways(l2) if has_l2 else (0, 0)
    l2.branch.asked.update(("ways", "latency"))  # "none" may stand over an inherited one
    instruction = ps(table.duration("instruction"))
    if not instruction:
        raise table.wrong(
            "instruction",
            f"'{table.name('instruction')} = {table.text('instruction')}': time would stand still"
            " in a loop;"
            " expected at least 1ps, such as 0.25ns",
        )
    return Core(
        instruction=instruction,
        mispredict=ps(table.duration("mispredict")),
        pause=ps(table.duration("pause")),
        l1_hit=ps(l1.duration("latency")),
        l2_hit=ps(l2.duration("latency")) if has_l2 else 0,
        l1_sets=l1_sets,
        l1_ways=l1_ways,
        l2_sets=l2_sets,
        l2_ways=l2_ways,
        atomic=ps(table.duration("atomic")),
        hold=ps(table.duration("hold")),
        store_buffer=table.count("store_buffer", threads, 4096),
        smt_share=ps(table.share("smt_share") * 1000),
        lr_exclusive=table.word("lr", ("exclusive", "shared")) == "exclusive",
        far_atomics=table.word("atomics", ("near", "far")) == "far",
    )


def read_interrupt(table: Table) -> Interrupt:
    return Interrupt(
        send=ps(table.duration("send")),
        accept=ps(table.duration("accept")),
        entry=ps(table.duration("entry")),
        exit=ps(table.duration("exit")),
        multicast=table.word("multicast", ("yes", "no")) == "yes",
    )

"""Does each rule on memory-side caches (M2) hold?

Small machines, whole nanoseconds, exact expectations, like test_rules_of_messages.py.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.line import NS, ONE_WAY, SET_STRIDE, A, B, H, line, way
from tests.support.plans import Do, Step, at, steps, words
from tests.support.rule_costs import LOAD, MEMORY, SERVICE, fetch
from tests.support.runs import guest, job, point

import uncore
from uncore.errors import UserError
from uncore.topology import load
from uncore.topology.machine import Machine
from uncore.topology.show import tree_text

HIT = 40
FAR = HIT + MEMORY  # latency of a line that the cache does not have


def cached(ways: int = 1, sets: int = 1, **memory: int) -> Machine:
    """Returns a machine whose core caches have one line per set, so that any other line of the set
    comes from memory.
    """
    numbers = {"cache_sets": sets, "cache_ways": ways, "cache_hit": HIT * NS, **memory}
    return line(core=ONE_WAY, memory=numbers)


def from_memory(machine: Machine, lines: str) -> list[int]:
    """Returns memory's part of the cost of each of A's loads; all lines share a set of A's
    cache.
    """
    plan = [Step(1000 * (n + 1), Do.LOAD, int(place)) for n, place in enumerate(lines)]
    return [
        span.cost - (fetch(A) - MEMORY + LOAD)
        for span in steps(machine, [plan], stride=SET_STRIDE)[0]
    ]


@pytest.mark.parametrize(
    ("ways", "sets", "lines", "took"),
    [
        (2, 1, "010", [FAR, FAR, HIT]),
        (1, 1, "010", [FAR, FAR, FAR]),
        # line 2 replaces 1, and line 1 replaces 0
        (2, 1, "0102101", [FAR, FAR, HIT, FAR, FAR, FAR, HIT]),
        (1, 3, "01020", [FAR, FAR, HIT, FAR, HIT]),  # each line has a set of its own
        (1, 3, "03031", [FAR, FAR, FAR, FAR, FAR]),  # two lines share a set
    ],
)
def test_line_in_memory_side_cache_is_answered_by_it(
    ways: int, sets: int, lines: str, took: list[int]
) -> None:
    """M2.2 to M2.4: on a miss, memory is read after the cache's lookup; the least recently used
    line is evicted.
    """
    assert from_memory(cached(ways, sets), lines) == took


def test_line_written_back_is_in_the_memory_side_cache() -> None:
    """M2.4: A's line is written back, and replaces the one that was read from memory."""
    plan = [at(1000, Do.AMO, 0), at(2000, Do.LOAD, 1), at(3000, Do.LOAD, 0)]
    assert steps(cached(), [plan], stride=SET_STRIDE)[0][2].cost == fetch(A) - MEMORY + HIT + LOAD


@pytest.mark.parametrize("do", [Do.LOAD, Do.AMO])
def test_dirty_line_evicted_from_the_cache_occupies_the_memory_channel(do: Do) -> None:
    """M2.4: B's read waits until memory has been read for A, and the dirty line written."""
    busy = 200
    plan = [at(1000, do, 0), at(2000, Do.LOAD, 1), at(3000, Do.LOAD, 2)]
    later = at(3000 + way("control", A, H) - way("control", B, H) + 7, Do.LOAD, 3)
    spans = steps(cached(busy=busy * NS), [plan, [later]], stride=SET_STRIDE)
    before = 2 * busy if do is Do.AMO else busy
    assert spans[1][0].cost == fetch(B) - MEMORY + FAR + before - 7 + LOAD


@pytest.mark.parametrize("later", [0, 49, 50, 51])
def test_read_occupies_the_channel_of_the_memory_side_cache(later: int) -> None:
    """M2.1: the second read waits for the channel, not for the latency."""
    gap = SERVICE + later
    head_start = way("control", B, H) - way("control", A, H)
    plans = [[at(1000 + head_start + gap, Do.LOAD, 0)], [at(1000, Do.LOAD, 1)]]
    spans = steps(line(memory={"cache_sets": 64, "cache_ways": 1, "cache_busy": 50 * NS}), plans)
    assert spans[1][0].cost == fetch(B) + LOAD
    assert spans[0][0].cost == fetch(A) + LOAD + max(50 - gap, 0)


# ---- counted -------------------------------------------------------------------------------------


def uses(machine: Machine, lines: str) -> tuple[int, int]:
    """Returns the hits and misses of a run with A's loads of these lines."""
    plan = [Step(1000 * (n + 1), Do.LOAD, int(place)) for n, place in enumerate(lines)]
    outcome = point(machine, guest("plan"), 1, **words([plan]), stride=SET_STRIDE)
    ((node, hits, misses),) = outcome["memory_caches"]
    assert node == "node0"
    return hits, misses


@pytest.mark.parametrize(("lines", "more", "hits"), [("01", "0", 1), ("010", "2101", 1)])
def test_hits_and_misses_are_counted(lines: str, more: str, hits: int) -> None:
    before, after = uses(cached(2), lines), uses(cached(2), lines + more)
    assert (after[0] - before[0], after[1] - before[1]) == (hits, len(more) - hits)


@pytest.mark.parametrize("engine", ["native", "reference"])
def test_memory_nodes_with_a_cache_have_result_columns(tmp_path: Path, engine: str) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('extends = "knl7210"\n[memory.mcdram]\n' + FORM)
    (row,) = uncore.run(
        str(file), "lock/mcs", threads=2, ops=4, home="mcdram", seeds=(1,), engine=engine
    ).to_rows()
    hits, misses = (row[f"memory_caches.node1.{what}"] for what in ("hits", "misses"))
    assert misses > 0 and row["memory_cache_hits_ppm"] == hits * 10**6 // (hits + misses)
    assert "memory_caches.node0.hits" not in row


# ---- in a machine file ---------------------------------------------------------------------------

FORM = 'cache = "1MiB 4-way 40ns"\n'
SMALL_CACHE = "memory.cache=1MiB 4-way 40ns"


def cache(machine: Machine, node: int = 0) -> tuple[int, int, int, int]:
    memory = machine.memories[node]
    return memory.cache_sets, memory.cache_ways, memory.cache_hit, memory.cache_busy


def test_memory_side_cache_is_read_in_its_short_form() -> None:
    assert cache(load("ring", [SMALL_CACHE])) == (4096, 4, 40 * NS, 0)
    rate = "memory.cache.bandwidth=64GB/s"
    assert cache(load("ring", [SMALL_CACHE, rate, "line=128B"])) == (2048, 4, 40 * NS, 2 * NS)
    assert "1 memory node behind 1 MiB 4-way" in tree_text(load("ring", [SMALL_CACHE]))


def test_kind_of_memory_inherits_the_cache_or_has_none(tmp_path: Path) -> None:
    text = 'extends = "knl7210"\n[memory]\ncache = "1MiB 4-way 40ns"\n'
    text += '[memory.mcdram]\nlatency = "50ns"\n'
    file = tmp_path / "mine.toml"
    file.write_text(text)
    assert cache(load(str(file)), 1) == (4096, 4, 40 * NS, 0)
    file.write_text(text + 'cache = "none"\n')
    machine = load(str(file))
    assert (cache(machine, 0)[0], cache(machine, 1)[0]) == (4096, 0)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("memory.cache.size=1MiB", "lacks 'latency', 'ways'"),
        ("memory.cache=1000B 4-way 40ns", "no whole number of sets of 4 lines of 64B"),
        ("memory.cache=1MiB", 'expected size, ways and latency of a cache, like "32KiB 8-way 4cy"'),
        ("memory.cache.hit=4ns", "unknown key 'memory.cache.hit'"),
    ],
)
def test_wrong_memory_side_cache_is_refused(words: str, message: str) -> None:
    with pytest.raises(UserError, match=message.replace("[", r"\[")):
        load("ring", [words])


def test_hash_of_a_machine_without_memory_side_caches_is_unchanged() -> None:
    document = job(load("ring"), "lock/mcs", 2).document()["machine"]
    assert not any(key.startswith("cache") for node in document["memories"] for key in node)
    document = job(load("ring", [SMALL_CACHE]), "lock/mcs", 2).document()["machine"]
    assert document["memories"][0]["cache_hit"] == 40 * NS

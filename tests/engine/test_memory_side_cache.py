"""Does each rule on memory-side caches (M2) hold?

Machines are small, all latencies are whole nanoseconds, and expectations are exact.
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
MISS = HIT + MEMORY  # latency of a line that is not in the cache


def cached(ways: int = 1, sets: int = 1, **memory: int) -> Machine:
    """Returns a machine whose core caches have one line per set, so that any other line of the set
    comes from memory.
    """
    numbers = {"cache_sets": sets, "cache_ways": ways, "cache_hit": HIT * NS, **memory}
    return line(core=ONE_WAY, memory=numbers)


def from_memory(machine: Machine, lines: str) -> list[int]:
    """Returns the part that memory contributes to the cost of each of A's loads. All lines fall
    into one set of A's own cache.
    """
    plan = [Step(1000 * (n + 1), Do.LOAD, int(place)) for n, place in enumerate(lines)]
    return [
        span.cost - (fetch(A) - MEMORY + LOAD)
        for span in steps(machine, [plan], stride=SET_STRIDE)[0]
    ]


@pytest.mark.parametrize(
    ("ways", "sets", "lines", "latencies"),
    [
        (2, 1, "010", [MISS, MISS, HIT]),
        (1, 1, "010", [MISS, MISS, MISS]),
        # line 2 replaces line 1, and line 1 replaces line 0
        (2, 1, "0102101", [MISS, MISS, HIT, MISS, MISS, MISS, HIT]),
        (1, 3, "01020", [MISS, MISS, HIT, MISS, HIT]),  # each line has a set of its own
        (1, 3, "03031", [MISS, MISS, MISS, MISS, MISS]),  # two lines share a set
    ],
)
def test_read_of_a_line_in_the_memory_side_cache_takes_the_caches_latency(
    ways: int, sets: int, lines: str, latencies: list[int]
) -> None:
    """M2.2 to M2.4: a miss looks up the cache and then reads memory. The least recently used line
    is evicted.
    """
    assert from_memory(cached(ways, sets), lines) == latencies


def test_line_written_back_is_in_the_memory_side_cache() -> None:
    """M2.4: A's line is written back, and replaces the one that was read from memory."""
    plan = [at(1000, Do.AMO, 0), at(2000, Do.LOAD, 1), at(3000, Do.LOAD, 0)]
    assert steps(cached(), [plan], stride=SET_STRIDE)[0][2].cost == fetch(A) - MEMORY + HIT + LOAD


@pytest.mark.parametrize("do", [Do.LOAD, Do.AMO])
def test_dirty_line_evicted_from_the_cache_occupies_the_memory_channel(do: Do) -> None:
    """M2.4: B's read waits until memory has been read for A and the dirty line has been written."""
    busy = 200
    plan = [at(1000, do, 0), at(2000, Do.LOAD, 1), at(3000, Do.LOAD, 2)]
    later = at(3000 + way("control", A, H) - way("control", B, H) + 7, Do.LOAD, 3)
    spans = steps(cached(busy=busy * NS), [plan, [later]], stride=SET_STRIDE)
    before = 2 * busy if do is Do.AMO else busy
    assert spans[1][0].cost == fetch(B) - MEMORY + MISS + before - 7 + LOAD


@pytest.mark.parametrize("later", [0, 49, 50, 51])
def test_read_occupies_the_channel_of_the_memory_side_cache(later: int) -> None:
    """M2.1: the second read waits for the channel, not for the latency."""
    gap = SERVICE + later
    head_start = way("control", B, H) - way("control", A, H)
    plans = [[at(1000 + head_start + gap, Do.LOAD, 0)], [at(1000, Do.LOAD, 1)]]
    spans = steps(line(memory={"cache_sets": 64, "cache_ways": 1, "cache_busy": 50 * NS}), plans)
    assert spans[1][0].cost == fetch(B) + LOAD
    assert spans[0][0].cost == fetch(A) + LOAD + max(50 - gap, 0)


# ---- hits and misses -----------------------------------------------------------------------------


def hits_and_misses(machine: Machine, lines: str) -> tuple[int, int]:
    """Runs A's loads of these lines. Returns the hits and misses of the memory-side cache."""
    plan = [Step(1000 * (n + 1), Do.LOAD, int(place)) for n, place in enumerate(lines)]
    outcome = point(machine, guest("plan"), 1, **words([plan]), stride=SET_STRIDE)
    ((node, hits, misses),) = outcome["memory_caches"]
    assert node == "node0"
    return hits, misses


@pytest.mark.parametrize(("lines", "further_lines", "hits"), [("01", "0", 1), ("010", "2101", 1)])
def test_hits_and_misses_of_the_memory_side_cache_are_counted(
    lines: str, further_lines: str, hits: int
) -> None:
    before, after = (
        hits_and_misses(cached(2), lines),
        hits_and_misses(cached(2), lines + further_lines),
    )
    assert (after[0] - before[0], after[1] - before[1]) == (hits, len(further_lines) - hits)


@pytest.mark.parametrize("engine", ["native", "reference"])
def test_memory_nodes_with_a_cache_have_result_columns(tmp_path: Path, engine: str) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('extends = "knl7210"\n[memory.mcdram]\n' + CACHE_KEY)
    (row,) = uncore.run(
        str(file), "lock/mcs", threads=2, ops=4, home="mcdram", seeds=(1,), engine=engine
    ).to_rows()
    hits, misses = (row[f"memory_caches.node1.{count}"] for count in ("hits", "misses"))
    assert misses > 0 and row["memory_cache_hits_ppm"] == hits * 10**6 // (hits + misses)
    assert "memory_caches.node0.hits" not in row


# ---- in a machine file ---------------------------------------------------------------------------

CACHE_KEY = 'cache = "1MiB 4-way 40ns"\n'
SMALL_CACHE = "memory.cache=1MiB 4-way 40ns"


def cache(machine: Machine, node: int = 0) -> tuple[int, int, int, int]:
    memory = machine.memories[node]
    return memory.cache_sets, memory.cache_ways, memory.cache_hit, memory.cache_busy


def test_memory_side_cache_may_be_given_as_size_ways_and_latency() -> None:
    assert cache(load("ring", [SMALL_CACHE])) == (4096, 4, 40 * NS, 0)
    rate = "memory.cache.bandwidth=64GB/s"
    assert cache(load("ring", [SMALL_CACHE, rate, "line=128B"])) == (2048, 4, 40 * NS, 2 * NS)
    assert "1 memory node behind 1 MiB 4-way" in tree_text(load("ring", [SMALL_CACHE]))


def test_kind_of_memory_inherits_the_memory_side_cache_unless_it_states_none(
    tmp_path: Path,
) -> None:
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


def test_document_of_a_machine_without_memory_side_caches_has_no_cache_keys() -> None:
    """Such a machine keeps the hash that it had before the keys existed."""
    document = job(load("ring"), "lock/mcs", 2).document()["machine"]
    assert not any(key.startswith("cache") for node in document["memories"] for key in node)
    document = job(load("ring", [SMALL_CACHE]), "lock/mcs", 2).document()["machine"]
    assert document["memories"][0]["cache_hit"] == 40 * NS

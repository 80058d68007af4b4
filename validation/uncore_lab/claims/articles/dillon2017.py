"""Dillon 2017: a global counter and page faults of DragonFly on two Xeons."""

from __future__ import annotations

from functools import partial

from uncore_lab.claims.amounts import Curve
from uncore_lab.claims.claim import Run, claim
from uncore_lab.claims.ranges import about, because, figure, stated


@claim(
    "a global counter that all cores increment takes them 1 to 2 us an increment",
    source="Dillon 2017, (3); here 2x EPYC 7601, all threads",
    figures=[125],
    expected=stated(1000, 2000),
    unit="ns",
    runs={"counter": Run(machine="epyc7601x2", workload="counter/atomic", threads="128")},
    reason=(
        "twice what it is with one thread a core (1.5 us), because additions of two threads"
        " of a core exclude each other and both wait for all others; the claim does not say"
        " how many threads counted"
    ),
)
def counter_epyc(counter: Curve) -> float:
    return counter.point.time


@claim(
    "a global counter that all cores increment takes them 1 to 2 us an increment",
    source="Dillon 2017, (3); here 4x Opteron 6168, all cores",
    figures=[125],
    expected=stated(1000, 2000),
    unit="ns",
    runs={"counter": Run(machine="opteron6168x4", workload="counter/atomic", threads="48")},
)
def counter_opteron(counter: Curve) -> float:
    return counter.point.time


@claim(
    "a global counter that all cores increment takes them 1 to 2 us an increment",
    source="Dillon 2017, (3); here 2x Xeon 8160, all threads",
    figures=[125],
    expected=stated(1000, 2000),
    unit="ns",
    runs={"counter": Run(machine="x8160x2", workload="counter/atomic", threads="96")},
    reason=(
        "twice what it is with one thread a core (1.3 us), because additions of two threads"
        " of a core exclude each other and both wait for all others; the claim does not say"
        " how many threads counted"
    ),
)
def counter_xeon(counter: Curve) -> float:
    return counter.point.time


# `work`: without contention a fault takes a thread 5.7 us (32 threads handle 5.6 million faults per
# second).
LISTS_RUN = partial(Run, machine="e52620v4x2", workload="kernel/page_fault", threads="32")
LISTS = {
    "percpu": LISTS_RUN(set={"queues": "percpu", "work": 33000, "ops": 20}),
    "shared": LISTS_RUN(set={"queues": "global", "work": 33000, "ops": 20}),
}


@claim(
    "zero-fill page faults of 32 threads on two Xeons of eight cores: 2.8 to 3.7 times as"
    " many without shared page lists",
    source="Dillon 2017, (3): 1.5 to 2 M/s before, 5.6 M/s after",
    figures=[126, 127],
    expected=stated(5.6 / 2, 5.6 / 1.5),
    unit="x",
    neutral=1,
    fitted=["work"],
    runs=LISTS,
    reason=(
        "the skeleton's one list has one lock, and every release is seen by all 31 that"
        " wait; DragonFly's lists were a pool of coloured queues already, and what it lost"
        " then were counters and structures that shared lines"
    ),
)
def fault_dragonfly_gain(percpu: Curve, shared: Curve) -> float:
    return percpu.point.throughput / shared.point.throughput


# `work` was fitted to the Xeons' rate, as above, and not to the Opterons'.
OPTERONS = {
    "opterons": Run(
        machine="opteron6168x4",
        workload="kernel/page_fault",
        threads="48",
        set={"queues": "percpu", "work": 33000, "ops": 20},
    )
}


@claim(
    "zero-fill page faults of 48 Opteron cores without shared page lists: something like 4.7"
    " million a second",
    source="Dillon 2017, (3): four sockets, 48 cores; here 4x Opteron 6168 of 1.9 GHz",
    figures=[128],
    expected=about(4.7),
    unit="M/s",
    fitted=["work"],
    runs=OPTERONS,
    reason=(
        "nobody waits for anybody: with the instructions of a fault that the two Xeons' rate"
        " implies, clock and instructions a cycle of the other machine, both of them estimates,"
        " make the rate. Filling the page takes a hundredth of it. With one list for all it is 0.34"
    ),
)
def fault_opteron(opterons: Curve) -> float:
    return opterons.point.throughput / 1e6


# `life`, `stay`: every other program is moved, in the middle of its life, to a hart drawn at
# random.
PROGRAMS_RUN = partial(Run, machine="e52620v4x2", workload="sched/migrate", threads="32")
PROGRAMS = {
    "here": PROGRAMS_RUN(
        set={"life": 8, "stay": 16, "memory": "here", "lines": 16, "ops": 4000},
    )
}


@claim(
    "with a NUMA-aware allocator, short programs access local memory 5 to 10 times as often as"
    " remote memory",
    source="Dillon 2017, (4): a bulk build",
    figures=[132],
    expected=stated(5, 10),
    unit="local to remote",
    fitted=["life", "stay"],
    runs=PROGRAMS,
    reason=(
        "the remote accesses are those of programs that were moved off the node where they began;"
        " how often the scheduler does that is not stated, and decides the figure: memory from all"
        " nodes in turn gives 1:1 however often"
    ),
)
def numa_after(here: Curve) -> float:
    return here.point.cell("accesses", 0, 0) / here.point.cell("accesses", 0, 1)


# `work`: a fault that only maps a page takes a thread 1.9 us (32 threads handle 17 million faults
# per second).
FILLING_RUN = partial(Run, machine="e52620v4x2", workload="kernel/page_fault", threads="32")
FILLING = {
    "mapped": FILLING_RUN(set={"queues": "percpu", "zero": "0", "work": 11000, "ops": 400}),
    # `frames` is larger than what a task fills in the run, so every page comes from memory.
    "filled": FILLING_RUN(set={"queues": "percpu", "work": 11000, "frames": 64, "ops": 40}),
}


@claim(
    "faults that only map a page, 32 threads on two Xeons of eight cores: three times those"
    " that fill it",
    source="Dillon 2017, (3): 17 M/s against 5.6 M/s",
    figures=[129],
    expected=figure(17 / 5.6),
    unit="x",
    neutral=1,
    fitted=["work"],
    runs=FILLING,
    reason=(
        "pages come from memory and take 0.3 us to fill, 0.5 where others must go back there for"
        " them; by measurement a filled fault takes 3.8 us more, at a fifth of what the channels"
        " give. The test that only mapped had its pages in files already: it allocated, queued and"
        " freed none, which the skeleton does in both, and whose private work no article states"
    ),
)
def fault_dragonfly_mapped(mapped: Curve, filled: Curve) -> float:
    return mapped.point.throughput / filled.point.throughput


@claim(
    "and without a collision: no fault waits for a line of another core",
    source="Dillon 2017, (3)",
    figures=[130],
    expected=because(0, 0.1, "none in ten faults"),
    unit="lines a fault",
    fitted=["work"],
    runs=FILLING,
    reason="what is left are first touches",
)
def fault_dragonfly_collisions(mapped: Curve) -> float:
    return (
        mapped.point.fetched("core")
        + mapped.point.fetched("socket")
        + mapped.point.fetched("system")
    )


@claim(
    "without a NUMA-aware allocator half of the pages are far: local to remote 1:1",
    source="Dillon 2017, (4)",
    figures=[131],
    expected=about(1),
    unit="local to remote",
    fitted=["work"],
    runs=LISTS,
    reason="the share of far pages does not depend on the work of a fault",
)
def fault_numa_before(shared: Curve) -> float:
    return shared.point.typical("taken", 0) / shared.point.typical("taken", 1)

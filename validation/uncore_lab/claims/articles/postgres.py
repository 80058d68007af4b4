"""Rates of PostgreSQL's `pgbench -S`: posts of those who changed its locks.

Macy (2018) names PostgreSQL among the programs that he would have measured, and gives no figure.
"""

from __future__ import annotations

from functools import partial

from uncore_lab.claims.amounts import Curve
from uncore_lab.claims.claim import Run, claim
from uncore_lab.claims.ranges import about, figure

# The server of 24 cores is not named: here half of four Opteron 6168. `work` is the time that one
# client needs for a query (4,300 a second), so it comes from the post.
FAST_PATH_RUN = partial(
    Run, machine="opteron6168x4", workload="server/postgres", threads="24", home="addressed"
)
FAST_PATH: dict[str, str | int] = {"work": "230us", "duration": "10ms"}
HAAS = {
    "one": FAST_PATH_RUN(set=FAST_PATH | {"clients": 1}),
    "shared": FAST_PATH_RUN(set=FAST_PATH | {"clients": 36}),
    "own": FAST_PATH_RUN(set=FAST_PATH | {"clients": 36, "relations": "own"}),
}


@claim(
    "notes of relation locks in a backend's own entry: 3.5 times as many queries, 36 clients on 24"
    " cores",
    source="Haas 2011, Read scaling out to 32 cores",
    figures=[198, 199],
    expected=about(3.5),
    unit="x",
    neutral=1,
    fitted=["work"],
    runs=HAAS,
    reason=(
        "the partition of a relation is busy for a fifth of the time here. A backend that loses its"
        " core with the partition's lock held keeps all others waiting, and pgbench's processes,"
        " which the skeleton lacks, take the cores of woken ones"
    ),
)
def postgres_fast_path(own: Curve, shared: Curve) -> float:
    return own.point.throughput / shared.point.throughput


@claim(
    "36 clients on 24 cores make 8.4 times the queries of one client, with 9.1's lock manager",
    source="Haas 2011, Read scaling out to 32 cores",
    figures=[196, 197],
    expected=figure(36000 / 4300),
    unit="x",
    neutral=1,
    fitted=["work"],
    runs=HAAS,
    reason="as postgres-fast-path",
)
def postgres_manager(shared: Curve, one: Curve) -> float:
    return shared.point.throughput / one.point.throughput


# Korotkov names no machine in the post; four sockets of Haswell-EX are those of his company's
# benchmarks. `work` is the highest rate, 1.722 million a second on 144 threads, less what
# a query takes beside it.
PINS_RUN = partial(Run, machine="e78890v3x4", workload="server/postgres")
PINS: dict[str, str | int] = {
    "relations": "own",
    "transactions": "own",
    "messages": "flag",
    "lwlock": "atomic",
    "partitions": 128,
    "entries": "packed",
    "work": "75us",
    "warmup": "1ms",
    "duration": "2ms",
}
NEW_PINS = PINS | {"pins": "atomic", "lwlock_bytes": 128}
KOROTKOV = {
    "spin": PINS_RUN(threads="60,84,110", set=PINS | {"pins": "spin"}),
    "atomic": PINS_RUN(threads="84,110,144", set=NEW_PINS),
    "aligned": PINS_RUN(threads="144", set=NEW_PINS | {"entries": "aligned"}),
}


@claim(
    "buffers pinned by compare-and-swap instead of a spin lock: 1,064,000 queries a second at best"
    " instead of 540,000",
    source="Korotkov 2016, PostgreSQL scalability: towards millions TPS",
    figures=[202, 204],
    expected=figure(1064 / 540),
    unit="x",
    neutral=1,
    fitted=["work"],
    runs=KOROTKOV,
    reason="nothing limits compare-and-swap up to 144 hardware threads here; there 110 clients did",
)
def postgres_pins(atomic: Curve, spin: Curve) -> float:
    return atomic.best / spin.best


@claim(
    "with spin locks for pins (9.5), 60 clients make the most queries",
    source="Korotkov 2016, PostgreSQL scalability: towards millions TPS",
    figures=[203],
    expected=figure(60),
    unit="clients",
    fitted=["work"],
    runs=KOROTKOV,
    reason=(
        "asked with 60, 84 and 110 clients: waiters for the root page's spin lock come to sleep for"
        " a millisecond, and throughput falls to a fifth; without a seed that begins above 84"
    ),
)
def postgres_spin_peak(spin: Curve) -> float:
    return spin.peak


@claim(
    "with compare-and-swap for pins (9.6), 110 clients make the most queries",
    source="Korotkov 2016, PostgreSQL scalability: towards millions TPS",
    figures=[205],
    expected=figure(110),
    unit="clients",
    fitted=["work"],
    runs=KOROTKOV,
    reason="nothing falls up to 144 hardware threads here",
)
def postgres_atomic_peak(atomic: Curve) -> float:
    return atomic.peak


@claim(
    "a line for the transaction of each backend instead of five in a line: 1.6 times as many"
    " queries",
    source="Korotkov 2016, PostgreSQL scalability: towards millions TPS",
    figures=[206],
    expected=figure(1722 / 1064),
    unit="x",
    neutral=1,
    fitted=["work"],
    runs=KOROTKOV,
    reason=(
        "each backend changes its entry twice a query, so a snapshot finds each line changed either"
        " way, and with aligned entries there are five times as many; its loop over the entries is"
        " a chain of misses here, where a real core asks for many lines at once"
    ),
)
def postgres_entries(aligned: Curve, atomic: Curve) -> float:
    return aligned.best / atomic.best

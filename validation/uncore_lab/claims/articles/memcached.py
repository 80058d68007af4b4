"""Rates of memcached: release notes of its maintainer, and a paper of Intel.

Macy (2018) names memcached among the programs that he would have measured, and gives no figure.
"""

from __future__ import annotations

from functools import partial

from uncore_lab.claims.amounts import Curve
from uncore_lab.claims.claim import Run, claim
from uncore_lab.claims.ranges import about, exactly, figure, stated

# Private work is the workload's default, which follows from rates of memcached 1.4.13 with four
# threads: 478,000 commands of one key and 3.6 million keys in commands of 50 a second (Dormando,
# gist 3088511, July 2012). Commands of 50 keys are those of his benchmark, mc-crusher. A quad core
# of 2011 is here a socket of X5570, and two sockets of six cores are X5650, one thread a core.
MEMCACHED_RUN = partial(Run, workload="server/memcached", smt=False)
GETS: dict[str, str | int] = {"sets": 0, "keys": 50, "warmup": "4ms", "duration": "4ms"}
SETS: dict[str, str | int] = {
    "sets": 100,
    "command": "3us",
    "warmup": "4ms",
    "duration": "4ms",
}
QUAD_RUN = partial(MEMCACHED_RUN, machine="x5570x2", threads="4")
QUAD = {
    "global_lock": QUAD_RUN(set=GETS | {"locks": "global"}),
    "item_locks": QUAD_RUN(set=GETS | {"locks": "items"}),
    "global_sets": QUAD_RUN(set=SETS | {"locks": "global"}),
    "item_sets": QUAD_RUN(set=SETS | {"locks": "items"}),
}
TWELVE = {
    "items": MEMCACHED_RUN(
        machine="x5650x2", threads="1,2,3,4,5,6,8,12", set=GETS | {"locks": "items"}
    ),
    "buckets": MEMCACHED_RUN(
        machine="x5650x2", threads="6,12,24", smt=True, set=GETS | {"locks": "buckets"}
    ),
}
# Clients of the paper wait for each answer, so a command has one key.
INTEL = {
    "base": MEMCACHED_RUN(
        machine="e52690x2",
        threads="1,2,4,6,8,12,16",
        set={"sets": 0, "keys": 1, "locks": "global", "warmup": "4ms", "duration": "8ms"},
    )
}


@claim(
    "1.6 million keys a second with memcached's one lock, on a quad core",
    source="Dormando 2011, release notes of memcached 1.4.10",
    figures=[188],
    expected=figure(1.6),
    unit="M/s",
    fitted=["work"],
    runs=QUAD,
    reason=(
        "the private work is chosen by a rate of 1.4.13, and most of a key's time; the quad core is"
        " not named; four threads, since the notes compare three to six"
    ),
)
def memcached_global(global_lock: Curve) -> float:
    return global_lock.point.throughput / 1e6


@claim(
    "multigets of memcached 1.4.10, whose locks are by items: 2.3 times those of 1.4.9",
    source="Dormando 2011, release notes of memcached 1.4.10",
    figures=[188, 189],
    expected=about(3.7 / 1.6),
    unit="x",
    neutral=1,
    fitted=["work", "command"],
    runs=QUAD,
    reason="the private work is chosen by a rate of 1.4.13 that is nearly the 3.7 million of here",
)
def memcached_multigets(item_locks: Curve, global_lock: Curve) -> float:
    return item_locks.point.throughput / global_lock.point.throughput


@claim(
    "sets of memcached 1.4.10: 930,000 a second instead of 300,000",
    source="Dormando 2011, release notes of memcached 1.4.10",
    figures=[186, 187],
    expected=about(930 / 300),
    unit="x",
    neutral=1,
    fitted=["command"],
    runs=QUAD,
    reason=(
        "a set takes the lock of the table and the list four times here, as in 1.4.10, and three"
        " threads that try it without a pause move its line while its owner works; `command` is so"
        " short that four threads could make 930,000. Which keys were set, and how, is not stated"
    ),
)
def memcached_sets(item_sets: Curve, global_sets: Curve) -> float:
    return item_sets.point.throughput / global_sets.point.throughput


@claim(
    "memcached 1.4.10 is best with three to six threads; more reduce its speed",
    source="Dormando 2011, release notes of memcached 1.4.10",
    figures=[190],
    expected=stated(3, 6),
    unit="threads",
    fitted=["machine"],
    runs=TWELVE,
    reason=(
        "above six threads the lock moves between sockets, and waiters never pause; but six cores a"
        " socket has the machine that stands for one which the notes do not name"
    ),
)
def memcached_peak(items: Curve) -> float:
    return items.peak


@claim(
    "6 million keys a second with memcached 1.4.10 on a machine of more cores",
    source="Dormando 2011, release notes of memcached 1.4.10",
    figures=[191],
    expected=figure(6),
    unit="M/s",
    runs=TWELVE,
    reason="the machine is not named; here two sockets of six cores, of which one is best",
)
def memcached_more_cores(items: Curve) -> float:
    return items.best / 1e6


@claim(
    "13.6 million keys a second with memcached 1.4.15, two sockets of six cores",
    source="Dormando 2012, release notes of memcached 1.4.15",
    figures=[192],
    expected=about(13.6),
    unit="M/s",
    runs=TWELVE,
    reason=(
        "12 threads make 9.6 million here, and 24 on the same cores nearly twice that, because"
        " siblings do not slow each other's private work down; where the clients ran is not stated"
    ),
)
def memcached_buckets(buckets: Curve) -> float:
    return buckets.best / 1e6


@claim(
    "one lock for all of memcached: above four cores throughput falls",
    source="Intel 2012, Enhancing the Scalability of Memcached",
    figures=[195],
    expected=exactly(4),
    unit="threads",
    runs=INTEL,
    reason=(
        "a command's private work of 7.4 us is mostly the kernel's, whose own locks and interrupts"
        " the skeleton lacks; and a thread that sleeps in futex(2) and is woken costs only its"
        " loads, stores and interrupts here, no entry to the kernel"
    ),
)
def memcached_intel_peak(base: Curve) -> float:
    return base.peak


@claim(
    "one lock for all of memcached: at best a sixth of 3.15 million requests a second",
    source="Intel 2012, Enhancing the Scalability of Memcached",
    figures=[193, 194],
    expected=figure(3.15 / 6),
    unit="M/s",
    runs=INTEL,
    reason="as memcached-intel-peak: four threads make 0.48 million, but eight still make more",
)
def memcached_intel_best(base: Curve) -> float:
    return base.best / 1e6

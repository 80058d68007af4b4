"""Jobs on which two engines are compared: every protocol, shape, placement and policy.

`JOBS` and `MORE_JOBS` map names to Cases, and `make(case)` returns the job. Jobs are small: each
hart executes a few operations, and caches have a few lines, so that evictions, recalls and
writebacks often meet probes.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from uncore import program
from uncore.execution import request
from uncore.job import Job
from uncore.program import Program
from uncore.protocol.tables import PROTOCOLS
from uncore.support import paths
from uncore.topology import load

SUPPORT = Path(__file__).parents[1] / "support"
GUESTS = {
    "delay": SUPPORT / "programs/delay.c",
    "operations": SUPPORT / "programs/operations.c",
    "random": SUPPORT / "programs/random_sharing.c",
    "unaligned": SUPPORT / "programs/unaligned.c",
}
# names of machine files that are not among the shipped ones
MACHINES = {"three-level": str(SUPPORT / "three_levels.toml")}
SHARED_L2 = (  # an L2 shared by a module of small cores, so only cores of one kind have this level
    "core.small.l2=none",
    "module.small.data=inclusive 2MiB 16-way 6cy",
    "module.small.resolver.knows=shadow-tags",
    "module.small.resolver.at=hub",
    "module.small.resolver.reply=via",
    "module.small.resolver.unblock=response",
    "module.small.resolver.service=2cy",
    "module.small.resolver.grants=4",
)
TINY = (2, 2)  # sets and ways of an L2; the L1 has half as many sets


class Case(NamedTuple):
    machine: str
    workload: str
    threads: int
    overrides: tuple[str, ...] = ()
    parameters: tuple[tuple[str, object], ...] = ()
    # options of the job: placement, home, smt, slices and seeds
    options: tuple[tuple[str, Any], ...] = ()
    tiny: bool = False


@cache
def guest(name: str) -> Program:
    return program.compile(GUESTS.get(name, paths.WORKLOADS / f"{name}.c"))


def make(case: Case) -> Job:
    machine = load(MACHINES.get(case.machine, case.machine), case.overrides)
    if case.tiny:
        sets, ways = TINY
        small = {"l1_sets": sets // 2, "l1_ways": ways, "l2_sets": sets, "l2_ways": ways}
        kinds_of_cores = [
            dataclasses.replace(kind, core=dataclasses.replace(kind.core, **small))
            for kind in machine.kinds
        ]
        core = dataclasses.replace(machine.core, **small)
        machine = dataclasses.replace(machine, core=core, kinds=tuple(kinds_of_cores))
    return request.make_job(
        machine,
        guest(case.workload),
        (case.threads,),
        parameters=dict(case.parameters),
        **dict(case.options),
    )


# Variants of resolvers: each kind of data cache and of sharer tracking, both kinds of reply, and
# both kinds of unblock.
VIA, DIRECT = "resolver.reply=via", "resolver.reply=direct"
RESPONSE, COMPLETION = "resolver.unblock=response", "resolver.unblock=completion"
STRUCTURES = {
    "bus:4": [()],
    "ring:5": [
        (f"system.{VIA}", f"system.{RESPONSE}", "system.data=inclusive 4KiB 2-way 10cy"),
        (f"system.{DIRECT}", f"system.{COMPLETION}", "system.resolver.knows=shadow-tags"),
    ],
    "mesh:3x2": [
        (
            "system.data=victim 4KiB 2-way 10cy",
            "system.resolver.knows=directory",
            "system.resolver.entries=64",
            "system.resolver.ways=2",
        ),
    ],
    "ccx:2x3": [
        ("ccx.data=victim 2KiB 2-way 10cy", f"ccx.{DIRECT}", f"ccx.{RESPONSE}"),
        (
            "ccx.data=inclusive 1KiB 1-way 10cy",
            f"ccx.{VIA}",
            f"ccx.{COMPLETION}",
            "system.resolver.entries=32",
            "system.resolver.ways=2",
        ),
        ("ccx.resolver.knows=directory", "ccx.resolver.entries=16", "ccx.resolver.ways=2"),
    ],
    "three-level": [
        (),
        (
            "ccx.data=inclusive 1KiB 1-way 10cy",
            "die.data=inclusive 2KiB 2-way 10cy",
            f"die.{VIA}",
            f"die.{RESPONSE}",
        ),
    ],
}
CORE_COUNTS = {"bus:4": 4, "ring:5": 5, "mesh:3x2": 6, "ccx:2x3": 6, "three-level": 12}


def structures(operations: int) -> Iterator[tuple[str, Case]]:
    """Random sharing on every structure, under every protocol."""
    parameters = (("ops", operations), ("lines", 12))
    for machine, choices in STRUCTURES.items():
        for number, overrides in enumerate(choices):
            for protocol in PROTOCOLS:
                settings = (*overrides, f"protocol={protocol}")
                case = Case(
                    machine, "random", CORE_COUNTS[machine], settings, parameters, tiny=True
                )
                yield f"random-{machine}-{number}-{protocol}", case


# pre-execution (H9) and the time of fences (H1.6)
OVERLAPPING = ("core.window=64", "core.misses=3", "core.fence=9cy")


def preexecution() -> Iterator[tuple[str, Case]]:
    """Harts that pre-execute beyond waiting loads (H9), including siblings and weakly ordered
    harts.
    """
    for name, case in structures(60):
        if name.endswith(("-0-moesi", "-0-mesif")):
            settings = (*case.overrides, *OVERLAPPING)
            yield f"overlapping-{name}", case._replace(overrides=settings)
    for order in ("tso", "weak"):
        settings = (*OVERLAPPING, f"core.order={order}")
        options = (("seeds", (1,)),)
        yield (
            f"overlapping-{order}",
            Case("ccx:2x4", "epoch/ebr", 6, settings, (("ops", 5),), options),
        )
    siblings = (("placement", "siblings"),)
    case = Case(
        "x8275clx2", "random", 6, OVERLAPPING, (("ops", 60), ("lines", 12)), siblings, tiny=True
    )
    yield "overlapping-siblings", case


# far atomics (C8.1)
FAR_UNLESS_OWNED, ALWAYS_FAR = ("core.atomics=far-unless-owned",), ("core.atomics=far",)
WEAK = ("core.order=weak",)
VICTIM_CACHE = "ccx.data=victim 2KiB 2-way 10cy"


def far_atomics(far: tuple[str, ...], ops: int, lines: int) -> Iterator[tuple[str, Case]]:
    """Far atomics on data in memory, in the level's own data cache, in a join's data cache, and
    over a bus.
    """
    parameters = (("ops", ops), ("lines", lines))
    for machine, overrides in (
        ("bus:4", ()),
        ("ring:5", ()),
        ("mesh:3x2", ()),
        ("ccx:2x3", (VICTIM_CACHE,)),
    ):
        case = Case(
            machine, "random", CORE_COUNTS[machine], (*far, *overrides), parameters, tiny=True
        )
        yield f"far-{machine}", case
    yield "far-counter", Case("ccx:2x4", "counter/atomic", 8, far, (("ops", 3),))
    small_buffer = (*far, "core.store_buffer=3")
    yield "far-full-buffer", Case("mesh:3x2", "counter/atomic", 6, small_buffer, (("ops", 12),))


def always_far() -> Iterator[tuple[str, Case]]:
    """Atomics that are far even if the core owns the line: under every protocol, and on lines that
    siblings lock.
    """
    yield from far_atomics(ALWAYS_FAR, 40, 4)
    parameters, options = (("ops", 40), ("lines", 4)), (("placement", "siblings"),)
    for protocol in PROTOCOLS:
        settings = (*ALWAYS_FAR, f"protocol={protocol}")
        case = Case("x8275clx2", "random", 4, settings, parameters, options, tiny=True)
        yield f"siblings-random-{protocol}", case
    yield "far-in-turn", Case("x8275clx2", "lock/ttas", 16, ALWAYS_FAR, (("ops", 6),), options)


def siblings() -> Iterator[tuple[str, Case]]:
    """Harts of one core. They use locks (C6), and caches of few lines, whose evictions depend on
    the order of accesses by all harts, including sleeping ones (S1).
    """
    options = (("placement", "siblings"),)
    ops = (("ops", 6),)
    for workload in ("counter/atomic", "lock/tas", "refcount/atomic", "counter/percpu"):
        yield f"siblings-{workload}", Case("x8275clx2", workload, 6, (), ops, options)
    rounds = (("rounds", 4),)
    # C9: contention within a socket, and contention that the level above reports
    for machine in ("x8275clx2", "epyc7601x2"):
        case = Case(machine, "lock/ttas", 16, (), ops, options)
        yield f"siblings-in-turn-{machine}", case
        case = Case(
            machine,
            "counter/contended",
            16,
            ("core.lr=shared",),
            (("duration", "1us"), ("by", "cas")),
            options,
        )
        yield f"siblings-in-turn-cas-{machine}", case
    yield "four-siblings", Case("power9x2", "counter/atomic", 16, (), ops, options)
    yield "siblings-pingpong", Case("atomd510", "latency/pingpong", 4, (), rounds, options)
    for ways in (1, 2):
        small_caches = (f"core.l1={128 * ways}B {ways}-way 4cy", "core.l2=512B 2-way 14cy")
        for workload in ("lock/ticket", "lock/mcs", "epoch/ebr"):
            name = f"siblings-{workload}-{ways}-way"
            yield name, Case("x8275clx2", workload, 4, small_caches, (("ops", 12),), options)
    for settings in ((), ("core.lr=shared",), FAR_UNLESS_OWNED):
        name = "-".join(["siblings-random", *settings])
        parameters = (("ops", 12), ("lines", 6))
        yield name, Case("x8275clx2", "random", 4, settings, parameters, options, tiny=True)


def adjacent_lines() -> Iterator[tuple[str, Case]]:
    """Cores that prefetch adjacent lines (C11), including those of pre-executed loads and of stores
    in the buffer.
    """
    settings = ("core.prefetch=adjacent", "core.misses=4")
    for name, case in structures(60):
        if name.endswith(("-0-mesi", "-0-mosi")):
            yield f"neighbours-{name}", case._replace(overrides=(*case.overrides, *settings))
    all_kinds = (*settings, *OVERLAPPING[:1], "core.store_ahead=yes", "core.order=weak")
    options = (("seeds", (1,)),)
    yield "neighbours-weak", Case("ccx:2x4", "epoch/ebr", 6, all_kinds, (("ops", 5),), options)
    far = (*settings, "core.atomics=far-unless-owned")
    yield "neighbours-far", Case("mesh:3x2", "refcount/atomic", 6, far, (("ops", 20),))


def stalls_on_use() -> Iterator[tuple[str, Case]]:
    """Cores that wait for values and not for loads (H10), with siblings that share their width,
    with pre-execution and in weak order.
    """
    settings = ("core.stall=use",)
    for name, case in structures(60):
        if name.endswith(("-0-mesi", "-0-mosi")):
            yield f"stalls-{name}", case._replace(overrides=(*case.overrides, *settings))
    options = (("seeds", (1,)),)
    for number, kind in enumerate((OVERLAPPING, ("core.order=weak",))):
        overrides = (*settings, *kind)
        yield f"stalls-{number}", Case("ccx:2x4", "epoch/ebr", 6, overrides, (("ops", 5),), options)
    yield "stalls-siblings", Case("x8275clx2", "lock/ticket", 4, settings, (("ops", 12),), options)


def workloads() -> Iterator[tuple[str, Case]]:
    """Shipped workloads, from two harts to sixteen."""
    two_ops = (("ops", 2),)
    yield "counter-bus-16", Case("bus:16", "counter/atomic", 16, (), two_ops)
    warm = (("duration", "2us"), ("warmup", "1us"), ("unclocked", 2))
    for workload in ("lock/mcs", "counter/percpu", "epoch/rcu"):  # measured as in W1 and W2
        yield f"warmed-{workload}", Case("ccx:2x4", workload, 8, (), warm, (("seeds", (3,)),))
    yield "mcs-ring-12", Case("ring:12", "lock/mcs", 12, (), two_ops)
    yield "ebr-mesh-8", Case("mesh:4x4", "epoch/ebr", 8, (), two_ops)
    yield "ticket-ccx-16", Case("ccx:4x4", "lock/ticket", 16, (), two_ops)
    yield "refcount-ccx-2", Case("ccx:4x4", "refcount/atomic", 2, (), two_ops)
    yield "pingpong-mesh", Case("mesh:4x2", "latency/pingpong", 3, (), (("rounds", 4),))
    yield "no-hold", Case("ring:4", "latency/pingpong", 4, ("core.hold=0ns",), (("rounds", 4),))
    yield "one-slice", Case("ring:6", "counter/atomic", 6, (), two_ops, (("slices", "2"),))
    yield "percpu-shared-lr", Case("bus:6", "counter/percpu", 6, ("core.lr=shared",), two_ops)
    by_age = ("ccx.resolver.grants=300ns",)  # J3 with `grants` as a time
    yield "by-age-ticket", Case("ccx:4x4", "lock/ticket", 16, by_age, two_ops)
    parameters = (("ops", 8), ("lines", 12))
    yield "by-age-random", Case("ccx:2x3", "random", 6, by_age, parameters, tiny=True)
    at_two_levels = ("ccx.resolver.grants=600ns", "die.resolver.grants=300ns")
    yield "by-age-twice", Case("three-level", "counter/atomic", 12, at_two_levels, (("ops", 20),))
    parameters_of_random = (("ops", 12), ("lines", 6))
    for machine, harts in (("mesh:3x2", 6), ("x8275clx2", 4)):
        ahead = Case(
            machine, "random", harts, ("core.store_ahead=yes",), parameters_of_random, tiny=True
        )
        yield f"stores-ahead-{machine}", ahead
    yield "one-store", Case("ccx:2x2", "layout/false_sharing", 4, ("core.store_buffer=1",), two_ops)


def machines() -> Iterator[tuple[str, Case]]:
    """Models of real machines, with a few harts: on several sockets and dies, as siblings, and with
    various homes.
    """
    few = (("ops", 3),)

    def case_on(machine: str, workload: str, threads: int, *settings: str, **options: Any) -> Case:
        return Case(machine, workload, threads, settings, few, tuple(options.items()))

    spread = "0,4,64,80"  # harts of two complexes of one die, and of two dies of the other socket
    for home in ("addressed", "node3", "interleave", "first-touch"):
        case = case_on("epyc7601x2", "lock/ticket", 4, placement=spread, home=home)
        yield f"epyc-{home}", case
    yield "epyc-siblings", case_on("epyc7601x2", "lock/mcs", 6, placement="siblings")
    yield "epyc-random", case_on("epyc7302x2", "random", 4, placement="scatter", home="interleave")
    yield "intel-two-sockets", case_on("x6130x2", "lock/mcs", 4, placement="0,1,40,41")
    # R9: some owners are at the home node, others are not
    two_sockets = dict(placement="0,40,1,41", home="node1")
    for workload in ("random", "lock/ticket", "latency/chase"):
        case = case_on("x6130x2", workload, 4, **two_sockets)
        parameters = (("rounds", 2), ("lines", 9)) if workload == "latency/chase" else few
        yield f"directory-in-memory-{workload}", case._replace(parameters=parameters)
    yield "intel-siblings", case_on("x8275clx2", "lock/ticket", 8, placement="siblings")
    yield "intel-no-smt", case_on("e52690x2", "epoch/ebr", 6, placement="scatter", smt=False)
    yield "siblings-of-one-core", case_on("atomd510", "random", 4, placement="siblings")
    yield "ryzen", case_on("r5950x", "counter/atomic", 16)
    yield "bus-of-pairs", case_on("core2q9550", "refcount/atomic", 4, "core.lr=shared")
    pair = Case("tr1950x", "latency/pingpong", 3, (), (("rounds", 4),), (("home", "pair"),))
    yield "home-follows-the-pair", pair


def interrupts() -> Iterator[tuple[str, Case]]:
    """IPIs, timers and delays on each kind of fabric."""
    rounds = (("rounds", 2),)
    yield "ipi-ccx", Case("ccx:2x2", "ipi/pingpong", 4, (), rounds)
    yield "ipi-mesh", Case("mesh:3x2", "ipi/pingpong", 3, (), rounds)
    spread = (("placement", "0,1,8,64"),)
    yield "ipi-epyc", Case("epyc7601x2", "ipi/pingpong", 3, (), rounds, spread)
    for machine in ("bus:3", "ring:4", "ccx:2x2"):
        yield f"delay-{machine}", Case(machine, "delay", 3)
    siblings = (("placement", "siblings"),)
    yield "delay-siblings", Case("x6130x2", "delay", 2, (), (), siblings)
    for machine, harts in (("bus:4", 4), ("mesh:3x2", 5), ("ccx:2x2", 4)):
        multicast = ("interrupt.multicast=yes",)
        yield f"multicast-{machine}", Case(machine, "ipi/broadcast", harts, multicast, rounds)
    groups = ("interrupt.multicast=yes", "interrupt.harts_per_message=2")
    yield "multicast-groups", Case("ccx:2x4", "ipi/broadcast", 7, groups, rounds)


def kinds_of_cores() -> Iterator[tuple[str, Case]]:
    """Machines with two kinds of cores that share one line, with two kinds of complexes, with a
    level that only some cores have, and with far atomics by only some cores.
    """
    ops, parameters = (("ops", 6),), (("ops", 8), ("lines", 12))
    slow = ("kinds.slow=core1-2", "core.slow.clock=1.3GHz", "core.slow.l2=none")
    yield "kinds-ticket", Case("ring:4", "lock/ticket", 4, slow, ops)
    slow_and_far = (
        *slow,
        "core.slow.hold=0ns",
        "core.slow.lr=shared",
        "core.slow.atomics=far-unless-owned",
    )
    yield "kinds-random", Case("mesh:3x2", "random", 6, slow_and_far, parameters, tiny=True)
    rounds = (("rounds", 3),)
    yield "kinds-pingpong", Case("bus:4", "latency/pingpong", 4, slow, rounds)
    hybrids = (("i912900k", "0,1,16,17,20", SHARED_L2), ("m1pro", "0,1,2,5", ()))
    for machine, placement, shared in hybrids:
        spread = (("placement", placement),)
        count = placement.count(",") + 1
        yield f"kinds-{machine}", Case(machine, "lock/ticket", count, (), ops, spread)
        yield (
            f"kinds-{machine}-random",
            Case(machine, "random", count, shared, parameters, spread, tiny=True),
        )
    uneven = (*slow, "tree=socket:1 core:4 thread:2,1,1,2")
    options = (("placement", "siblings"),)
    yield "kinds-threads", Case("ring:4", "lock/ticket", 6, uneven, ops, options)
    small = (
        "kinds.small=ccx1",
        "core.small.clock=1GHz",
        "ccx.small.data=inclusive 1KiB 1-way 10cy",
    )
    small += ("ccx.small.resolver.reply=via", "ccx.small.join=bus 3cy")
    yield "kinds-of-complexes", Case("ccx:2x3", "random", 6, small, parameters, tiny=True)


def operations() -> Iterator[tuple[str, Case]]:
    """Atomics of every kind and width, in the core and far, and timers."""
    ops = (("ops", 24),)
    for machine, settings, harts in (
        ("ring:3", (), 3),
        ("mesh:3x2", FAR_UNLESS_OWNED, 6),
        ("mesh:3x2", ALWAYS_FAR, 6),
    ):
        name = "-".join([f"operations-{machine}", *settings])
        yield name, Case(machine, "operations", harts, settings, ops)
    options = (("placement", "siblings"),)
    yield "operations-siblings", Case("x8275clx2", "operations", 6, (), ops, options)


def unaligned() -> Iterator[tuple[str, Case]]:
    """Accesses across the ends of lines and of doublewords, with and without store forwarding
    (H3.4).
    """
    yield "unaligned-ring:3", Case("ring:3", "unaligned", 3)
    yield "unaligned-ccx:2x3", Case("ccx:2x3", "unaligned", 6, tiny=True)
    options = (("placement", "siblings"),)
    small = ("core.store_buffer=3",)
    yield "unaligned-siblings", Case("x8275clx2", "unaligned", 4, small, (), options, tiny=True)


def levels_without_data() -> Iterator[tuple[str, Case]]:
    """A level without a data cache, so that its children have all data of the lines that it
    owns.
    """
    settings = ("ccx.data=none", "protocol=moesi")
    parameters = (("ops", 12), ("lines", 12))
    yield "no-data-below", Case("ccx:2x3", "random", 6, settings, parameters, tiny=True)


def readers() -> Iterator[tuple[str, Case]]:
    """Several readers of one line in a level's data cache (R6.2), also without a forwarder
    (R10).
    """
    ops, repeat = (("ops", 6),), "socket.data.repeat=9ns"
    no_forwarder = "socket.resolver.forwarder=no"
    placement = (("placement", "0,2,4,40,42"),)
    for settings in ((repeat,), (no_forwarder,), (repeat, no_forwarder)):
        name = "-".join(["readers", *(word.split("=")[0].split(".")[-1] for word in settings)])
        yield name, Case("x6130x2", "lock/ticket", 5, settings, ops, placement)
    parameters = (("ops", 12), ("lines", 6))
    yield (
        "readers-random",
        Case("x6130x2", "random", 5, (repeat, no_forwarder), parameters, placement, True),
    )


def few_pointers() -> Iterator[tuple[str, Case]]:
    """Lines with more sharers than a directory has pointers (R11), at the root and at joins."""
    yield "pointers-ticket", Case("mesh:4x2", "lock/ticket", 6, ("system.resolver.pointers=2",))
    parameters = (("ops", 12), ("lines", 6))
    for pointers, overflow in ((1, "broadcast"), (1, "coarse"), (2, "evict")):
        settings = ("knows=directory", f"pointers={pointers}", f"overflow={overflow}")
        for protocol in ("mesi", "moesi", "mesif"):
            overrides = (
                *(f"system.resolver.{word}" for word in settings),
                f"protocol={protocol}",
            )
            name = f"{overflow}-{protocol}"
            yield name, Case("ccx:4x2", "random", 8, overrides, parameters, tiny=True)
            yield f"{name}-flat", Case("mesh:4x2", "random", 8, overrides, parameters, tiny=True)


def wide_lines() -> Iterator[tuple[str, Case]]:
    """Lines of 128 and 256 bytes (A2): in small caches, in accesses across their ends, and with
    several slices and homes.
    """
    parameters, ops = (("ops", 12), ("lines", 12)), (("ops", 6),)
    for size in ("128B", "256B"):
        settings = (f"line={size}",)
        for machine, overrides, workload in (
            ("ring:5", ("system.data=inclusive 4KiB 2-way 10cy",), "random"),
            (
                "ccx:2x3",
                (VICTIM_CACHE, "system.resolver.entries=32", "system.resolver.ways=2"),
                "random",
            ),
            ("mesh:3x2", FAR_UNLESS_OWNED, "operations"),
            ("mesh:3x2", WEAK, "operations"),
            ("ccx:2x3", (), "unaligned"),
        ):
            job_parameters = {"random": parameters, "operations": (("ops", 24),)}.get(workload, ())
            case = Case(
                machine,
                workload,
                CORE_COUNTS[machine],
                (*settings, *overrides),
                job_parameters,
                tiny=True,
            )
            yield "-".join(("wide", size, machine, workload, *overrides[:1])), case
        for home, workload in (("first-touch", "lock/mcs"), ("interleave", "random")):
            options = (("placement", "0,4,64,80"), ("home", home))
            yield f"wide-{size}-{home}", Case("epyc7601x2", workload, 4, settings, ops, options)
        options_of_siblings = (("placement", "siblings"), ("seeds", (1,)))
        yield (
            f"wide-{size}-siblings",
            Case("power9x2", "lock/ticket", 16, settings, ops, options_of_siblings),
        )


# Links are narrow, so that the choice of routes affects times.
HASHED_ROUTES = ("routes=hashed", "system.join.width=2B/cy")
TREE_OF_HUBS = (*HASHED_ROUTES, "system.join.hubs=3", "ccx.join.hubs=2", "system.join.latency=9ns")


def spread_over_routes() -> Iterator[tuple[str, Case]]:
    """Lines spread over equal routes (F1.1), on a grid, on a ring, and on a tree with several
    hubs.
    """
    parameters, seeds = (("ops", 12), ("lines", 12)), (("seeds", (1,)),)
    for machine, settings in (
        ("mesh:3x2", HASHED_ROUTES),
        ("ring:6", HASHED_ROUTES),
        ("ccx:2x3", TREE_OF_HUBS),
    ):
        yield f"spread-{machine}", Case(machine, "random", 6, settings, parameters, tiny=True)
        posted = Case(
            machine,
            "counter/contended",
            6,
            (*settings, *ALWAYS_FAR, *LARGE_DELAYS),
            (("duration", "1us"),),
        )
        if not machine.startswith("ccx"):
            yield f"spread-posted-{machine}", posted._replace(options=seeds)
    wide_case = Case("ccx:2x3", "random", 6, (*TREE_OF_HUBS, "line=128B"), parameters, tiny=True)
    yield "spread-wide", wide_case
    rounds = (("rounds", 2),)
    yield "spread-ipi", Case("mesh:3x3", "ipi/pingpong", 9, HASHED_ROUTES, rounds)
    multicast = (*TREE_OF_HUBS, "interrupt.multicast=yes")
    yield "spread-multicast", Case("ccx:2x3", "ipi/broadcast", 6, multicast, rounds)


def memory_side_caches() -> Iterator[tuple[str, Case]]:
    """Memory-side caches (M2) with evictions and writebacks, at one node and at several nodes."""
    parameters = (("ops", 12), ("lines", 24))
    small = (
        "memory.cache=1KiB 8-way 40ns",
        "memory.cache.bandwidth=8GB/s",
        "memory.bandwidth=4GB/s",
    )
    for machine, settings in (("mesh:3x2", ()), ("ccx:2x3", ("line=128B",))):
        yield (
            f"memory-cache-{machine}",
            Case(machine, "random", 6, (*small, *settings), parameters, tiny=True),
        )
    options = (("placement", "0,4,64,80"), ("home", "interleave"))
    yield (
        "memory-cache-epyc",
        Case("epyc7601x2", "random", 4, small, parameters, options, tiny=True),
    )


JOBS = dict(
    [
        *structures(8),
        *far_atomics(FAR_UNLESS_OWNED, 8, 12),
        *siblings(),
        *workloads(),
        *machines(),
        *interrupts(),
        *kinds_of_cores(),
        *few_pointers(),
        *memory_side_caches(),
    ]
)
ALWAYS_FAR_JOBS = {f"owned-{name}": case for name, case in always_far()}

# Delays are long enough to change the order of any two events.
LARGE_DELAYS = ("chance.start=3us", "chance.request=50ns", "chance.hold=0.4")
# prefixes of the names of jobs that also run with a seed
SEEDED_JOBS = (
    *("random-", "far-", "owned-", "siblings-in-turn", "siblings-random", "four-", "by-age"),
    *("ipi-", "delay-", "kinds-", "ticket-", "epyc-first-touch"),
)


def by_chance() -> Iterator[tuple[str, Case]]:
    """Every structure under MESI with random draws (V), and jobs in which the order of siblings,
    atomics and interrupts matters.
    """
    for name, case in {**JOBS, **ALWAYS_FAR_JOBS}.items():
        if name.startswith(SEEDED_JOBS) and name.rpartition("-")[2] not in {*PROTOCOLS} - {"mesi"}:
            options = (*case.options, ("seeds", (1,)))
            case = case._replace(overrides=(*case.overrides, *LARGE_DELAYS), options=options)
            yield f"by-chance-{name}", case
    for name, far in (("posted", FAR_UNLESS_OWNED), ("owned-posted", ALWAYS_FAR)):
        posted = Case(
            "mesh:3x2", "counter/contended", 6, (*far, *LARGE_DELAYS), (("duration", "1us"),)
        )
        yield f"by-chance-{name}", posted._replace(options=(("seeds", (1,)),))


def weakly_ordered() -> Iterator[tuple[str, Case]]:
    """Weakly ordered cores (H8), with a seed and in lockstep. On one machine only some of the cores
    are weak.
    """
    for name, case in {**JOBS, **ALWAYS_FAR_JOBS}.items():
        if name.startswith(SEEDED_JOBS) and name.rpartition("-")[2] not in {*PROTOCOLS} - {"mesi"}:
            options = (*case.options, ("seeds", (1,)))
            yield (
                f"weak-{name}",
                case._replace(overrides=(*case.overrides, *WEAK), options=options),
            )
    for name, case in (*operations(), *unaligned()):
        yield f"weak-lockstep-{name}", case._replace(overrides=(*case.overrides, *WEAK))
    some_weak = ("kinds.slow=core1-2", "core.slow.order=weak", "chance.store=80ns")
    random = Case("mesh:3x2", "random", 6, some_weak, (("ops", 12), ("lines", 6)), tiny=True)
    yield "weak-kinds", random._replace(options=(("seeds", (2,)),))


def drawn_slices() -> Iterator[tuple[str, Case]]:
    """Slices and routes that a run's draw chooses (V10): five slices on a grid, three slices at the
    cores of each complex, and a tree with several hubs.
    """
    parameters, seeds = (("ops", 12), ("lines", 12)), (("seeds", (7,)),)
    for name, machine, settings in (
        ("mesh", "mesh:3x2", ("system.resolver.slices=5", *HASHED_ROUTES)),
        ("complexes", "ccx:2x3", ("chance.slice=1000",)),
        ("tree", "ccx:2x3", TREE_OF_HUBS),
    ):
        case = Case(machine, "random", 6, settings, parameters, seeds, tiny=True)
        yield f"drawn-slices-{name}", case


MORE_JOBS = dict(  # jobs that are not in JOBS
    [
        *ALWAYS_FAR_JOBS.items(),
        *operations(),
        *unaligned(),
        *levels_without_data(),
        *readers(),
        *by_chance(),
        *weakly_ordered(),
        *wide_lines(),
        *spread_over_routes(),
        *drawn_slices(),
        *preexecution(),
        *adjacent_lines(),
        *stalls_on_use(),
    ]
)
LONG_JOBS = dict(structures(100))

"""Jobs on which two engines are compared: every protocol, shape, placement and policy.

`JOBS` and `MORE` map names to Cases; `make(case)` returns the job. Jobs are small: a few operations
with caches of a few lines, so that evictions, recalls and writebacks often meet probes.
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
# machine files beside the shipped ones
MACHINES = {"three-level": str(SUPPORT / "three_levels.toml")}
SHARED_L2 = (  # modules of small cores: a level that only the parts of one kind have
    "core.small.l2=none",
    "module.small.data=inclusive 2MiB 16-way 6cy",
    "module.small.resolver.knows=shadow-tags",
    "module.small.resolver.at=hub",
    "module.small.resolver.reply=via",
    "module.small.resolver.unblock=response",
    "module.small.resolver.service=2cy",
    "module.small.resolver.grants=4",
)
TINY = (2, 2)  # sets and ways of a core's second level; the first has half the sets


class Case(NamedTuple):
    machine: str
    workload: str
    threads: int
    overrides: tuple[str, ...] = ()
    parameters: tuple[tuple[str, object], ...] = ()
    # options of the job: placement, home, smt, slices, seeds
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
        kinds = [
            dataclasses.replace(kind, core=dataclasses.replace(kind.core, **small))
            for kind in machine.kinds
        ]
        core = dataclasses.replace(machine.core, **small)
        machine = dataclasses.replace(machine, core=core, kinds=tuple(kinds))
    return request.make_job(
        machine,
        guest(case.workload),
        (case.threads,),
        parameters=dict(case.parameters),
        **dict(case.options),
    )


# Variants of resolvers: each kind of data and of knowledge, both replies, both unblocks.
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
CORES = {"bus:4": 4, "ring:5": 5, "mesh:3x2": 6, "ccx:2x3": 6, "three-level": 12}


def structures(operations: int) -> Iterator[tuple[str, Case]]:
    """Random sharing in every structure under every protocol."""
    parameters = (("ops", operations), ("lines", 12))
    for machine, choices in STRUCTURES.items():
        for number, overrides in enumerate(choices):
            for protocol in PROTOCOLS:
                words = (*overrides, f"protocol={protocol}")
                case = Case(machine, "random", CORES[machine], words, parameters, tiny=True)
                yield f"random-{machine}-{number}-{protocol}", case


OVERLAPPING = ("core.window=64", "core.misses=3", "core.fence=9cy")  # H9, H1.6


def preexecution() -> Iterator[tuple[str, Case]]:
    """Harts that pre-execute after waiting loads, including siblings and weakly ordered ones."""
    for name, case in structures(60):
        if name.endswith(("-0-moesi", "-0-mesif")):
            words = (*case.overrides, *OVERLAPPING)
            yield f"overlapping-{name}", case._replace(overrides=words)
    for order in ("tso", "weak"):
        words = (*OVERLAPPING, f"core.order={order}")
        options = (("seeds", (1,)),)
        yield f"overlapping-{order}", Case("ccx:2x4", "epoch/ebr", 6, words, (("ops", 5),), options)
    siblings = (("placement", "siblings"),)
    case = Case(
        "x8275clx2", "random", 6, OVERLAPPING, (("ops", 60), ("lines", 12)), siblings, tiny=True
    )
    yield "overlapping-siblings", case


FAR, ALWAYS = ("core.atomics=far-unless-owned",), ("core.atomics=far",)  # C8.1
WEAK = ("core.order=weak",)
KEPT = "ccx.data=victim 2KiB 2-way 10cy"


def far_atomics(far: tuple[str, ...], ops: int, lines: int) -> Iterator[tuple[str, Case]]:
    """Far atomics on data in memory, in a level's own data, in a join's data, and over a bus."""
    parameters = (("ops", ops), ("lines", lines))
    for machine, more in (("bus:4", ()), ("ring:5", ()), ("mesh:3x2", ()), ("ccx:2x3", (KEPT,))):
        case = Case(machine, "random", CORES[machine], (*far, *more), parameters, tiny=True)
        yield f"far-{machine}", case
    yield "far-counter", Case("ccx:2x4", "counter/atomic", 8, far, (("ops", 3),))
    few = (*far, "core.store_buffer=3")
    yield "far-full-buffer", Case("mesh:3x2", "counter/atomic", 6, few, (("ops", 12),))


def always_far() -> Iterator[tuple[str, Case]]:
    """Atomics that are far even if the core holds the line: every protocol, and lines locked by
    siblings.
    """
    yield from far_atomics(ALWAYS, 40, 4)
    parameters, options = (("ops", 40), ("lines", 4)), (("placement", "siblings"),)
    for protocol in PROTOCOLS:
        words = (*ALWAYS, f"protocol={protocol}")
        case = Case("x8275clx2", "random", 4, words, parameters, options, tiny=True)
        yield f"siblings-random-{protocol}", case
    yield "far-in-turn", Case("x8275clx2", "lock/ttas", 16, ALWAYS, (("ops", 6),), options)


def siblings() -> Iterator[tuple[str, Case]]:
    """Harts of one core: locks (C6), and caches of few lines, whose evictions depend on the order
    of accesses by all harts, including sleeping ones (S1).
    """
    options = (("placement", "siblings"),)
    few = (("ops", 6),)
    for workload in ("counter/atomic", "lock/tas", "refcount/atomic", "counter/percpu"):
        yield f"siblings-{workload}", Case("x8275clx2", workload, 6, (), few, options)
    pairs = (("rounds", 4),)
    # C9: contention within a socket, and reported from above
    for machine in ("x8275clx2", "epyc7601x2"):
        case = Case(machine, "lock/ttas", 16, (), few, options)
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
    yield "four-siblings", Case("power9x2", "counter/atomic", 16, (), few, options)
    yield "siblings-pingpong", Case("atomd510", "latency/pingpong", 4, (), pairs, options)
    for ways in (1, 2):
        small = (f"core.l1={128 * ways}B {ways}-way 4cy", "core.l2=512B 2-way 14cy")
        for workload in ("lock/ticket", "lock/mcs", "epoch/ebr"):
            name = f"siblings-{workload}-{ways}-way"
            yield name, Case("x8275clx2", workload, 4, small, (("ops", 12),), options)
    for words in ((), ("core.lr=shared",), FAR):
        name = "-".join(["siblings-random", *words])
        parameters = (("ops", 12), ("lines", 6))
        yield name, Case("x8275clx2", "random", 4, words, parameters, options, tiny=True)


def neighbours() -> Iterator[tuple[str, Case]]:
    """Cores that prefetch adjacent lines (C11), also those of pre-executed loads and of stores in
    the buffer.
    """
    words = ("core.prefetch=adjacent", "core.misses=4")
    for name, case in structures(60):
        if name.endswith(("-0-mesi", "-0-mosi")):
            yield f"neighbours-{name}", case._replace(overrides=(*case.overrides, *words))
    ahead = (*words, *OVERLAPPING[:1], "core.store_ahead=yes", "core.order=weak")
    options = (("seeds", (1,)),)
    yield "neighbours-weak", Case("ccx:2x4", "epoch/ebr", 6, ahead, (("ops", 5),), options)
    far = (*words, "core.atomics=far-unless-owned")
    yield "neighbours-far", Case("mesh:3x2", "refcount/atomic", 6, far, (("ops", 20),))


def workloads() -> Iterator[tuple[str, Case]]:
    """Programs as users run them, from two harts to sixteen."""
    few = (("ops", 2),)
    yield "counter-bus-16", Case("bus:16", "counter/atomic", 16, (), few)
    warm = (("duration", "2us"), ("warmup", "1us"), ("unclocked", 2))
    for workload in ("lock/mcs", "counter/percpu", "epoch/rcu"):  # W1 and W2
        yield f"warmed-{workload}", Case("ccx:2x4", workload, 8, (), warm, (("seeds", (3,)),))
    yield "mcs-ring-12", Case("ring:12", "lock/mcs", 12, (), few)
    yield "ebr-mesh-8", Case("mesh:4x4", "epoch/ebr", 8, (), few)
    yield "ticket-ccx-16", Case("ccx:4x4", "lock/ticket", 16, (), few)
    yield "refcount-ccx-2", Case("ccx:4x4", "refcount/atomic", 2, (), few)
    yield "pingpong-mesh", Case("mesh:4x2", "latency/pingpong", 3, (), (("rounds", 4),))
    yield "no-hold", Case("ring:4", "latency/pingpong", 4, ("core.hold=0ns",), (("rounds", 4),))
    yield "one-slice", Case("ring:6", "counter/atomic", 6, (), few, (("slices", "2"),))
    yield "percpu-shared-lr", Case("bus:6", "counter/percpu", 6, ("core.lr=shared",), few)
    by_age = ("ccx.resolver.grants=300ns",)  # J3, where `grants` is a time
    yield "by-age-ticket", Case("ccx:4x4", "lock/ticket", 16, by_age, few)
    parameters = (("ops", 8), ("lines", 12))
    yield "by-age-random", Case("ccx:2x3", "random", 6, by_age, parameters, tiny=True)
    twice = ("ccx.resolver.grants=600ns", "die.resolver.grants=300ns")
    yield "by-age-twice", Case("three-level", "counter/atomic", 12, twice, (("ops", 20),))
    few_ahead = (("ops", 12), ("lines", 6))
    for machine, harts in (("mesh:3x2", 6), ("x8275clx2", 4)):
        ahead = Case(machine, "random", harts, ("core.store_ahead=yes",), few_ahead, tiny=True)
        yield f"stores-ahead-{machine}", ahead
    yield "one-store", Case("ccx:2x2", "layout/false_sharing", 4, ("core.store_buffer=1",), few)


def machines() -> Iterator[tuple[str, Case]]:
    """Real machines, cut to a few harts: sockets, dies, siblings, homes."""
    few = (("ops", 3),)

    def on(machine: str, workload: str, threads: int, *words: str, **options: Any) -> Case:
        return Case(machine, workload, threads, words, few, tuple(options.items()))

    spread = "0,4,64,80"  # harts of two complexes of a die, and of two dies of the other socket
    for home in ("addressed", "node3", "interleave", "first-touch"):
        case = on("epyc7601x2", "lock/ticket", 4, placement=spread, home=home)
        yield f"epyc-{home}", case
    yield "epyc-siblings", on("epyc7601x2", "lock/mcs", 6, placement="siblings")
    yield "epyc-random", on("epyc7302x2", "random", 4, placement="scatter", home="interleave")
    yield "intel-two-sockets", on("x6130x2", "lock/mcs", 4, placement="0,1,40,41")
    across = dict(placement="0,40,1,41", home="node1")  # R9: owners at the home and elsewhere
    for workload in ("random", "lock/ticket", "latency/chase"):
        case = on("x6130x2", workload, 4, **across)
        parameters = (("rounds", 2), ("lines", 9)) if workload == "latency/chase" else few
        yield f"directory-in-memory-{workload}", case._replace(parameters=parameters)
    yield "intel-siblings", on("x8275clx2", "lock/ticket", 8, placement="siblings")
    yield "intel-no-smt", on("e52690x2", "epoch/ebr", 6, placement="scatter", smt=False)
    yield "siblings-of-one-core", on("atomd510", "random", 4, placement="siblings")
    yield "ryzen", on("r5950x", "counter/atomic", 16)
    yield "bus-of-pairs", on("core2q9550", "refcount/atomic", 4, "core.lr=shared")
    pair = Case("tr1950x", "latency/pingpong", 3, (), (("rounds", 4),), (("home", "pair"),))
    yield "home-follows-the-pair", pair


def interrupts() -> Iterator[tuple[str, Case]]:
    """IPIs, timers and delays across each kind of fabric."""
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


def kinds() -> Iterator[tuple[str, Case]]:
    """Machines with cores of two kinds that share one line, with complexes of two kinds, with a
    level that only some cores have, and with far atomics of only some cores.
    """
    few, parameters = (("ops", 6),), (("ops", 8), ("lines", 12))
    slow = ("kinds.slow=core1-2", "core.slow.clock=1.3GHz", "core.slow.l2=none")
    yield "kinds-ticket", Case("ring:4", "lock/ticket", 4, slow, few)
    other = (
        *slow,
        "core.slow.hold=0ns",
        "core.slow.lr=shared",
        "core.slow.atomics=far-unless-owned",
    )
    yield "kinds-random", Case("mesh:3x2", "random", 6, other, parameters, tiny=True)
    rounds = (("rounds", 3),)
    yield "kinds-pingpong", Case("bus:4", "latency/pingpong", 4, slow, rounds)
    hybrids = (("i912900k", "0,1,16,17,20", SHARED_L2), ("m1pro", "0,1,2,5", ()))
    for machine, where, shared in hybrids:
        spread = (("placement", where),)
        count = where.count(",") + 1
        yield f"kinds-{machine}", Case(machine, "lock/ticket", count, (), few, spread)
        yield (
            f"kinds-{machine}-random",
            Case(machine, "random", count, shared, parameters, spread, tiny=True),
        )
    uneven = (*slow, "tree=socket:1 core:4 thread:2,1,1,2")
    options = (("placement", "siblings"),)
    yield "kinds-threads", Case("ring:4", "lock/ticket", 6, uneven, few, options)
    small = (
        "kinds.small=ccx1",
        "core.small.clock=1GHz",
        "ccx.small.data=inclusive 1KiB 1-way 10cy",
    )
    small += ("ccx.small.resolver.reply=via", "ccx.small.join=bus 3cy")
    yield "kinds-of-complexes", Case("ccx:2x3", "random", 6, small, parameters, tiny=True)


def operations() -> Iterator[tuple[str, Case]]:
    """Atomics of every kind and width, near and far, and timers."""
    ops = (("ops", 24),)
    for machine, words, harts in (
        ("ring:3", (), 3),
        ("mesh:3x2", FAR, 6),
        ("mesh:3x2", ALWAYS, 6),
    ):
        name = "-".join([f"operations-{machine}", *words])
        yield name, Case(machine, "operations", harts, words, ops)
    options = (("placement", "siblings"),)
    yield "operations-siblings", Case("x8275clx2", "operations", 6, (), ops, options)


def unaligned() -> Iterator[tuple[str, Case]]:
    """Accesses across the ends of lines, with and without forwarding, and of doublewords (H3.4)."""
    yield "unaligned-ring:3", Case("ring:3", "unaligned", 3)
    yield "unaligned-ccx:2x3", Case("ccx:2x3", "unaligned", 6, tiny=True)
    options = (("placement", "siblings"),)
    small = ("core.store_buffer=3",)
    yield "unaligned-siblings", Case("x8275clx2", "unaligned", 4, small, (), options, tiny=True)


def levels_without_data() -> Iterator[tuple[str, Case]]:
    """A level without data, so that only its children have the data for which it is responsible."""
    words = ("ccx.data=none", "protocol=moesi")
    parameters = (("ops", 12), ("lines", 12))
    yield "no-data-below", Case("ccx:2x3", "random", 6, words, parameters, tiny=True)


def readers() -> Iterator[tuple[str, Case]]:
    """Several readers of one line in a level's data (R6.2), without a forwarder (R10)."""
    few, repeat = (("ops", 6),), "socket.data.repeat=9ns"
    plain = "socket.resolver.forwarder=no"
    spread = (("placement", "0,2,4,40,42"),)
    for words in ((repeat,), (plain,), (repeat, plain)):
        name = "-".join(["readers", *(word.split("=")[0].split(".")[-1] for word in words)])
        yield name, Case("x6130x2", "lock/ticket", 5, words, few, spread)
    parameters = (("ops", 12), ("lines", 6))
    yield "readers-random", Case("x6130x2", "random", 5, (repeat, plain), parameters, spread, True)


def few_pointers() -> Iterator[tuple[str, Case]]:
    """More sharers than a directory has pointers for (R11), at the root and at joins."""
    yield "pointers-ticket", Case("mesh:4x2", "lock/ticket", 6, ("system.resolver.pointers=2",))
    parameters = (("ops", 12), ("lines", 6))
    for pointers, overflow in ((1, "broadcast"), (1, "coarse"), (2, "evict")):
        words = ("knows=directory", f"pointers={pointers}", f"overflow={overflow}")
        for protocol in ("mesi", "moesi", "mesif"):
            chosen = (*(f"system.resolver.{word}" for word in words), f"protocol={protocol}")
            name = f"{overflow}-{protocol}"
            yield name, Case("ccx:4x2", "random", 8, chosen, parameters, tiny=True)
            yield f"{name}-flat", Case("mesh:4x2", "random", 8, chosen, parameters, tiny=True)


def wide() -> Iterator[tuple[str, Case]]:
    """Lines of 128 and 256 bytes (A2): in small caches, across their ends, at slices and homes."""
    parameters, few = (("ops", 12), ("lines", 12)), (("ops", 6),)
    for size in ("128B", "256B"):
        words = (f"line={size}",)
        for machine, more, workload in (
            ("ring:5", ("system.data=inclusive 4KiB 2-way 10cy",), "random"),
            ("ccx:2x3", (KEPT, "system.resolver.entries=32", "system.resolver.ways=2"), "random"),
            ("mesh:3x2", FAR, "operations"),
            ("mesh:3x2", WEAK, "operations"),
            ("ccx:2x3", (), "unaligned"),
        ):
            given = {"random": parameters, "operations": (("ops", 24),)}.get(workload, ())
            case = Case(machine, workload, CORES[machine], (*words, *more), given, tiny=True)
            yield "-".join(("wide", size, machine, workload, *more[:1])), case
        for home, workload in (("first-touch", "lock/mcs"), ("interleave", "random")):
            options = (("placement", "0,4,64,80"), ("home", home))
            yield f"wide-{size}-{home}", Case("epyc7601x2", workload, 4, words, few, options)
        many = (("placement", "siblings"), ("seeds", (1,)))
        yield f"wide-{size}-siblings", Case("power9x2", "lock/ticket", 16, words, few, many)


# narrow links, so that the choice of routes affects times
HASHED = ("routes=hashed", "system.join.width=2B/cy")
TREE = (*HASHED, "system.join.hubs=3", "ccx.join.hubs=2", "system.join.latency=9ns")


def spread_over_routes() -> Iterator[tuple[str, Case]]:
    """Lines spread over equal routes (F1.1): a grid, a ring, a tree of several hubs."""
    parameters, more = (("ops", 12), ("lines", 12)), (("seeds", (1,)),)
    for machine, words in (("mesh:3x2", HASHED), ("ring:6", HASHED), ("ccx:2x3", TREE)):
        yield f"spread-{machine}", Case(machine, "random", 6, words, parameters, tiny=True)
        posted = Case(
            machine, "counter/contended", 6, (*words, *ALWAYS, *LATE), (("duration", "1us"),)
        )
        if not machine.startswith("ccx"):
            yield f"spread-posted-{machine}", posted._replace(options=more)
    wide_ = Case("ccx:2x3", "random", 6, (*TREE, "line=128B"), parameters, tiny=True)
    yield "spread-wide", wide_
    rounds = (("rounds", 2),)
    yield "spread-ipi", Case("mesh:3x3", "ipi/pingpong", 9, HASHED, rounds)
    multicast = (*TREE, "interrupt.multicast=yes")
    yield "spread-multicast", Case("ccx:2x3", "ipi/broadcast", 6, multicast, rounds)


def before_memory() -> Iterator[tuple[str, Case]]:
    """Memory-side caches (M2) with evictions and writebacks, at one node and at several."""
    parameters = (("ops", 12), ("lines", 24))
    small = (
        "memory.cache=1KiB 8-way 40ns",
        "memory.cache.bandwidth=8GB/s",
        "memory.bandwidth=4GB/s",
    )
    for machine, words in (("mesh:3x2", ()), ("ccx:2x3", ("line=128B",))):
        yield (
            f"memory-cache-{machine}",
            Case(machine, "random", 6, (*small, *words), parameters, tiny=True),
        )
    options = (("placement", "0,4,64,80"), ("home", "interleave"))
    yield (
        "memory-cache-epyc",
        Case("epyc7601x2", "random", 4, small, parameters, options, tiny=True),
    )


JOBS = dict(
    [
        *structures(8),
        *far_atomics(FAR, 8, 12),
        *siblings(),
        *workloads(),
        *machines(),
        *interrupts(),
        *kinds(),
        *few_pointers(),
        *before_memory(),
    ]
)
OWNED = {f"owned-{name}": case for name, case in always_far()}

# delays long enough to reorder anything
LATE = ("chance.start=3us", "chance.request=50ns", "chance.hold=0.4")
DRAWN = (
    *("random-", "far-", "owned-", "siblings-in-turn", "siblings-random", "four-", "by-age"),
    *("ipi-", "delay-", "kinds-", "ticket-", "epyc-first-touch"),
)


def by_chance() -> Iterator[tuple[str, Case]]:
    """Every structure under MESI with random draws (V), and jobs that order siblings, atomics and
    interrupts.
    """
    for name, case in {**JOBS, **OWNED}.items():
        if name.startswith(DRAWN) and name.rpartition("-")[2] not in {*PROTOCOLS} - {"mesi"}:
            options = (*case.options, ("seeds", (1,)))
            case = case._replace(overrides=(*case.overrides, *LATE), options=options)
            yield f"by-chance-{name}", case
    for name, far in (("posted", FAR), ("owned-posted", ALWAYS)):
        posted = Case("mesh:3x2", "counter/contended", 6, (*far, *LATE), (("duration", "1us"),))
        yield f"by-chance-{name}", posted._replace(options=(("seeds", (1,)),))


def weakly() -> Iterator[tuple[str, Case]]:
    """Weakly ordered cores (H8), with a seed and in lockstep; on one machine only some are weak."""
    for name, case in {**JOBS, **OWNED}.items():
        if name.startswith(DRAWN) and name.rpartition("-")[2] not in {*PROTOCOLS} - {"mesi"}:
            options = (*case.options, ("seeds", (1,)))
            yield (
                f"weak-{name}",
                case._replace(overrides=(*case.overrides, *WEAK), options=options),
            )
    for name, case in (*operations(), *unaligned()):
        yield f"weak-lockstep-{name}", case._replace(overrides=(*case.overrides, *WEAK))
    some = ("kinds.slow=core1-2", "core.slow.order=weak", "chance.store=80ns")
    random = Case("mesh:3x2", "random", 6, some, (("ops", 12), ("lines", 6)), tiny=True)
    yield "weak-kinds", random._replace(options=(("seeds", (2,)),))


def drawn_slices() -> Iterator[tuple[str, Case]]:
    """Slices and routes chosen by a run's draw (V10): five slices on a grid, three slices at the
    cores of each complex, and a tree of several hubs.
    """
    parameters, seeds = (("ops", 12), ("lines", 12)), (("seeds", (7,)),)
    for name, machine, words in (
        ("mesh", "mesh:3x2", ("system.resolver.slices=5", *HASHED)),
        ("complexes", "ccx:2x3", ("chance.slice=1000",)),
        ("tree", "ccx:2x3", TREE),
    ):
        case = Case(machine, "random", 6, words, parameters, seeds, tiny=True)
        yield f"drawn-slices-{name}", case


MORE = dict(  # jobs added later, which JOBS does not have
    [
        *OWNED.items(),
        *operations(),
        *unaligned(),
        *levels_without_data(),
        *readers(),
        *by_chance(),
        *weakly(),
        *wide(),
        *spread_over_routes(),
        *drawn_slices(),
        *preexecution(),
        *neighbours(),
    ]
)
LONG_JOBS = dict(structures(100))

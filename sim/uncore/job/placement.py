"""Places threads on harts, and lines on nodes and slices, by policies or explicit lists.

    thread_counts("1,2,4..128", room=128)  -> (1, 2, 4, 8, ..., 128)
    place(machine, "compact", smt=True)    -> every hart of the machine in order of use
    check_home(home, machine), check_slices(slices, machine)
    home_nodes(home, machine)              -> nodes that the policy can place pages on
    slice_is_drawn(slices, machine)        -> True if a seed draws the slice that owns a line

Thread t of a run of n threads runs on the t-th hart of `place`, so a smaller run always uses a
prefix of a larger run's harts.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from uncore.errors import UserError, suggestion

if TYPE_CHECKING:
    from uncore.topology.machine import Machine

# Policies for the order of cores.  Except in `siblings`, a core's second thread comes after the
# first threads of all cores.
POLICIES = {
    "compact": "fill one core complex, die and socket after the other; siblings last",
    "scatter": "deal out over sockets, then dies, then complexes; siblings last",
    "siblings": "both threads of a core, then the next core",
}
HOME_NODE = "node<K>"
HOME_KIND = "<KIND>"
HOMES = {
    "addressed": "where the program allocated it; what it did not allocate, on node 0",
    HOME_NODE: "all memory on node K",
    "interleave": "pages dealt out over the nodes of the machine's own memory",
    HOME_KIND: "pages dealt out over the nodes of that kind of memory, as the machine's file names"
    " it",
    "first-touch": "a page on the node of the hart that touches it first",
    "pair": "first-touch, and a pair of harts uses a line that its first hart touched first",
}


def thread_counts(text: str, room: int) -> tuple[int, ...]:
    """Parses `1,2,4..128`: a..b doubles from a and always ends with b; `max` is `room`."""
    counts: list[int] = []
    for item in text.split(","):
        first, dots, last = item.strip().partition("..")
        low = _parse_count(first, text, room)
        high = _parse_count(last, text, room) if dots else low
        if high < low:
            raise UserError(f"--threads {text}: '{item}' runs downwards; write {high}..{low}")
        while low < high:
            counts.append(low)
            low *= 2
        counts.append(high)
    return tuple(dict.fromkeys(counts))


def place(machine: Machine, policy: str, smt: bool = True) -> tuple[int, ...]:
    """Returns all harts that a run may use, in order of use."""
    if policy not in POLICIES:
        return _explicit_harts(policy, machine)
    cores = range(machine.cores)
    threads_per_core = machine.threads_per_core if smt else 1
    if policy == "siblings":
        return tuple(hart for core in cores for hart in machine.harts_of(core)[:threads_per_core])
    if policy == "scatter":
        position = _positions(machine)
        cores = sorted(cores, key=lambda c: position[c][::-1])  # type: ignore[assignment]
    harts = [machine.harts_of(core) for core in cores]
    return tuple(
        core_harts[thread]
        for thread in range(threads_per_core)
        for core_harts in harts
        if thread < len(core_harts)
    )


def _parse_count(text: str, list_text: str, room: int) -> int:
    if text == "max":
        return room
    if not re.fullmatch("[0-9]{1,9}", text) or int(text) == 0:
        raise UserError(
            f"--threads {list_text}: '{text}' is not a number of threads;"
            " write counts and doubling ranges, such as 1,2,4..128"
        )
    return int(text)


def _positions(machine: Machine) -> list[tuple[int, ...]]:
    """Returns each core's rank among its siblings at each level, outermost first."""
    ranks: dict[tuple[int, ...], dict[int, int]] = {}
    positions = []
    for ancestors in machine.shape:
        ranked = []
        for depth, index in enumerate(ancestors):
            siblings = ranks.setdefault(ancestors[:depth], {})
            ranked.append(siblings.setdefault(index, len(siblings)))
        positions.append(tuple(ranked))
    return positions


def _explicit_harts(text: str, machine: Machine) -> tuple[int, ...]:
    """Parses an explicit list of harts: `0-3,8,12`."""
    harts: list[int] = []
    for item in text.split(","):
        first, dash, last = item.partition("-")
        bounds = [first, last] if dash else [first]
        if not all(re.fullmatch("[0-9]{1,9}", end) for end in bounds):
            raise UserError(
                f"--place {text}: '{item}' is neither a policy ({', '.join(POLICIES)}) nor harts"
                f" such as 0-3,8.{suggestion(text, POLICIES)}"
            )
        low, high = int(first), int(bounds[-1])
        if high < low:
            raise UserError(f"--place {text}: '{item}' runs downwards; write {high}-{low}")
        harts += range(low, min(high, max(low, machine.harts)) + 1)
    unknown = [h for h in harts if h >= machine.harts]
    if unknown:
        raise UserError(
            f"--place {text}: {machine.id} has harts 0 to {machine.harts - 1}, and no {unknown[0]}"
        )
    repeated = sorted({h for h in harts if harts.count(h) > 1})
    if repeated:
        raise UserError(
            f"--place {text}: hart {repeated[0]} is listed twice; a hart runs one thread"
        )
    return tuple(harts)


def check_slices(slices: str, machine: Machine) -> None:
    slice_count = max(len(resolver.slices) for resolver in machine.resolvers)
    if slices == "hash" or (re.fullmatch("[0-9]{1,9}", slices) and int(slices) < slice_count):
        return
    raise UserError(
        f"--slices {slices}: write 'hash' or the number of a slice, 0 to {slice_count - 1}"
    )


def slice_is_drawn(slices: str, machine: Machine) -> bool:
    """True if a seed draws the slice that owns a line (V10), and there are several."""
    several = any(len(set(resolver.slices)) > 1 for resolver in machine.resolvers)
    return slices == "hash" and several and machine.chance.slice > 0


def check_home(home: str, machine: Machine) -> None:
    """Checks that the policy exists, and the node or kind of memory that it names."""
    if home in machine.memory_kinds and (home in HOMES or re.fullmatch("node[0-9]+", home)):
        raise UserError(
            f"--home {home}: a policy, and a kind of memory of {machine.id}; write [memory.NAME]"
            " with another name there"
        )
    words = [*(word for word in HOMES if word not in (HOME_NODE, HOME_KIND)), *machine.memory_kinds]
    if home in words:
        return
    match = re.fullmatch(r"node([0-9]{1,9})", home)
    if not match:
        known = ", ".join([HOME_NODE, *words])
        raise UserError(
            f"--home {home}: no such policy; write one of {known}.{suggestion(home, words)}"
        )
    if int(match[1]) >= (nodes := len(machine.memories)):
        raise UserError(f"--home {home}: the machine's memory nodes are node0 to node{nodes - 1}")


def home_nodes(home: str, machine: Machine) -> list[int]:
    """Returns the nodes that a policy can place pages on, in order (rule A4)."""
    if match := re.fullmatch(r"node([0-9]+)", home):
        return [int(match[1])]
    if home in machine.memory_kinds or home == "interleave":
        return machine.nodes_of("" if home == "interleave" else home)
    return list(range(len(machine.memories)))

"""Defines the small machines on which the protocol tables are proved, without time and distance.

    CheckedSystem("2+1 cores under joins", [[2, 1], [2]], [join, root]).tree()    for _native.check
    walks(tables, everything)      machines for walks, which visit every state
    hand_chosen(tables)            larger machines for random steps, chosen by hand
    trials(tables, seed, count)    larger machines for random steps, drawn at random

A CheckedLevel describes its resolvers by the keys of a machine file (knows, reply, unblock, data).
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from uncore import _native
from uncore.protocol.tables import Tables

REPLY_VALUES, UNBLOCK_VALUES, DATA_POLICIES = (
    ("direct", "via"),
    ("completion", "response"),
    ("none", "inclusive", "victim"),
)
# The groups of machines, by the names that `uncore check --machine` accepts.
TWO_CORES, THREE_CORES, JOINED = "2-cores", "3-cores", "2+1-cores"
FAR_ATOMICS, FEW_POINTERS = "far-atomics", "few-pointers"
TWO_LINES, RANDOM = "two-lines", "random"


@dataclass(frozen=True)
class CheckedLevel:
    """The resolvers of one level."""

    knows: str
    reply: str = "via"
    unblock: str = "completion"
    data: str = "none"
    grants: int = 0
    forwarder: bool = True
    pointers: int = 0
    region: int = 0  # number of children per bit of the coarse vector
    evicts: bool = False

    @property
    def recalls(self) -> bool:
        """Returns True if the number of entries is limited, so that a resolver may recall a line at
        any time.
        """
        return self.knows == "directory"

    @property
    def operates(self) -> bool:
        """Returns True if the level stores data, on which a join can perform far atomics."""
        return self.data != "none"

    def policy(self) -> Any:
        return _native.check.Policy(
            snoop=self.knows == "snoop",
            direct=self.reply == "direct",
            completion=self.unblock == "completion",
            keeps_data=self.data != "none",
            inclusive=self.data == "inclusive",
            forwarder=self.forwarder,
            grants=self.grants,
            pointers=self.pointers,
            region=self.region,
            evicts=self.evicts,
        )

    def __str__(self) -> str:
        words = [self.knows, self.reply, self.unblock, self.data]
        words += [f"grants={self.grants}"] * bool(self.grants)
        words += [f"pointers={self.pointers}"] * bool(self.pointers)
        words += [f"region={self.region}"] * bool(self.region) + ["evict"] * self.evicts
        return " ".join(words + ["forwarder=no"] * (not self.forwarder))


@dataclass(frozen=True)
class CheckedSystem:
    """A tree of cores and resolvers.

    `fanout` lists for each level, from the cores up, the number of children of each resolver.
    """

    group: str
    fanout: tuple[tuple[int, ...], ...]
    levels: tuple[CheckedLevel, ...]
    far: bool = False  # True: cores may send far atomics
    # True: cores send far atomics even for lines that they hold exclusively
    owned: bool = False
    states: int = 20_000_000  # number of states at which a walk stops
    lines: int = 1  # 1 or 2; in a walk with 2 lines, each core has room for only one line

    @property
    def cores(self) -> int:
        return sum(self.fanout[0])

    def tree(self) -> Any:
        policies = [level.policy() for level in self.levels]
        return _native.check.Tree(
            [list(level) for level in self.fanout],
            policies,
            [lv.recalls for lv in self.levels],
            far=self.far,
            far_owned=self.owned,
        )

    def __str__(self) -> str:
        shape = " / ".join("+".join(map(str, level)) for level in self.fanout)
        lines = ", 2 lines" if self.lines == 2 else ""
        far = " far" * self.far + " owned" * self.owned
        return f"{shape}{lines}: {' / '.join(map(str, self.levels))}{far}"


def roots() -> list[CheckedLevel]:
    """Returns every kind of root resolver."""
    snoops = [
        CheckedLevel("snoop", reply, data=data)
        for reply, data in product(REPLY_VALUES, DATA_POLICIES)
    ]
    directories = [
        CheckedLevel("directory", *choice)
        for choice in product(REPLY_VALUES, UNBLOCK_VALUES, DATA_POLICIES)
    ]
    return snoops + directories


def few_pointers() -> list[CheckedLevel]:
    """Returns roots whose directory has fewer pointers than there may be sharers (R11)."""
    plain = CheckedLevel("directory", "direct", "completion", pointers=1)
    keeps = CheckedLevel("directory", "via", "response", "inclusive", pointers=1)
    evicting = [replace(level, pointers=2, evicts=True) for level in (plain, keeps)]
    return [plain, keeps, replace(plain, region=2), *evicting]


def joins(tables: Tables) -> list[CheckedLevel]:
    """Returns kinds of joins. A join without data needs a protocol with O, because otherwise it
    would have to store dirty data.
    """
    complex_ = CheckedLevel("shadow-tags", "via", "response", "victim", grants=2)
    ring = CheckedLevel("directory", "via", "response", "inclusive")
    owned = not tables.grant["GetS", "dirty"].possible
    return [
        complex_,
        ring,
        *([CheckedLevel("shadow-tags", "direct", "completion", grants=2)] if owned else []),
    ]


def forwards(tables: Tables) -> bool:
    """Returns True if the protocol has a forwarder (F), which a resolver need not use (R10)."""
    return tables.grant["GetS", "given"].next != tables.grant["GetS", "outside"].next


def walks(tables: Tables, everything: bool) -> list[CheckedSystem]:
    home = CheckedLevel("shadow-tags", "direct", "completion")
    ring = CheckedLevel("shadow-tags", "via", "response")
    machines = [CheckedSystem(TWO_CORES, ((2,),), (root,)) for root in roots()]
    machines += [CheckedSystem(THREE_CORES, ((3,),), (root,)) for root in roots()]
    for join in joins(tables):
        machines += [
            CheckedSystem(JOINED, ((2, 1), (2,)), (join, home if not join.recalls else ring))
        ]
    if forwards(tables):
        plain = replace(joins(tables)[0], forwarder=False)
        machines += [CheckedSystem(JOINED, ((2, 1), (2,)), (plain, home))]
        machines += [
            CheckedSystem(THREE_CORES, ((3,),), (replace(root, forwarder=False),))
            for root in roots()
        ]
    machines += [CheckedSystem(FEW_POINTERS, ((3,),), (root,)) for root in few_pointers()]
    pairs = [system for system in machines if system.group == TWO_CORES]
    for owned in (False, True):
        machines += [replace(system, far=True, owned=owned, group=FAR_ATOMICS) for system in pairs]
    # Cores drop copies silently, so a join may have lost the data when an atomic comes.
    machines += [CheckedSystem(FAR_ATOMICS, ((2,), (1,)), (joins(tables)[0], home), far=True)]
    machines.append(
        CheckedSystem(
            TWO_LINES, ((2,),), (CheckedLevel("directory", "direct", "completion"),), lines=2
        )
    )
    return machines + (deeper_systems(tables) if everything else [])


def deeper_systems(tables: Tables) -> list[CheckedSystem]:
    """Returns walks that take minutes. The largest ones stop early, and report the depth that they
    have reached.
    """
    home = CheckedLevel("shadow-tags", "direct", "completion")
    few_entries = replace(home, knows="directory")
    machines = [
        CheckedSystem("4-cores", ((4,),), (root,), states=4_000_000) for root in (home, few_entries)
    ]
    few_lines = (
        CheckedLevel("directory", "via", "response", "inclusive"),
        CheckedLevel("snoop", data="victim"),
    )
    for root in few_lines:
        machines.append(CheckedSystem(TWO_LINES, ((2,),), (root,), lines=2))
    for join in joins(tables):
        direct = replace(join, reply="direct", unblock="completion")
        machines += [
            CheckedSystem(JOINED, ((2, 1), (2,)), (direct, home)),
            CheckedSystem(
                JOINED,
                ((2, 1), (2,)),
                (join, CheckedLevel("snoop", "via", data="victim")),
                states=4_000_000,
            ),
            CheckedSystem("2+2-cores", ((2, 2), (2,)), (join, home), states=4_000_000),
            *(
                CheckedSystem(JOINED, ((2, 1), (2,)), (join, home), True, owned, 4_000_000)
                for owned in (False, True) * join.operates
            ),
            CheckedSystem(
                "three-levels", ((2, 1), (2,), (1,)), (join, join, few_entries), states=4_000_000
            ),
        ]
    return machines


def hand_chosen(tables: Tables) -> Iterator[CheckedSystem]:
    """Yields machines of two and three levels with few cores, which have found most races."""
    shapes = (((2, 1, 1), (2, 1), (2,)), ((2, 2, 2, 2), (2, 2), (2,)))
    tops = (CheckedLevel("shadow-tags", "direct"), CheckedLevel("snoop"))
    for shape, join, root in product(shapes, joins(tables), tops):
        far = len(shape[0]) > 3 and join.operates
        yield CheckedSystem(RANDOM, shape, (join, join, root), far, far and root.knows == "snoop")
    for join, root in product(joins(tables), few_pointers()):
        yield CheckedSystem(RANDOM, ((1, 1, 1), (3,)), (join, root))


def trials(tables: Tables, seed: int, count: int) -> Iterator[CheckedSystem]:
    """Yields machines of up to 16 cores and one to three levels, drawn at random from all kinds of
    resolvers.
    """
    draw = random.Random(seed)
    for number in range(count):
        fanout = [tuple(draw.choice((1, 2, 3, 4)) for _ in range(draw.choice((1, 2, 4))))]
        depth = number % 3 + 1
        if depth == 1:
            fanout = [(draw.randint(2, 16),)]
        if depth == 3:
            middle = draw.randint(1, len(fanout[0]))
            remaining = len(fanout[0]) - middle
            fanout.append((middle, remaining) if remaining else (middle,))
        if depth > 1:
            fanout.append((len(fanout[-1]),))
        levels = [replace(draw.choice(joins(tables)), grants=draw.choice((0, 3)))] * (depth - 1)
        far = number % 2 == 1 and all(level.operates for level in levels)
        owned = far and number % 4 == 3
        yield CheckedSystem(RANDOM, tuple(fanout), (*levels, draw.choice(roots())), far, owned)

"""Edits machine files at random, like an architect who makes a few changes, to see whether they
load.

The interface:

    edited(name, rng)    the text of a shipped machine or of a shape, changed at random
    outcome(path)        "refused LINE" or "passes"; raises AssertionError if a machine is unsound
"""

from __future__ import annotations

import random
import re
from functools import cache

from tests.differential.jobs import guest

from uncore.engine import native
from uncore.errors import GuestError, UserError
from uncore.execution import request
from uncore.support.paths import TOPOLOGIES
from uncore.topology import Machine, load
from uncore.topology.load import shipped, whole_text

NAMES = [*shipped(), "bus:4", "ring:6", "mesh:3x3", "ccx:2x4"]
TREES = ("socket:2", "die:2", "ccx:3", "core:2", "core:5", "core:4,2", "thread:2", "board:2")
MOST_HARTS = 8
HEADER = re.compile(r"\[([\w.-]+)\]")
WHERE = re.compile(r"^\S+:\d+: ")


@cache
def tables(name: str, self_contained: bool) -> tuple[str, ...]:
    """Splits a machine file into its head and its tables."""
    path = TOPOLOGIES / f"{name}.toml"
    text = whole_text(name) if self_contained or not path.exists() else path.read_text()
    return tuple(re.split(r"\n(?=\[)", text))


def edited(name: str, rng: random.Random) -> str:
    blocks = list(tables(name, rng.random() < 0.6))
    for _ in range(rng.randint(1, 3)):
        edit = rng.choice((drop, drop_line, borrow, replace, rename, grow, retree))
        edit(blocks, rng)
    return "\n".join(blocks) + "\n"


def other(rng: random.Random) -> tuple[str, ...]:
    return tables(rng.choice(NAMES), self_contained=True)


def drop(blocks: list[str], rng: random.Random) -> None:
    """Removes a table."""
    if len(blocks) > 1:
        del blocks[rng.randrange(1, len(blocks))]


def drop_line(blocks: list[str], rng: random.Random) -> None:
    at = rng.randrange(len(blocks))
    lines = blocks[at].split("\n")
    del lines[rng.randrange(len(lines))]
    blocks[at] = "\n".join(lines)


def borrow(blocks: list[str], rng: random.Random) -> None:
    """Replaces a table by that of the same name in another machine."""
    table = rng.choice(other(rng)[1:])
    head = table.partition("\n")[0]
    blocks[1:] = [block for block in blocks[1:] if block.partition("\n")[0] != head]
    blocks.append(table)


def replace(blocks: list[str], rng: random.Random) -> None:
    """Gives a key the value that it has in another machine."""
    theirs = [line for block in other(rng) for line in block.split("\n") if " = " in line]
    line = rng.choice(theirs)
    key = line.partition(" = ")[0].strip()
    mine = re.compile(rf"^{re.escape(key)}\s*=.*$", re.MULTILINE)
    fit = [at for at, block in enumerate(blocks) if mine.search(block)]
    if fit:
        at = rng.choice(fit)
        blocks[at] = mine.sub(lambda _: line, blocks[at], count=1)


def rename(blocks: list[str], rng: random.Random) -> None:
    """Moves a table to another level."""
    at = rng.randrange(len(blocks))
    levels = ("system", "socket", "die", "ccx", "core", "cluster")
    new = rng.choice(levels)
    blocks[at] = HEADER.sub(lambda m: f"[{'.'.join([new, *m[1].split('.')[1:]])}]", blocks[at], 1)


def grow(blocks: list[str], rng: random.Random) -> None:
    """Changes one number of the tree, such as `core:8`."""
    level = rng.choice(("socket", "die", "ccx", "core", "thread"))
    blocks[0] = re.sub(
        rf'(tree\s*=\s*"?.*?\b{level}:)\d+',
        lambda match: match[1] + str(rng.choice((1, 2, 3, 4, 8))),
        blocks[0],
        count=1,
    )  # fmt: skip


def retree(blocks: list[str], rng: random.Random) -> None:
    """Inserts a level into the tree before another."""
    level = rng.choice(TREES)
    blocks[0] = re.sub(
        r'(tree\s*=\s*)"([^"]*)"',
        lambda match: match[1] + f'"{_among(match[2].split(), level, rng)}"',
        blocks[0],
        count=1,
    )


def _among(words: list[str], level: str, rng: random.Random) -> str:
    at = rng.randrange(len(words))
    return " ".join([*words[:at], level, *words[at + rng.randint(0, 1) :]])


def outcome(path: str, ops: int = 12) -> str:
    try:
        machine = load(path)
    except UserError as error:
        assert WHERE.match(str(error)), f"a refusal without its line: {error}"
        return "refused"
    shares(machine, ops)
    return "passes"


def shares(machine: Machine, ops: int) -> None:
    """Runs random sharing between distant harts. The run must end, and its self-checks must
    pass.
    """
    job = request.make_job(
        machine,
        guest("random"),
        (min(machine.harts, MOST_HARTS),),
        parameters={"ops": ops, "lines": 4},
        placement="scatter",
        seeds=(1,),
    )
    try:
        point = native.run(job.at(job.threads[0], 1), frozenset())
    except GuestError as error:
        raise AssertionError(f"{machine.id} is unsound: {error}") from error
    assert not point["failures"], machine.id

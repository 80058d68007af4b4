"""Reads litmus tests of herd's tools (.litmus), and the states that herd prints for them.

The interface:

    read(text) -> Test                         raises Unread for what this reader does not know
    states(text) -> {name: (keys, states)}     of the output of herd7; a key is `0:x5` or a location
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from tests.foreign import conditions
from tests.foreign.conditions import Condition, Unread

State = tuple[str, ...]  # values in the order of the keys
States = dict[str, tuple[tuple[str, ...], frozenset[State]]]

# instructions of real processors; others (lw.aq, sw.rl) are shorthands of the memory model
KNOWN_INSTRUCTIONS = frozenset(
    """
    add addi addw and andi beq bne bge blt bgeu bltu beqz bnez fence fence.i fence.tso j ld li lw mv
    neg nop not or ori sd sll slli slt sltu snez seqz srl srli sub sw xor xori
    """.split()
) | {
    f"{name}.{size}{order}"
    for name in ("amoadd", "amoand", "amomax", "amomin", "amoor", "amoswap", "amoxor", "lr", "sc")
    for size in "wd"
    for order in ("", ".aq", ".rl", ".aq.rl", ".aqrl")
}
COMMENT = re.compile(r"\(\*.*?\*\)", re.DOTALL)
HEAD = re.compile(r"\s*RISCV\s+(\S+)[^{]*\{(.*?)\}(.*)", re.DOTALL)
# names of x0 to x31 in the calling convention, instead of which herd prints the numbers
NAMES = "zero ra sp gp tp t0 t1 t2 s0 s1 a0 a1 a2 a3 a4 a5 a6 a7".split()
NAMES += [f"s{n}" for n in range(2, 12)] + [f"t{n}" for n in range(3, 7)]
NUMBERED = {name: f"x{n}" for n, name in enumerate(NAMES)} | {"fp": "x8"}
ABI_REGISTER = re.compile(rf"\b({'|'.join(NUMBERED)})\b")
LABEL = re.compile(r"^(\w+)\s*:")
INITIAL = re.compile(r"^(?:u?int\d*(?:_t)?\s+)?(?:(\d+):(\w+)|(\w+))(?:\s*=\s*(\S+))?$")
MOST_THREADS, MOST_LOCATIONS = 4, 6


@dataclass(frozen=True)
class Test:
    name: str
    threads: tuple[tuple[str, ...], ...]  # instructions and labels
    registers: dict[tuple[int, str], str]  # (thread, register) -> a number or a location
    memory: dict[str, str]  # initial value of each location
    exists: Condition | None = None  # the final state that the test asks about
    filter: Condition | None = None  # condition on final states that herd prints

    @property
    def locations(self) -> tuple[str, ...]:
        return tuple(self.memory)


def read(text: str) -> Test:
    match = HEAD.match(COMMENT.sub("", text))
    if not match:
        raise Unread("no test for RISC-V")
    initial, rest = (
        ABI_REGISTER.sub(lambda of: NUMBERED[of[0]], part) for part in match.groups()[1:]
    )
    registers, memory = _initial(initial)
    threads = _threads(rest)
    if len(threads) > MOST_THREADS or len(memory) > MOST_LOCATIONS:
        raise Unread(f"{len(threads)} threads and {len(memory)} locations")
    asked = (conditions.of(rest, "exists"), conditions.of(rest, "filter"))
    return Test(match[1], threads, registers, memory, *asked)


def _initial(text: str) -> tuple[dict[tuple[int, str], str], dict[str, str]]:
    registers, memory = dict[tuple[int, str], str](), dict[str, str]()
    for part in filter(None, map(str.strip, text.split(";"))):
        match = INITIAL.match(part)
        if not match:
            raise Unread(f"begins with {part}")
        thread, register, location, value = match.groups()
        if location:
            memory[location] = value or "0"
        elif value:
            registers[int(thread), register] = value
    for value in (*registers.values(), *memory.values()):
        if not re.match(r"^-?(0x)?\d", value):
            memory.setdefault(value, "0")
    return registers, dict(sorted(memory.items()))


def _threads(text: str) -> tuple[tuple[str, ...], ...]:
    rows = []
    for line in text.split("\n"):
        if line.count(";") == 1 and line.rstrip().endswith(";"):
            rows.append([cell.strip() for cell in line.rstrip(" ;").split("|")])
        elif rows and line.strip():
            break
    if not rows or not all(re.match(r"P\d", head) for head in rows[0]):
        raise Unread("no table of threads")
    columns = [[] for _ in rows[0]]
    for row in rows[1:]:
        for column, cell in zip(columns, row, strict=False):
            column += _known_instructions(cell)
    return tuple(tuple(column) for column in columns)


def _known_instructions(cell: str) -> list[str]:
    out = []
    while label := LABEL.match(cell):
        out.append(f"{label[1]}:")
        cell = cell[label.end() :].strip()
    if cell:
        if cell.split()[0] not in KNOWN_INSTRUCTIONS:
            raise Unread(f"has {cell.split()[0]}")
        out.append(cell.replace(".aq.rl", ".aqrl"))
    return out


def states(text: str) -> States:
    states_by_test: States = {}
    for block in re.split(r"^Test ", text, flags=re.MULTILINE)[1:]:
        head, *lines = block.splitlines()
        if not lines or not (count := re.match(r"States (\d+)", lines[0])):
            continue
        rows = [
            dict(re.findall(r"\[?([\w:]+)\]?=([^;\s]+);", line))
            for line in lines[1 : 1 + int(count[1])]
        ]
        keys = tuple(rows[0]) if rows else ()
        states_by_test[head.split()[0]] = (
            keys,
            frozenset(tuple(row[k] for k in keys) for row in rows),
        )
    return states_by_test

"""Maps CPU numbers of an operating system to harts, by an expression such as `(i%16)*2 + i//16`.

i counts the CPUs that the system offers, from 0, in ascending order of their numbers. If no
expression describes the map (because some CPUs are offline, or numbers have gaps), the harts are
listed instead: "0 2 4 - 1 3", where "-" is a CPU that is no hart of the machine. Harts without a
CPU are omitted. `check_cpus(text, harts)` returns the text if it maps CPUs to harts one to one; an
expression must yield every hart. `hart_of_cpu(machine)` returns the whole map. An expression may
have only i, whole numbers, + - * // % and parentheses; it is interpreted here, never executed as
code.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable

from uncore.topology.machine import Machine
from uncore.topology.units import UnitError

OPERATORS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
MAX_CPUS_LETTERS = 200
LIST_PATTERN = re.compile(r"(\d{1,6}|-)(\s+(\d{1,6}|-))*")
EXPECTED = "expected an expression of i, like (i%16)*2 + i//16, with + - * // % and parentheses"


def check_cpus(text: str, harts: int) -> str:
    if _is_list(text):
        listed = [hart for hart in _parse_list(text) if hart is not None]
        if not listed or len(set(listed)) < len(listed) or max(listed) >= harts:
            raise UnitError(f"expected harts from 0 to {harts - 1}, each at most once")
        return text
    try:
        body = ast.parse(text.strip()[: MAX_CPUS_LETTERS + 1], mode="eval").body
        if len(text) > MAX_CPUS_LETTERS:
            raise UnitError(f"expected at most {MAX_CPUS_LETTERS} characters")
        harts_of_cpus = [_value(body, i) for i in range(harts)]
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise error if isinstance(error, UnitError) else UnitError(EXPECTED) from None
    except ZeroDivisionError:
        raise UnitError("divides by zero") from None
    if sorted(harts_of_cpus) != list(range(harts)):
        raise UnitError(
            f"expected each hart from 0 to {harts - 1} once; CPU 0 gives {harts_of_cpus[0]}"
        )
    return text


def _value(node: ast.expr, i: int) -> int:
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    if isinstance(node, ast.Name) and node.id == "i":
        return i
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        return OPERATORS[type(node.op)](_value(node.left, i), _value(node.right, i))
    raise UnitError(EXPECTED)


def _is_list(text: str) -> bool:
    return LIST_PATTERN.fullmatch(text.strip()) is not None and not text.strip().isdigit()


def _parse_list(text: str) -> list[int | None]:
    return [None if word == "-" else int(word) for word in text.split()]


def hart_of_cpu(machine: Machine) -> list[int | None]:
    """Returns the hart of each CPU, in ascending order of CPUs, or None for a CPU that is no hart
    of the machine.
    """
    if _is_list(machine.cpus):
        return _parse_list(machine.cpus)
    body = ast.parse(machine.cpus, mode="eval").body
    return [_value(body, i) for i in range(machine.harts)]

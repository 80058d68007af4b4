"""From an operating system's CPU numbers to harts: a small expression, `(i%16)*2 + i//16`.

`check_cpus(text, harts)` returns the text where it maps 0 .. harts-1 onto themselves, one to one;
`hart_of_cpu(machine)` gives the whole map.  Only i, whole numbers, + - * // % and parentheses are
understood: nothing in a machine file is ever executed.
"""

from __future__ import annotations

import ast
import operator
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
LONGEST = 200  # characters
EXPECTED = "expected an expression of i, like (i%16)*2 + i//16, with + - * // % and parentheses"


def check_cpus(text: str, harts: int) -> str:
    try:
        body = ast.parse(text.strip()[: LONGEST + 1], mode="eval").body
        if len(text) > LONGEST:
            raise UnitError(f"expected at most {LONGEST} characters")
        image = [_value(body, i) for i in range(harts)]
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise error if isinstance(error, UnitError) else UnitError(EXPECTED) from None
    except ZeroDivisionError:
        raise UnitError("divides by zero") from None
    if sorted(image) != list(range(harts)):
        raise UnitError(f"expected each hart from 0 to {harts - 1} once; CPU 0 gives {image[0]}")
    return text


def _value(node: ast.expr, i: int) -> int:
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    if isinstance(node, ast.Name) and node.id == "i":
        return i
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        return OPERATORS[type(node.op)](_value(node.left, i), _value(node.right, i))
    raise UnitError(EXPECTED)


def hart_of_cpu(machine: Machine) -> list[int]:
    body = ast.parse(machine.cpus, mode="eval").body
    return [_value(body, i) for i in range(machine.harts)]

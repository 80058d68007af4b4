"""Formulas of an exploration, read from text and evaluated.

    Formula.read("ccx * (6 + 1.1 * cores)", position).value(values)   returns a number
    Template.read("ccx:{256/cores}x{cores}", position).text(values)   returns text with numbers
    Constraint.read("area <= 800", position).excess(values)           returns by how much it fails
    formula.span(spans), constraint.least_excess(spans)               the same for intervals

`position` is file and line; `values` has a value for each name; a name may have points, as in
mcs.throughput. A formula has numbers, names, + - * / **, parentheses, min and max; nothing else is
executed. A span is an interval that contains every value that a formula can have if the value of
each name is within the span of the name; a name without a span can have any value.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from uncore.errors import UserError, suggestion

Known = Mapping[str, float | str]
Span = tuple[float, float]

ANY: Span = (-math.inf, math.inf)
MAX_FORMULA_LETTERS = 400  # a longer text is not accepted as a formula
BINARY_OPERATORS: Mapping[type, Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: math.pow,
}
FUNCTIONS: Mapping[str, Callable[..., float]] = {"min": min, "max": max}
COMPARISON_PATTERN = re.compile(r"(.+?)(<=|>=)(.+)")
BRACES_PATTERN = re.compile(r"\{([^{}]*)\}")


@dataclass(frozen=True)
class Formula:
    place: str  # file and line
    words: str
    tree: ast.expr

    @classmethod
    def read(cls, words: str, position: str) -> Formula:
        try:
            tree = ast.parse(words.strip()[:MAX_FORMULA_LETTERS], mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise _formula_error(position, words) from None
        if len(words) > MAX_FORMULA_LETTERS or not all(map(_is_allowed, _parts(tree))):
            raise _formula_error(position, words)
        return cls(position, words.strip(), tree)

    @property
    def names(self) -> set[str]:
        return {_name(part) for part in _parts(self.tree) if isinstance(part, _NAMES)}

    def value(self, values: Known) -> float:
        try:
            return float(self._value(self.tree, values))
        except (ArithmeticError, ValueError) as error:
            raise UserError(f"{self.place}: '{self.words}': {error}") from None

    def _value(self, part: ast.expr, values: Known) -> float:
        match part:
            case ast.Constant():
                return float(part.value)  # type: ignore[arg-type]
            case ast.BinOp():
                left, right = self._value(part.left, values), self._value(part.right, values)
                return BINARY_OPERATORS[type(part.op)](left, right)
            case ast.UnaryOp():
                return -self._value(part.operand, values)
            case ast.Call():
                return FUNCTIONS[_name(part.func)](
                    [self._value(argument, values) for argument in part.args]
                )
        return self._value_of_name(_name(part), values)

    def span(self, spans: Mapping[str, Span]) -> Span:
        return _span(self.tree, spans)

    def _value_of_name(self, name: str, values: Known) -> float:
        value = values.get(name)
        if isinstance(value, str):
            raise UserError(f"{self.place}: '{self.words}': {name} is '{value}', not a number")
        if value is None:
            raise UserError(
                f"{self.place}: '{self.words}': nothing is called '{name}'."
                f"{suggestion(name, values)} There are {', '.join(sorted(values))}"
            )
        return value


def _span(part: ast.expr, spans: Mapping[str, Span]) -> Span:
    match part:
        case ast.Constant():
            value = float(part.value)  # type: ignore[arg-type]
            return value, value
        case ast.BinOp():
            sides = _span(part.left, spans), _span(part.right, spans)
            return _corners(type(part.op), BINARY_OPERATORS[type(part.op)], sides)
        case ast.UnaryOp():
            low, high = _span(part.operand, spans)
            return -high, -low
        case ast.Call():
            call = FUNCTIONS[_name(part.func)]
            ends = zip(*(_span(argument, spans) for argument in part.args), strict=True)
            low, high = map(call, ends)
            return low, high
    return spans.get(_name(part), ANY)


def _corners(kind: type, operation: Callable[[float, float], float], sides: Sequence[Span]) -> Span:
    """Returns the span of an operation from the ends of its operands' spans. This is valid because
    operations are monotonic in each operand; exceptions are division by a span that contains zero,
    and powers of a base that may be negative, which may have any value.
    """
    left, right = sides
    exact = left[0] == left[1] and right[0] == right[1]
    divides_by_zero = kind is ast.Div and right[0] <= 0 <= right[1]
    monotonic = not (divides_by_zero or (kind is ast.Pow and left[0] <= 0))
    try:
        ends = [operation(a, b) for a in left for b in right] if exact or monotonic else [math.nan]
    except (ArithmeticError, ValueError):
        return ANY
    return ANY if any(map(math.isnan, ends)) else (min(ends), max(ends))


def _formula_error(position: str, words: str) -> UserError:
    return UserError(
        f"{position}: '{words[:60]}': expected a formula of numbers, names, + - * / **, min(a, b)"
        " and max(a, b), like ccx * 6 + 1.1 * cores"
    )


_NAMES = (ast.Name, ast.Attribute)


def _parts(tree: ast.expr) -> Iterator[ast.expr]:
    """Yields the operations and operands of a tree; a dotted name is a single part."""
    yield tree
    operands: list[Any] = []
    match tree:
        case ast.BinOp():
            operands = [tree.left, tree.right]
        case ast.UnaryOp():
            operands = [tree.operand]
        case ast.Call():
            operands = tree.args
    for part in operands:
        yield from _parts(part)


def _is_allowed(part: ast.expr) -> bool:
    match part:
        case ast.Constant():
            return type(part.value) in (int, float)
        case ast.BinOp():
            return type(part.op) in BINARY_OPERATORS
        case ast.UnaryOp():
            return isinstance(part.op, ast.USub)
        case ast.Call():
            return _name(part.func) in FUNCTIONS and bool(part.args) and not part.keywords
    return bool(_name(part))


def _name(part: ast.expr) -> str:
    """Returns a dotted name; "" if the part is not a name."""
    if isinstance(part, ast.Name):
        return part.id
    if isinstance(part, ast.Attribute) and (prefix := _name(part.value)):
        return f"{prefix}.{part.attr}"
    return ""


@dataclass(frozen=True)
class Template:
    """Text in which {FORMULA} is replaced by its value, and {NAME} by a value or a word."""

    words: str
    formulas: Mapping[str, Formula]

    @classmethod
    def read(cls, words: str, position: str) -> Template:
        return cls(
            words, {text: Formula.read(text, position) for text in BRACES_PATTERN.findall(words)}
        )

    @property
    def names(self) -> set[str]:
        return {name for formula in self.formulas.values() for name in formula.names}

    def text(self, values: Known) -> str:
        def value_text(match: re.Match[str]) -> str:
            word = values.get(match[1].strip())
            if isinstance(word, str):
                return word
            return f"{self.formulas[match[1]].value(values):.10g}"

        return BRACES_PATTERN.sub(value_text, self.words)


@dataclass(frozen=True)
class Constraint:
    words: str
    lesser: Formula  # the side that must be at most `greater`
    greater: Formula

    @classmethod
    def read(cls, words: str, position: str) -> Constraint:
        match = COMPARISON_PATTERN.fullmatch(words)
        if not match:
            raise UserError(f"{position}: '{words}': expected a bound, like area <= 800")
        sides = Formula.read(match[1], position), Formula.read(match[3], position)
        lesser, greater = sides if match[2] == "<=" else sides[::-1]
        return cls(words, lesser, greater)

    @property
    def names(self) -> set[str]:
        return self.lesser.names | self.greater.names

    def excess(self, values: Known) -> float:
        """Returns the amount by which the bound is violated; it is at most 0 if the bound holds."""
        return self.lesser.value(values) - self.greater.value(values)

    def least_excess(self, spans: Mapping[str, Span]) -> float:
        """Returns the least amount by which the bound can be violated; minus infinity if nothing is
        known.
        """
        least = self.lesser.span(spans)[0] - self.greater.span(spans)[1]
        return -math.inf if math.isnan(least) else least

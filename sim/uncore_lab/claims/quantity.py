"""The vocabulary of claims: numbers, + - * / and parentheses, and these amounts.

Of one point, written `run@threads`, or `run` where a run has one thread count:

    throughput(p)       operations a second, all threads
    time(p)             ns per operation of one thread
    interval(p)         ns from one operation to the next, whoever does it
    p50(p) p99(p)       ns, latency of operations
    unfairness(p)       operations of the thread that did most, over those of the one that did least
    fetched(p)          lines fetched per operation; fetched(p, "ccx"): those of one distance class
    cell(p, "t", r, c)  one number of a table the workload publishes; times in ns
    typical(p, "t", c)  the median of a column, 0 left out; without c: of the whole table

Of a curve, written `run`:

    best(run)           operations a second at the thread count that has most
    peak(run)           that thread count
    knee(run)           the least thread count with nine tenths of the best

Of numbers: median(...) min(...) max(...)

The syntax is Python's, read by its parser and never evaluated by it: a node that is not one of
these is refused.  Invariant: what `check` lets through fails only on what a result does not hold.
"""

from __future__ import annotations

import ast
import operator
import statistics
from collections.abc import Callable, Mapping
from typing import Any

from uncore.errors import UserError, nearest
from uncore.result import Point, Result

Tables = Mapping[str, Mapping[str, str]]  # run -> table -> unit
NS = {"ps": 1e-3, "ns": 1.0, "us": 1e3}  # other units are numbers as they stand
KNEE = 0.9

ARITHMETIC: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


class Quantity:
    """One expression."""

    def __init__(self, text: str) -> None:
        self.text = text
        try:
            self.tree = ast.parse(text, mode="eval").body
        except SyntaxError as error:
            raise self.wrong(f"cannot be read: {error.msg}") from None

    def wrong(self, why: str) -> UserError:
        return UserError(f"quantity '{self.text}' {why}")

    # ---- Before the runs ----

    def check(self, threads: Mapping[str, tuple[int, ...]]) -> None:
        """Everything it names exists."""
        self._number(self.tree, threads)

    def _number(self, node: ast.expr, threads: Mapping[str, tuple[int, ...]]) -> None:
        if isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC:
            self._number(node.left, threads)
            self._number(node.right, threads)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
            self._call(node.func.id, node.args, threads)
        elif not (isinstance(node, ast.Constant) and type(node.value) in (int, float)):
            raise self.wrong(f"has '{ast.unparse(node)}' where a number belongs")

    def _call(
        self, name: str, words: list[ast.expr], threads: Mapping[str, tuple[int, ...]]
    ) -> None:
        known = {**OF_POINTS, **OF_CURVES, **OF_NUMBERS}
        if name not in known:
            raise self.wrong(
                f"asks for '{name}'.{nearest(name, known)} Known amounts are {', '.join(known)}"
            )
        if not words:
            raise self.wrong(f"asks {name}() of nothing")
        if name in OF_NUMBERS:
            for word in words:
                self._number(word, threads)
            return
        run, count = self._reference(words[0])
        if run not in threads:
            raise self.wrong(f"names the run '{run}'.{nearest(run, threads)}")
        if name in OF_POINTS:
            counts = threads[run]
            if count is None and len(counts) != 1:
                raise self.wrong(f"asks {name}() of '{run}', a curve: write {run}@{counts[-1]}")
            if count is not None and count not in counts:
                raise self.wrong(
                    f"asks for {run}@{count}; the run has {', '.join(map(str, counts))}"
                )
        elif count is not None:
            raise self.wrong(f"asks {name}() of a point; it is asked of a curve: {name}({run})")
        if not all(isinstance(word, ast.Constant) for word in words[1:]):
            raise self.wrong(f"gives {name}() a word that is no constant")

    def _reference(self, node: ast.expr) -> tuple[str, int | None]:
        """`run` or `run@64`."""
        if isinstance(node, ast.Name):
            return node.id, None
        if (
            isinstance(node, ast.BinOp)
            and isinstance(node.op, ast.MatMult)
            and isinstance(node.left, ast.Name)
            and isinstance(node.right, ast.Constant)
            and isinstance(node.right.value, int)
        ):
            return node.left.id, node.right.value
        raise self.wrong(f"has '{ast.unparse(node)}' where a run belongs; write RUN or RUN@THREADS")

    # ---- After them ----

    def amount(self, results: Mapping[str, Result], tables: Tables) -> float:
        """What it comes to; UserError where a result does not hold what is asked."""
        try:
            return self._evaluate(self.tree, results, tables)
        except (LookupError, TypeError, ValueError, ZeroDivisionError) as error:
            raise self.wrong(f"has no value: {error!r}") from None

    def _evaluate(self, node: ast.expr, results: Mapping[str, Result], tables: Tables) -> float:
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
            return float(node.value)
        if isinstance(node, ast.BinOp):
            left = self._evaluate(node.left, results, tables)
            return ARITHMETIC[type(node.op)](left, self._evaluate(node.right, results, tables))
        assert isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        name = node.func.id
        if name in OF_NUMBERS:
            return OF_NUMBERS[name]([self._evaluate(arg, results, tables) for arg in node.args])
        run, count = self._reference(node.args[0])
        if name in OF_CURVES:
            return OF_CURVES[name](results[run].points)
        words = [arg.value for arg in node.args[1:] if isinstance(arg, ast.Constant)]
        points = {point.threads: point for point in results[run].points}
        point = points[count] if count is not None else next(iter(points.values()))
        return OF_POINTS[name](point, tables[run], *words)


# ---- Amounts -------------------------------------------------------------------------------------


def _rate(point: Point) -> float:
    return point.ops / point.elapsed_ps * 1e12


def _latency(point: Point, name: str) -> float:
    if point.latency is None:
        raise ValueError(f"no latency: {point.absent['latency']}")
    return int(getattr(point.latency, name)) / 1000


def _fetched(point: Point, *classes: str) -> float:
    moved = point.transfers
    if moved is None:
        raise ValueError(f"no transfers: {point.absent['transfers']}")
    return sum(moved.get(c, 0) for c in classes or moved) / point.ops


def _cell(point: Point, units: Mapping[str, str], table: str, row: int, column: int) -> float:
    return point.tables[table][row][column] * NS.get(units[table], 1.0)


def _typical(
    point: Point, units: Mapping[str, str], table: str, column: int | None = None
) -> float:
    cells = [
        cell
        for row in point.tables[table]
        for place, cell in enumerate(row)
        if cell and column in (None, place)
    ]
    return statistics.median(cells) * NS.get(units[table], 1.0)


def _best(points: list[Point]) -> Point:
    return max(points, key=_rate)


def _knee(points: list[Point]) -> float:
    enough = KNEE * _rate(_best(points))
    return min(point.threads for point in points if _rate(point) >= enough)


OF_POINTS: dict[str, Callable[..., float]] = {
    "throughput": lambda p, _: _rate(p),
    "time": lambda p, _: p.threads / _rate(p) * 1e9,
    "interval": lambda p, _: 1e9 / _rate(p),
    "p50": lambda p, _: _latency(p, "p50"),
    "p99": lambda p, _: _latency(p, "p99"),
    "unfairness": lambda p, _: max(p.thread_ops) / min(p.thread_ops),
    "fetched": lambda p, _, *classes: _fetched(p, *classes),
    "cell": _cell,
    "typical": _typical,
}
OF_CURVES: dict[str, Callable[[list[Point]], float]] = {
    "best": lambda points: _rate(_best(points)),
    "peak": lambda points: _best(points).threads,
    "knee": _knee,
}
OF_NUMBERS: dict[str, Callable[[list[Any]], float]] = {
    "median": statistics.median,
    "min": min,
    "max": max,
}

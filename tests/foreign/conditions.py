"""Reads and evaluates conditions on final states of litmus tests, in the syntax of herd's tools.

The interface:

    of(text, "exists" | "filter") -> Condition     of a test's text; None if it has none
    holds(state) -> bool                           a state is {key: value}, as herd prints it
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Literal

State = Mapping[str, str]
Predicate = Callable[[State], bool]

TOKEN = re.compile(r"\s*(/\\|\\/|[()~=]|[\w:.\-\[\]+]+)")


class Unread(Exception):
    """Raised with the reason why a test cannot be run here."""


class Condition:
    """A proposition about a final state, with the keys that it names."""

    def __init__(self, text: str) -> None:
        self._tokens = TOKEN.findall(text)
        self._at = 0
        self.keys: set[str] = set()
        self.holds = self._disjunction()

    def _next(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def _take(self, expected: str = "") -> str:
        token = self._next()
        if not token or (expected and token != expected):
            raise Unread(f"a proposition has '{token}', not '{expected or 'a name'}'")
        self._at += 1
        return token

    def _disjunction(self) -> Predicate:
        left = self._conjunction()
        while self._next() == "\\/":
            self._take()
            left = _or(left, self._conjunction())
        return left

    def _conjunction(self) -> Predicate:
        left = self._atom()
        while self._next() == "/\\":
            self._take()
            left = _and(left, self._atom())
        return left

    def _atom(self) -> Predicate:
        if self._next() in ("not", "~"):
            self._take()
            denied = self._atom()
            return lambda state: not denied(state)
        if self._next() == "(":
            self._take()
            inner = self._disjunction()
            self._take(")")
            return inner
        key = self._take().strip("[]")
        if key == "true":
            return lambda state: True
        self._take("=")
        value = self._take()
        self.keys.add(key)
        return lambda state: _equal(state[key], value)


def _or(a: Predicate, b: Predicate) -> Predicate:
    return lambda state: a(state) or b(state)


def _and(a: Predicate, b: Predicate) -> Predicate:
    return lambda state: a(state) and b(state)


def _equal(a: str, b: str) -> bool:
    """True if two texts are equal, or are the same number, such as 0x1 and 1."""
    try:
        return int(a, 0) == int(b, 0)
    except ValueError:
        return a == b


def of(text: str, part: Literal["exists", "filter"]) -> Condition | None:
    match = re.search(rf"^\s*~?\s*{part}\b(.*)", text, re.MULTILINE | re.DOTALL)
    if not match:
        return None
    return Condition(re.split(r"^\s*(?:~?\s*exists|forall|locations)\b", match[1], flags=re.M)[0])

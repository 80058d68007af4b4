"""Counts the methods of each C++ class in its body.

This is a scanner of declarations, not a compiler: it needs no system headers, and reads the tree in
a second.  Methods are the member functions that a class declares, including each overload, without
constructors, destructors, and functions that are `= default` or `= delete`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

COMMENT = re.compile(
    r"""//[^\n]* | /\*.*?\*/ | ^[ ]*\#(?:[^\n]*\\\n)*[^\n]*   # a directive, with its continuations
    | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])+'(?!\w)""",
    re.DOTALL | re.MULTILINE | re.VERBOSE,
)
TOKEN = re.compile(r"operator\s*(?:\(\)|\[\]|[^\w\s(]+|\w+)|[A-Za-z_]\w*|::|->|\[\[.*?\]\]|\S")
OPENING, CLOSING = "([{", ")]}"
NO_METHOD = {"using", "typedef", "friend", "static_assert"}
TYPES = {"class", "struct", "union", "enum", "namespace"}


@dataclass(frozen=True)
class Class:
    name: str
    methods: tuple[str, ...]


def bare(text: str) -> str:
    """Returns the code without comments, directives and literals."""
    return COMMENT.sub(lambda match: '""' if match[0][0] in "\"'" else " ", text)


def classes(text: str) -> list[Class]:
    """Returns the classes of a file, including nested ones."""
    return list(_Scanner(TOKEN.findall(bare(text))).scope("", ""))


class _Scanner:
    """Scans the tokens once; `at` is the index of the next token."""

    def __init__(self, tokens: list[str]) -> None:
        self.tokens, self.at = tokens, 0

    def scope(self, path: str, name: str) -> Iterator[Class]:
        """Scans declarations up to a closing brace; yields the classes in them, then this one."""
        methods = []
        while self.at < len(self.tokens) and self.tokens[self.at] != "}":
            head = self.head()
            opens = self.at < len(self.tokens) and self.tokens[self.at] == "{"
            if opens and (kind := _type(head)):
                yield from self.nested(path, kind, head)
            elif opens:
                self.skip()
                self.semicolon()
            else:
                self.at += 1
            if method := _method(head, name):
                methods.append(method)
        self.at += 1
        if name:
            yield Class(path, tuple(methods))

    def nested(self, path: str, kind: str, head: list[str]) -> Iterator[Class]:
        name = "" if kind in ("enum", "namespace") else _name(head)
        if kind == "enum":
            self.skip()
        else:
            self.at += 1
            yield from self.scope(f"{path}::{name}".strip(":") if name else path, name)
        if kind != "namespace":
            self.declarators()

    def head(self) -> list[str]:
        """Returns the tokens of a declaration up to its body or its end. A pair of brackets with
        its contents is one token.
        """
        head: list[str] = []
        initializers = False
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            if token in ";}" or (token == "{" and self.is_body(head, initializers)):
                break
            if token == ":" and head and head[-1] in ("public", "private", "protected"):
                head, initializers = [], False
                self.at += 1
                continue
            initializers |= token == ":" and ")" in "".join(head)
            if token in OPENING:
                self.skip()
                head.append(token + CLOSING[OPENING.index(token)])
            else:
                head.append(token)
                self.at += 1
        return head

    def is_body(self, head: list[str], initializers: bool) -> bool:
        """True if the next brace opens a body instead of an initial value."""
        if _type(head):
            return True
        if initializers:
            return head[-1] in ("()", "{}")
        return "=" not in head and _callee(head) is not None

    def skip(self) -> None:
        """Skips a pair of brackets with its contents."""
        depth = 0
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            depth += token in OPENING
            depth -= token in CLOSING
            self.at += 1
            if depth == 0:
                return

    def semicolon(self) -> None:
        self.at += self.at < len(self.tokens) and self.tokens[self.at] == ";"

    def declarators(self) -> None:
        """Skips the variables after a type's body, up to the semicolon."""
        while self.at < len(self.tokens) and self.tokens[self.at] != ";":
            if self.tokens[self.at] in OPENING:
                self.skip()
            else:
                self.at += 1
        self.at += 1


def _plain(head: list[str]) -> list[str]:
    """Returns the head without angle brackets and their contents."""
    plain, depth = [], 0
    for before, token in pairwise(["", *head]):
        if token == "<" and (before == "template" or re.match(r"\w", before)):
            depth += 1
        elif token == ">" and depth:
            depth -= 1
        elif not depth:
            plain.append(token)
    return plain


def _type(head: list[str]) -> str:
    """Returns the keyword of a head that declares a type or a namespace; "" for any other head."""
    plain = _plain(head)
    if "()" in plain and not any(token.startswith("alignas") for token in plain):
        return ""
    return next((token for token in plain if token in TYPES), "")


def _name(head: list[str]) -> str:
    """Returns the last name before the base classes."""
    plain = _plain(head)
    plain = plain[: plain.index(":")] if ":" in plain else plain
    names = [token for token in plain if re.fullmatch(r"\w+", token) and token != "final"]
    return names[-1] if names and names[-1] not in TYPES else ""


def _callee(head: list[str]) -> str | None:
    """Returns the name before the first brackets that may belong to a function."""
    plain = _plain(head)
    for before, token in pairwise(plain):
        if token == "()" and re.match(r"\w", before) and before not in ("alignas", "explicit"):
            return before
        if token == "=" and not before.startswith("operator"):
            return None
    return None


def _method(head: list[str], name: str) -> str:
    """Returns the name of the method that a member of class `name` declares; "" if it declares
    none.
    """
    plain = _plain(head)
    if not name or not head or NO_METHOD & set(plain) or _type(head):
        return ""
    if plain[-2:] in (["=", "default"], ["=", "delete"]):
        return ""
    callee = _callee(head)
    return "" if callee is None or callee == name else callee

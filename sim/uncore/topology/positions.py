"""Finds the line of each key of a TOML text, because tomllib returns only values.

`key_lines(text)` returns a map from key path to line number. The text must be one that tomllib
accepts; the grammar is not checked. A path is a tuple of keys; an element of an array, or of an
array of tables, adds its index. Invariant (tested against tomllib): every key path of the parsed
document is in the map.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator

Path = tuple[str | int, ...]

TOKEN_PATTERN = re.compile(
    r'"""(?:\\.|[^\\])*?"{3,5}|\'\'\'.*?\'{3,5}'  # strings of several lines
    r'|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\''
    r"|#[^\n]*|\n|\[\[|\]\]|[\[\]{}=,.]|[^\s\[\]{}=,.#\"']+",
    re.DOTALL,
)


def key_lines(text: str) -> dict[Path, int]:
    scanner = _Scanner(text.replace("\r\n", "\n"))
    scanner.document()
    return scanner.lines


class _Scanner:
    """Follows TOML's grammar over the tokens; inside a value, `[[` means two brackets."""

    def __init__(self, text: str) -> None:
        self.lines: dict[Path, int] = {}
        self.counts: dict[Path, int] = {}  # elements of each array of tables so far
        self.tokens = self._tokenize(text)
        self.token, self.line = "", 1
        self.advance()

    @staticmethod
    def _tokenize(text: str) -> Iterator[tuple[str, int]]:
        line, offset = 1, 0
        for match in TOKEN_PATTERN.finditer(text):
            line += text.count("\n", offset, match.start())
            offset = match.start()
            if not match[0].startswith("#"):
                yield match[0], line
        while True:
            yield "", line

    def advance(self) -> str:
        consumed = self.token
        self.token, self.line = next(self.tokens)
        return consumed

    def skip_newlines(self) -> None:
        while self.token == "\n":
            self.advance()

    def document(self) -> None:
        table_path: Path = ()
        while True:
            self.skip_newlines()
            if not self.token:
                return
            if self.token in ("[", "[["):
                table_path = self.header()
            else:
                self.pair(table_path)

    def header(self) -> Path:
        is_array, line = self.advance() == "[[", self.line
        path = self.absolute(self.key())
        self.advance()
        if is_array:
            index = self.counts[path] = self.counts.get(path, -1) + 1
            self.lines.setdefault(path, line)
            path = (*path, index)
        self.mark(path, line)
        return path

    def absolute(self, keys: list[str]) -> Path:
        """Completes a header's path: the name of an array of tables stands for its last element."""
        path: Path = ()
        for key in keys[:-1]:
            path = (*path, key)
            if path in self.counts:
                path = (*path, self.counts[path])
        return (*path, keys[-1])

    def pair(self, table_path: Path) -> None:
        line = self.line
        path = (*table_path, *self.key())
        self.advance()  # the equals sign
        self.mark(path, line)
        self.value(path)

    def key(self) -> list[str]:
        keys = [_unquoted(self.advance())]
        while self.token == ".":
            self.advance()
            keys.append(_unquoted(self.advance()))
        return keys

    def mark(self, path: Path, line: int) -> None:
        for length in range(1, len(path) + 1):
            self.lines.setdefault(path[:length], line)

    def value(self, path: Path) -> None:
        """Skips one value. It may recurse, because tomllib limits the nesting."""
        if self.token == "{":
            self.inline_table(path)
        elif self.token in ("[", "[["):
            self.array(path)
        else:
            while self.token not in ("", "\n", ",", "]", "]]", "}"):
                self.advance()  # a scalar may be several tokens: 1.5, 1979-05-27 07:32:00

    def inline_table(self, path: Path) -> None:
        self.advance()
        self.skip_newlines()
        while self.token not in ("}", ""):
            self.pair(path)
            self.separator()
        self.advance()

    def array(self, path: Path) -> None:
        self.open_bracket()
        index = 0
        self.skip_newlines()
        while self.token not in ("]", "]]", ""):
            self.mark((*path, index), self.line)
            self.value((*path, index))
            self.separator()
            index += 1
        self.close_bracket()

    def separator(self) -> None:
        self.skip_newlines()
        if self.token == ",":
            self.advance()
            self.skip_newlines()

    def open_bracket(self) -> None:
        """Consumes one bracket. If the token is `[[`, its second bracket remains."""
        if self.token == "[[":
            self.token = "["
        else:
            self.advance()

    def close_bracket(self) -> None:
        if self.token == "]]":
            self.token = "]"
        else:
            self.advance()


def _unquoted(key: str) -> str:
    if key[:1] in ("'", '"'):
        return next(iter(tomllib.loads(f"{key} = 0")))
    return key

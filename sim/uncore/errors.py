"""Exceptions that report problems outside uncore itself, each with its exit status.

    UserError      2   a mistake in the user's input; the text says where, what was read, what was
                       expected and what to write instead
    GuestError     1   the simulated program trapped, left its memory or waits forever
    OutsideError   3   another simulator failed

The text of an exception is the whole message: the command line prints it and exits.  If a user
sees a traceback, uncore has a bug.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Any

NOTHING: Mapping[str, Any] = {}


class UncoreError(Exception):
    """Base class of the exceptions of uncore; the command line prints their text, no traceback."""

    status = 1


class UserError(UncoreError):
    """A mistake in what the user wrote."""

    status = 2


class GuestError(UncoreError):
    """The simulated program failed; the text names hart, pc, symbol and source line."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles the error with its cause, which holds the partial results of a worker process."""
        return _with_cause, (type(self), self.args, self.__cause__)


def _with_cause(kind: type[GuestError], args: tuple[Any, ...], cause: BaseException | None) -> Any:
    error = kind(*args)
    error.__cause__ = cause
    return error


class Unfinished(Exception):
    """Holds partial results of a stopped run: tables by name, the program's output, observations.

    It is the cause of the GuestError or KeyboardInterrupt that stopped the run.
    """

    def __init__(
        self, tables: Mapping[str, Any], output: str = "", observed: Mapping[str, Any] = NOTHING
    ) -> None:
        super().__init__(tables, output, observed)
        self.tables, self.output, self.observed = tables, output, observed

    def __str__(self) -> str:
        return "stopped before its end"

    @classmethod
    def cause_of(cls, stopped: BaseException) -> Unfinished:
        """Returns the partial results that `stopped` has as its cause, or empty ones."""
        return stopped.__cause__ if isinstance(stopped.__cause__, cls) else cls({})

    def stopped(self) -> KeyboardInterrupt:
        """Returns a KeyboardInterrupt whose cause are these partial results."""
        stopped = KeyboardInterrupt()
        stopped.__cause__ = self
        return stopped

    @classmethod
    def tables_of(cls, stopped: BaseException) -> Mapping[str, Any]:
        """Returns the tables that were complete when the run stopped; empty if there are none."""
        return cls.cause_of(stopped).tables

    @classmethod
    def output_of(cls, stopped: BaseException) -> str:
        """Returns the output of the program until the run stopped; "" if there is none."""
        return cls.cause_of(stopped).output

    @classmethod
    def observed_of(cls, stopped: BaseException) -> Mapping[str, Any]:
        """Returns the observations that were available when the run stopped."""
        return cls.cause_of(stopped).observed


class OutsideError(UncoreError):
    """Another simulator failed."""

    status = 3


def suggestion(word: str, known: Iterable[str], max_matches: int = 1) -> str:
    """Returns ` Did you mean 'x'?` for the known words most like `word`, or "" if none is
    similar.
    """
    names = {name.lower(): name for name in known}
    matches = difflib.get_close_matches(word.lower(), names, n=max_matches, cutoff=0.5)
    return (
        f" Did you mean {' or '.join(repr(names[match]) for match in matches)}?" if matches else ""
    )

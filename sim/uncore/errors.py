"""The exceptions that do not come from faults of uncore, each with its exit status.

    UserError      2   a mistake in the user's input; the text says where, what was read, what was
                       expected and what to write instead
    GuestError     1   the simulated program trapped, left its memory or waits forever
    OutsideError   3   another simulator failed

The text of each is the whole message: the command line prints it and exits.  A traceback on a
user's screen is always a fault of uncore.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Any

NOTHING: Mapping[str, Any] = {}


class UncoreError(Exception):
    """Base of all: the command line prints its text, never a traceback."""

    status = 1


class UserError(UncoreError):
    """A mistake in what the user wrote."""

    status = 2


class GuestError(UncoreError):
    """The simulated program failed; the text names hart, pc, symbol and source line."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles the error with its cause, which holds the partial results of a worker process."""
        return _caused, (type(self), self.args, self.__cause__)


def _caused(kind: type[GuestError], words: tuple[Any, ...], cause: BaseException | None) -> Any:
    error = kind(*words)
    error.__cause__ = cause
    return error


class Unfinished(Exception):
    """Partial results of a stopped run: its tables by name, its program's output, and the
    observations.

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
    def by(cls, stopped: BaseException) -> Unfinished:
        """Returns the cause of `stopped`, or an empty one if the engine gave none."""
        return stopped.__cause__ if isinstance(stopped.__cause__, cls) else cls({})

    def stopped(self) -> KeyboardInterrupt:
        """Returns a KeyboardInterrupt with this cause."""
        stopped = KeyboardInterrupt()
        stopped.__cause__ = self
        return stopped

    @classmethod
    def of(cls, stopped: BaseException) -> Mapping[str, Any]:
        """Returns the tables of `stopped`; empty if the engine gave none."""
        return cls.by(stopped).tables

    @classmethod
    def output_of(cls, stopped: BaseException) -> str:
        """Returns the program's output; "" if the engine gave none."""
        return cls.by(stopped).output

    @classmethod
    def observed_of(cls, stopped: BaseException) -> Mapping[str, Any]:
        """Returns the observations that were available before the end."""
        return cls.by(stopped).observed


class OutsideError(UncoreError):
    """Another simulator failed."""

    status = 3


def nearest(word: str, known: Iterable[str], most: int = 1) -> str:
    """Returns ` Did you mean 'x'?` for the known words most like `word`, or "" if none is
    similar.
    """
    names = {name.lower(): name for name in known}
    matches = difflib.get_close_matches(word.lower(), names, n=most, cutoff=0.5)
    return f" Did you mean {' or '.join(repr(names[one]) for one in matches)}?" if matches else ""

"""The exceptions that are not our mistakes, each with its exit status.

    UserError      2   what the user wrote; the text says where, what was read, what was expected
                       and what to write instead
    GuestError     1   the simulated program trapped, left its memory or waits forever
    OutsideError   3   another simulator failed

Each one's text is the whole message: the command line prints it and exits.  A traceback on a user's
screen is always our mistake.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Any

NOTHING: Mapping[str, Any] = {}


class UncoreError(Exception):
    """Common base: printed as it stands, never with a traceback."""

    status = 1


class UserError(UncoreError):
    """A mistake in what the user wrote."""

    status = 2


class GuestError(UncoreError):
    """The simulated program went wrong; the text names hart, pc, symbol and source line."""

    def __reduce__(self) -> tuple[Any, ...]:
        """From a worker's process it brings its cause, what the run has published."""
        return _caused, (type(self), self.args, self.__cause__)


def _caused(kind: type[GuestError], words: tuple[Any, ...], cause: BaseException | None) -> Any:
    error = kind(*words)
    error.__cause__ = cause
    return error


class Unfinished(Exception):
    """Partial results of a stopped run: its tables by name, its program's output, and the
    observations. It is the cause of the GuestError or KeyboardInterrupt that stopped the run.
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
        """The cause; an empty one, if the engine could not tell."""
        return stopped.__cause__ if isinstance(stopped.__cause__, cls) else cls({})

    def stopped(self) -> KeyboardInterrupt:
        """An interruption with this cause."""
        stopped = KeyboardInterrupt()
        stopped.__cause__ = self
        return stopped

    @classmethod
    def of(cls, stopped: BaseException) -> Mapping[str, Any]:
        """The tables, if the engine could tell."""
        return cls.by(stopped).tables

    @classmethod
    def output_of(cls, stopped: BaseException) -> str:
        """The output, if the engine could tell it."""
        return cls.by(stopped).output

    @classmethod
    def observed_of(cls, stopped: BaseException) -> Mapping[str, Any]:
        """Observations of the observers that can tell before the end."""
        return cls.by(stopped).observed


class OutsideError(UncoreError):
    """A simulator that is not ours failed."""

    status = 3


def nearest(word: str, known: Iterable[str], most: int = 1) -> str:
    """` Did you mean 'x'?` for the known words most like `word`, or nothing where none is alike."""
    names = {name.lower(): name for name in known}
    close = difflib.get_close_matches(word.lower(), names, n=most, cutoff=0.5)
    return f" Did you mean {' or '.join(repr(names[one]) for one in close)}?" if close else ""

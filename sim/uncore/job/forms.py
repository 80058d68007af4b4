"""Forms of options: how a value is written on the command line, in Python, and back.

    DURATION.read("--watchdog", "1ms")     1_000_000_000 ps, from the command line
    DURATION.take("watchdog", 10**9)       the same from Python, where a number is one of ps
    DURATION.write("--watchdog", 10**9)    ("--watchdog", "1ms")
    PLACES.split("--place", "0-3,8,all")   the values of an axis

Every mistake is a UserError that repeats the option and the word.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from uncore.job.option_values import axes, duration, pairs, places
from uncore.program import read_folder
from uncore.topology.units import TIME

OnOff = Literal["on", "off"]
FIRST_SEED, REPEATS = 1, 3  # of a run that names no seeds


def _same(_: str, value: Any) -> Any:
    return value


def _single(_: str, value: Any) -> list[Any]:
    return [value]


def _one_word(flag: str, value: Any) -> tuple[str, ...]:
    return (flag, str(value))


@dataclass(frozen=True)
class Form:
    """What a value is on the command line, and the ways from there to a field of Job and back."""

    typed: Any  # on the command line; None: as the field
    read: Callable[[str, Any], Any] = _same
    take: Callable[[str, Any], Any] = _same
    write: Callable[[str, Any], tuple[str, ...]] = _one_word
    split: Callable[[str, Any], list[Any]] = _single
    word: bool = True  # a value is one word
    always: bool = False  # `write` decides itself what need not be written

    def shown(self, default: Any) -> Any:
        """The default as the command line has it."""
        if not self.word:
            return [] if self.typed is not Path else None
        return self.write("", default)[-1]


def _truth(flag: str, value: str | bool) -> bool:
    return value if isinstance(value, bool) else value == "on"


def _picoseconds(name: str, value: str | int) -> int:
    return value if isinstance(value, int) else duration(name, value)


def _shortest(flag: str, ps: int) -> tuple[str, ...]:
    """In the largest unit that gives a whole number."""
    unit = max((unit for unit in TIME if ps % TIME[unit] == 0), key=lambda unit: TIME[unit])
    return (flag, f"{ps // TIME[unit]}{unit}")


def _named(flag: str, words: Sequence[str] | Mapping[str, str]) -> Mapping[str, str]:
    return words if isinstance(words, Mapping) else pairs(flag, words)


def _pairs(flag: str, values: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    return tuple(word for name, value in values for word in (flag, f"{name}={value}"))


def _arguments(flag: str, values: Iterable[str]) -> tuple[str, ...]:
    return tuple(f"{flag}={word}" for word in values)


def _files(_: str, folder: Any) -> tuple[tuple[str, bytes], ...]:
    """A folder's files, or names and contents."""
    if folder is None or isinstance(folder, (str, Path)):
        return read_folder(Path(folder)) if folder else ()
    named = folder.items() if isinstance(folder, Mapping) else folder
    contents = {name: text.encode() if isinstance(text, str) else text for name, text in named}
    return tuple(sorted(contents.items()))


def _seeds(flag: str, seeds: Sequence[int]) -> tuple[str, ...]:
    if not seeds:
        return (flag, "none")
    usual = tuple(seeds) == tuple(range(FIRST_SEED, FIRST_SEED + REPEATS))
    return () if usual else (flag, str(seeds[0]), "--repeat", str(len(seeds)))


def _by_comma(_: str, text: str) -> list[Any]:
    return text.split(",")


TEXT = Form(str, split=_by_comma)
PLACES = Form(str, split=lambda _, text: places(text))
CHOICE = Form(None)  # a Literal
TRUTH = Form(OnOff, _truth, _truth, lambda flag, value: (flag, "on" if value else "off"))
DURATION = Form(str, _picoseconds, _picoseconds, _shortest)
PAIRS = Form(list[str], _named, write=_pairs, split=axes, word=False)
WORDS = Form(
    list[str],
    lambda _, words: tuple(words),
    lambda _, words: tuple(words),
    _arguments,
    word=False,
)
FOLDER = Form(Path, _files, _files, lambda _, files: (), word=False)  # no command says contents
SEEDS = Form(str, take=lambda _, seeds: tuple(seeds), write=_seeds, word=False, always=True)

"""Converts the values of options between the command line, Python, and the fields of a Job.

    DURATION.read("--watchdog", "1ms")     1_000_000_000 ps, from the command line
    DURATION.take("watchdog", 10**9)       the same value from Python, where a number is in ps
    DURATION.write("--watchdog", 10**9)    ("--watchdog", "1ms")
    PLACES.split("--place", "0-3,8,all")   the values of an axis

Every mistake raises a UserError that repeats the option and the value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from uncore.job.option_values import axes, duration, pairs, places, share
from uncore.program import read_folder, read_input
from uncore.topology.units import TIME_UNITS

OnOff = Literal["on", "off"]
FIRST_SEED, REPEATS = 1, 3  # seeds of a run if the command gives none
# default number of a matrix's seeds if each seed draws the slice that owns the line
SEEDS_IF_SLICE_IS_DRAWN = 9


def _unchanged(_: str, value: Any) -> Any:
    return value


def _as_list(_: str, value: Any) -> list[Any]:
    return [value]


def _flag_and_value(flag: str, value: Any) -> tuple[str, ...]:
    return (flag, str(value))


@dataclass(frozen=True)
class Form:
    """Conversions of an option's value: from the command line or Python to a field, and back.

    Each function takes the option's name, which messages repeat, and the value.
    """

    command_line_type: Any  # type on the command line; None: the type of the field
    read: Callable[[str, Any], Any] = _unchanged  # command line -> field
    take: Callable[[str, Any], Any] = _unchanged  # Python -> field
    write: Callable[[str, Any], tuple[str, ...]] = _flag_and_value  # field -> command line
    split: Callable[[str, Any], list[Any]] = _as_list  # command line -> values of an axis
    word: bool = True  # True: a value is a single word, so an axis may list several
    always: bool = False  # True: `write` is also called for the default; it may return no words

    def shown(self, default: Any) -> Any:
        """Returns the default in the form in which a user would write it on the command line."""
        if self.command_line_type is bool:
            return default
        if not self.word:
            return [] if self.command_line_type is not Path else None
        return self.write("", default)[-1]


def _to_bool(flag: str, value: str | bool) -> bool:
    return value if isinstance(value, bool) else value == "on"


def _picoseconds(name: str, value: str | int) -> int:
    return value if isinstance(value, int) else duration(name, value)


def _in_largest_unit(flag: str, ps: int) -> tuple[str, ...]:
    """Writes a duration in the largest unit that gives a whole number."""
    unit = max(
        (unit for unit in TIME_UNITS if ps % TIME_UNITS[unit] == 0),
        key=lambda unit: TIME_UNITS[unit],
    )
    return (flag, f"{ps // TIME_UNITS[unit]}{unit}")


def _to_mapping(flag: str, words: Sequence[str] | Mapping[str, str]) -> Mapping[str, str]:
    return words if isinstance(words, Mapping) else pairs(flag, words)


def _pairs(flag: str, values: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    return tuple(word for name, value in values for word in (flag, f"{name}={value}"))


def _arguments(flag: str, values: Iterable[str]) -> tuple[str, ...]:
    return tuple(f"{flag}={word}" for word in values)


def _files(_: str, folder: Any) -> tuple[tuple[str, bytes], ...]:
    """Returns sorted names and contents of a folder's files, or of a mapping or pairs."""
    if folder is None or isinstance(folder, (str, Path)):
        return read_folder(Path(folder)) if folder else ()
    entries = folder.items() if isinstance(folder, Mapping) else folder
    contents = {name: text.encode() if isinstance(text, str) else text for name, text in entries}
    return tuple(sorted(contents.items()))


def _input(_: str, source: Any) -> bytes:
    """Returns `source` if it is bytes, else the content of that file; "-" is standard input."""
    if isinstance(source, bytes):
        return source
    return read_input(Path(source)) if source else b""


def _to_int(flag: str, number: Any) -> int:
    return int(number)


def _seeds(flag: str, seeds: Sequence[int]) -> tuple[str, ...]:
    if not seeds:
        return (flag, "none")
    is_default = tuple(seeds) == tuple(range(FIRST_SEED, FIRST_SEED + REPEATS))
    return () if is_default else (flag, str(seeds[0]), "--repeat", str(len(seeds)))


def _by_comma(_: str, text: str) -> list[Any]:
    return text.split(",")


TEXT = Form(str, split=_by_comma)
PLACES = Form(str, split=lambda _, text: places(text))
CHOICE = Form(None)  # a Literal
TRUTH = Form(OnOff, _to_bool, _to_bool, lambda flag, value: (flag, "on" if value else "off"))
FLAG = Form(bool, write=lambda flag, value: (flag,), word=False)  # an option without a value
DURATION = Form(str, _picoseconds, _picoseconds, _in_largest_unit)
SHARE = Form(str, share, share, lambda flag, ppm: (flag, f"{ppm / 10_000:g}%"))
PAIRS = Form(list[str], _to_mapping, write=_pairs, split=axes, word=False)
WORDS = Form(
    list[str],
    lambda _, words: tuple(words),
    lambda _, words: tuple(words),
    _arguments,
    word=False,
)
# `write` returns no words, because a command line cannot state the contents.
FOLDER = Form(Path, _files, _files, lambda _, files: (), word=False)
INPUT = Form(Path, _input, _input, lambda _, content: (), word=False)
NUMBER = Form(int, _to_int, _to_int)
SEEDS = Form(str, take=lambda _, seeds: tuple(seeds), write=_seeds, word=False, always=True)

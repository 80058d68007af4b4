"""Reads the values of options that several commands share from the words of the command line.

    pairs("--set", ["hold=50ns"])      -> {"hold": "50ns"}
    axes("--with", ["a=1,2", "b=3"])   -> [{"a": "1", "b": "3"}, {"a": "2", "b": "3"}]
    places("compact,0-3,8")            -> ["compact", "0-3,8"]
    machines_and_workloads(words)      -> (["ccx:4x8"], ["lock/mcs", "mine.c"])
    duration("--watchdog", "1ms")      -> 1_000_000_000 ps
    share("--within", "2%")            -> 20_000 millionths
    seeds("--seed", "5", 3)            -> (5, 6, 7)
    check_outputs({"--plot": path})    refuses a file before the work starts: a wrong ending, no
                                       directory, or an existing file that uncore has not written

Every mistake raises a UserError that repeats the option and the value.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from fractions import Fraction
from itertools import product
from pathlib import Path

from uncore.errors import UserError
from uncore.support import output_kinds as kinds
from uncore.support.output_kinds import OutputKind
from uncore.topology.units import NUMBER, TIME_UNITS

MILLION = 10**6
MAX_DURATION_PS = 1 << 62  # so low that the sum of two times fits into the engines' 64 bits
OUTPUT_KINDS: Mapping[str, OutputKind] = {
    "--output": kinds.RESULT,
    "-o": kinds.MEASUREMENT,
    "--plot": kinds.PICTURE,
    "--csv": kinds.TABLE,
    "--log": kinds.LOG,
    "--report": kinds.PAGE,
    "--hwloc": kinds.HWLOC,
    "--topology": kinds.MACHINE,
    "--state": kinds.STATE,
}
FORCE_FLAG = "--force"  # every command has this option

# True if the command has FORCE_FLAG
overwrites: ContextVar[bool] = ContextVar("overwrites", default=False)


def pairs(option: str, words: Sequence[str]) -> dict[str, str]:
    """Returns `KEY=VALUE` words as a dictionary."""
    value_of: dict[str, str] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not (key and equals and value):
            raise UserError(
                f"{option} {word}: expected NAME=VALUE, such as {option} {key or 'x'}=1"
            )
        if key in value_of:
            raise UserError(f"{option} {word}: '{key}' is given twice")
        value_of[key] = value
    return value_of


def axes(option: str, words: Sequence[str]) -> list[dict[str, str]]:
    """Returns the product of `KEY=A,B` words: one dictionary per combination."""
    values_by_key = pairs(option, words)
    return [
        dict(zip(values_by_key, values, strict=True))
        for values in product(*(text.split(",") for text in values_by_key.values()))
    ]


def places(text: str) -> list[str]:
    """Splits a list of placements; consecutive items that are harts form a single placement."""
    placements: list[str] = []
    for word in text.split(","):
        if placements and placements[-1][:1].isdecimal() and word[:1].isdecimal():
            placements[-1] += f",{word}"
        else:
            placements.append(word)
    return placements


def is_workload(word: str) -> bool:
    """True if a word is `kind/name` or a program's file; a machine's file ends in .toml."""
    return word.endswith((".c", ".cc", ".cpp", ".cxx", ".zig", ".elf")) or (
        "/" in word and not word.endswith(".toml")
    )


def machines_and_workloads(command: str, words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Separates the words into machines and workloads, which may be in any order. If no word looks
    like a workload, the last word is taken for one.
    """
    workloads = [word for word in words if is_workload(word)] or [*words[-1:]]
    machines = [word for word in words if word not in workloads]
    if not machines:
        raise UserError(
            f"{command} needs a machine and a workload: uncore {command} epyc7601x2 lock/ticket"
        )
    return machines, workloads


def duration(option: str, text: str) -> int:
    """Parses a simulated time above zero; returns ps."""
    match = re.fullmatch(NUMBER + "([a-z]+)", text)
    if not match or match[2] not in TIME_UNITS or not Fraction(match[1]):
        units = ", ".join(TIME_UNITS)
        raise UserError(f"{option} {text}: expected a duration above zero in {units}, like 100ms")
    if (ps := round(Fraction(match[1]) * TIME_UNITS[match[2]])) >= MAX_DURATION_PS:
        raise UserError(
            f"{option} {text}: expected at most {(MAX_DURATION_PS - 1) // TIME_UNITS['s']}s"
        )
    return ps


def share(option: str, value: str | int) -> int:
    """Returns a share in millionths; a text is in per cent, and an int is in millionths already."""
    match = re.fullmatch(rf"{NUMBER}\s*%?", str(value))
    if isinstance(value, int) or not match:
        if isinstance(value, int) and 0 <= value < MILLION:
            return value
        raise UserError(f"{option} {value}: expected a share, such as 2%")
    if not 0 <= (ppm := round(Fraction(match[1]) * MILLION / 100)) < MILLION:
        raise UserError(f"{option} {value}: expected less than 100%")
    return ppm


def seeds(option: str, text: str, repeats: int) -> tuple[int, ...]:
    """Returns `repeats` consecutive seeds from the one in `text` on; () for `none`."""
    if text == "none":
        return ()
    if not re.fullmatch("[0-9]{1,18}", text):
        raise UserError(f"{option} {text}: expected a whole number of at most 18 digits, or none")
    return tuple(range(int(text), int(text) + repeats))


def check_outputs(
    files: Mapping[str, Path | None], kinds_of: Mapping[str, OutputKind] = OUTPUT_KINDS
) -> None:
    """Checks that each option's file can be written, and that no other file of the user is
    overwritten.
    """
    written: dict[Path, str] = {}
    for option, path in files.items():
        if path:
            _check_path(option, path, kinds_of[option])
            _check_overwriting(option, path, kinds_of[option])
            first = written.setdefault(path.absolute(), option)
            if first != option:
                raise UserError(f"{option} {path}: {first} writes that file, too; name another")


def _check_path(option: str, path: Path, kind: OutputKind) -> None:
    if path.suffix not in kind.endings and "" not in kind.endings:
        raise UserError(f"{option} {path}: expected a name ending in {', '.join(kind.endings)}")
    if not path.absolute().parent.is_dir():
        raise UserError(f"{option} {path}: there is no directory {path.parent}")
    if path.exists() and not path.is_file():
        raise UserError(f"{option} {path}: is a directory or a device; name a file")


def _check_overwriting(option: str, path: Path, kind: OutputKind) -> None:
    if overwrites.get() or not path.exists() or kind.has_written(path):
        return
    is_recognizable = kind.marks.get(path.suffix, kind.marks.get("")) is not None
    kind_note = f", and is not {kind.name}" if is_recognizable else ""
    raise UserError(
        f"{option} {path}: is there already{kind_note}; name another file, or write {FORCE_FLAG} to"
        " overwrite this one"
    )

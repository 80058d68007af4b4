"""What the words after `uncore` mean: the values of options that several commands share.

    pairs("--set", ["hold=50ns"])      -> {"hold": "50ns"}
    axes("--with", ["a=1,2", "b=3"])   -> [{"a": "1", "b": "3"}, {"a": "2", "b": "3"}]
    check_endings({"--plot": path})    complains before the work about what would fail after it

Every mistake is a UserError that repeats the option and the word.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path

from uncore.errors import UserError

ENDINGS = {
    "--output": (".json", ".parquet"),
    "--plot": (".png", ".svg", ".pdf"),
    "--csv": (".csv",),
    "--log": (".parquet",),
}


def pairs(option: str, words: Sequence[str]) -> dict[str, str]:
    """`KEY=VALUE` words as a dictionary."""
    found: dict[str, str] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not (key and equals and value):
            raise UserError(
                f"{option} {word}: expected NAME=VALUE, such as {option} {key or 'x'}=1"
            )
        if key in found:
            raise UserError(f"{option} {word}: '{key}' is given twice")
        found[key] = value
    return found


def axes(option: str, words: Sequence[str]) -> list[dict[str, str]]:
    """The product of `KEY=A,B` words: one dictionary per combination."""
    named = pairs(option, words)
    return [
        dict(zip(named, values, strict=True))
        for values in product(*(text.split(",") for text in named.values()))
    ]


def check_endings(files: Mapping[str, Path | None]) -> None:
    """Each option's file can be written: a known ending, an existing directory."""
    for option, path in files.items():
        if path and path.suffix not in ENDINGS[option]:
            endings = ", ".join(ENDINGS[option])
            raise UserError(f"{option} {path}: expected a name ending in {endings}")
        if path and not path.absolute().parent.is_dir():
            raise UserError(f"{option} {path}: there is no directory {path.parent}")

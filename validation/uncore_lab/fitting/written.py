"""Writes numbers with intervals and sources as text of machine files.

extends(name, output)             the value of `extends`: the base machine as seen from the output
entry(value, ends, source)        `{ value = "32ns", interval = [...], source = "..." }`
tables({"core.atomic": entry})    the entries as TOML tables of a file
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

# half the width of an 80 % interval of the normal distribution, in standard deviations
FOUR_FIFTHS_DEVIATIONS = 1.2816


def extends(name: str, output: Path) -> str:
    if not (name.endswith(".toml") or "/" in name):
        return name
    return Path(os.path.relpath(Path(name).resolve(), output.resolve().parent)).as_posix()


def entry(value: str, ends: tuple[str, str] | None, source: str) -> str:
    """Returns an entry of a machine file. `value` is TOML text, so a string needs its quotes."""
    low, high = (end.strip('"') for end in ends or ("", ""))
    interval = f', interval = ["{low}", "{high}"]' if ends else ""
    return f'{{ value = {value}{interval}, source = "{source}" }}'


def tables(entries: Mapping[str, str]) -> str:
    tables_: dict[str, list[str]] = {}
    for key, text in entries.items():
        table, _, name = key.rpartition(".")
        tables_.setdefault(table, []).append(f"{name} = {text}")
    return "\n".join(f"[{table}]\n" + "\n".join(lines) + "\n" for table, lines in tables_.items())

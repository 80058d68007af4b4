"""Metrics of the source tree; bars.toml limits some of them."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.house import bindings, classes, documents, functions, modules, openings
from tests.house.tracked import CPP, name, of_kind

TABLE = Path(__file__).with_name("bars.toml")


@dataclass(frozen=True)
class Measure:
    """The value of a metric, and the lines that contribute to it."""

    figure: float
    lines: list[str]


LINES_SHOWN = 20  # number of lines shown for a metric without a limit


def table() -> dict[str, dict[str, Any]]:
    return tomllib.loads(TABLE.read_text())


def class_methods() -> Measure:
    sizes = sorted(
        ((len(c.methods), f"{name(path)}: {c.name}") for path in of_kind(*CPP) for c in _of(path)),
        reverse=True,
    )
    return Measure(sizes[0][0], [f"{size:4} {where}" for size, where in sizes[:LINES_SHOWN]])


def _of(path: Path) -> list[classes.Class]:
    return classes.classes(path.read_text())


def function_lines() -> Measure:
    lengths = sorted(((lines, where) for where, lines in functions.lengths()), reverse=True)
    return Measure(lengths[0][0], [f"{lines:4} {where}" for lines, where in lengths[:LINES_SHOWN]])


def document_words() -> Measure:
    words = sorted(documents.words().items(), key=lambda page: -page[1])
    shown = [f"{count:6} {page}" for page, count in words[:LINES_SHOWN]]
    return Measure(sum(count for _, count in words), shown)


def openings_above(most: float, goal: float) -> Measure:
    """Counts the rooms in which the percentage of badly opening comments is above the goal."""
    shares = openings.shares()
    lines = [
        f"{share:5.1f} % of {room}" + ": ABOVE" * (share > goal)
        for room, share in sorted(shares.items(), key=lambda row: -row[1])
    ]
    above = sum(share > goal for share in shares.values())
    return Measure(above, [f"At most {goal:g} % of each room's comments.", *lines])


def loose_modules(most: int, allowed: list[str]) -> Measure:
    loose = modules.loose(set(allowed))
    return Measure(len(loose), loose)


def import_cycles(most: int) -> Measure:
    cycles = modules.all_cycles()
    return Measure(len(cycles), [" -> ".join([*cycle, cycle[0]]) for cycle in cycles])


def repeated_basenames(most: int, allowed: dict[str, str], data: list[str]) -> Measure:
    repeated = modules.repeated(set(allowed), set(data))
    return Measure(len(repeated), [f"{count:4} {base}" for base, count in repeated.items()])


def vague_names(most: float, words: list[str]) -> Measure:
    """Computes the percentage of bound names that are vague, and lists the files with the most
    vague names.
    """
    bound = {path: bindings.of_file(path) for path in of_kind(".py", *CPP)}
    vague = {path: sum(bindings.is_vague(n, set(words)) for n in bound[path]) for path in bound}
    lines = []
    for language, suffixes in (("Python", (".py",)), ("C++", CPP)):
        files = [path for path in bound if path.suffix in suffixes]
        some, every = sum(vague[path] for path in files), sum(len(bound[path]) for path in files)
        lines.append(f"{some} of {every} bound names of {language}: {100 * some / every:.1f} %")
    most_of_them = sorted(vague, key=lambda path: -vague[path])[:20]
    lines += [f"{vague[path]:4} {name(path)}" for path in most_of_them]
    return Measure(100 * sum(vague.values()) / sum(map(len, bound.values())), lines)


MEASURES: dict[str, Callable[..., Measure]] = {
    "loose-modules": loose_modules,
    "import-cycles": import_cycles,
    "repeated-basenames": repeated_basenames,
    "vague-names": vague_names,
    "openings": openings_above,
    "class-methods": class_methods,
    "function-lines": function_lines,
    "document-words": document_words,
}


def measure(bar: str) -> Measure:
    return MEASURES[bar](**table().get(bar, {}))

"""Writes the comparisons of docs/engines.md: `python -m tests.docs.engines_page [--renew]`.

The text between `<!-- NAME -->` and `<!-- end -->` is computed from validation/results: the age of
the figures, the ratios of times if conventions match, and the explanations of differences.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from statistics import median

from uncore.study.compare import model_state
from uncore.study.compare.outside import load
from uncore.support.output_files import write_whole

TOP = Path(__file__).parents[2]
PAGE = TOP / "docs/engines.md"
RESULTS = TOP / "validation/results"
MAX_PARTS_NAMED = 9  # further parts of the model are only counted
PART = r"(<!-- {} -->\n).*?(<!-- end -->)"
ENGINE_NAMES = {"sst": "SST", "gem5": "gem5"}

Row = Mapping[str, str]


def on_file(name: str) -> list[dict[str, str]]:
    return load(RESULTS / f"{name}.csv")


def states() -> dict[str, dict[str, str]]:
    """Returns each state of the model to which rows refer, with the state of each part."""
    states_: dict[str, dict[str, str]] = {}
    for row in on_file("model"):
        states_.setdefault(row["state"], {})[row["part"]] = row["digest"]
    return states_


def age(now: model_state.Parts) -> str:
    """Returns a sentence for each engine, protocol and day."""
    compared = {
        (row["engine"], row["version"], row["protocol"], row["date"], row["model"])
        for name in ("engines", "matching")
        for row in on_file(name)
    }
    model_states = states()
    return "".join(
        f"* {ENGINE_NAMES[engine]} {version}, {protocol}, {_day(day)}:"
        f" {_than(model_states[state], now)}.\n"
        for engine, version, protocol, day, state in sorted(compared, reverse=True)
    )


def _day(iso: str) -> str:
    day = date.fromisoformat(iso)
    return f"{day.day} {day:%B %Y}"


def _than(before: model_state.Parts, now: model_state.Parts) -> str:
    changed = model_state.changed(before, now)
    if not changed:
        return "the model is today's"
    if len(changed) <= MAX_PARTS_NAMED:
        return f"**older** than {', '.join(changed)} of the model"
    return f"**older** than {len(changed)} of the model's {len(now)} rules and tables"


def matching() -> str:
    """Returns a table of the least, median and greatest ratio of times for each machine with the
    conventions of another engine.
    """
    ratios: dict[tuple[str, ...], list[float]] = {}
    for row in on_file("matching"):
        key = (row["machine"], row["engine"], row["protocol"])
        ratios.setdefault(key, []).append(float(row["ratio"]))
    table = [("machine", "engine", "protocol", "least", "median", "most"), ("---",) * 6]
    for key, values in ratios.items():
        numbers = (min(values), median(values), max(values))
        table.append((*key, *(f"{number:.2f}" for number in numbers)))
    return "".join(f"| {' | '.join(cells)} |\n" for cells in table)


def table_of_differing_jobs() -> str:
    """Returns a table of the jobs whose times differ, by the conventions that make them agree."""
    ratios: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for row in on_file("engines"):
        if row["conventions"]:
            key = (ENGINE_NAMES[row["engine"]], _short(row["conventions"]))
            ratios.setdefault(key, []).append((float(row["ratio"]), float(row["ratio_then"])))
    table = [("engine", "conventions taken on", "jobs", "ratios", "then"), ("---",) * 5]
    for (engine, conventions), pairs in sorted(ratios.items()):
        before, then = (_range(values) for values in zip(*pairs, strict=True))
        table.append((engine, conventions, str(len(pairs)), before, then))
    return "".join(f"| {' | '.join(cells)} |\n" for cells in table)


def _range(values: Sequence[float]) -> str:
    low, high = f"{min(values):.2f}", f"{max(values):.2f}"
    return low if low == high else f"{low} to {high}"


def _short(conventions: str) -> str:
    """Returns the keys without their values, after the text before the colon if there is one. A key
    that occurs for several levels is listed once.
    """
    head = re.match(r"[\w ]+: ", conventions)
    keys = (
        re.sub(r"^\w+\.(resolver|data)", r"\1", key)
        for key in re.findall(r"([\w.]+)=", conventions)
    )
    return (head[0] if head else "") + " ".join(dict.fromkeys(keys))


def page(text: str, now: model_state.Parts) -> str:
    """Returns the page with its computed sections replaced."""
    parts = {"age": age(now), "matching": matching(), "apart": table_of_differing_jobs()}
    for name, section in parts.items():
        text, times = re.subn(
            PART.format(name), lambda m, section=section: m[1] + section + m[2], text, flags=re.S
        )
        assert times == 1, f"{PAGE}: no <!-- {name} -->"
    return text


if __name__ == "__main__":
    renewed = page(PAGE.read_text(), model_state.parts())
    if "--renew" in sys.argv:
        write_whole(PAGE, renewed)
    else:
        print(renewed)

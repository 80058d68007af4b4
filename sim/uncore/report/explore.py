"""`uncore explore`: the front as a table, the runs behind it, and a picture of each two objectives.

Interface: `show(found)` prints, `runs(found)` too; `panels(found)` draws, coloured by the file's
first choice.  `front_of`, `counted` and `commands` are what is printed, for a page.
"""

from __future__ import annotations

import shlex
from collections import Counter
from itertools import combinations

from uncore.drawing import plot as plots
from uncore.drawing.table import Column, Row, emit, say
from uncore.study.explore import Exploration, Tried

UNITS = {
    "throughput": "M/s",
    **dict.fromkeys(("p50", "p90", "p99", "max"), "us"),
}


def show(found: Exploration) -> None:
    rows, columns = front_of(found)
    emit(rows, False, columns, found.plan.title)
    say(counted(found))


def front_of(found: Exploration) -> tuple[list[Row], list[Column]]:
    """What was chosen, and what came of it in each objective and each bounded formula."""
    plan, front = found.plan, found.front
    goals = [one.formula for one in plan.objectives]
    bounds = [one.less if one.less.names else one.more for one in plan.constraints]
    formulas = {one.words: one for one in (*goals, *bounds)}
    rows: list[Row] = [
        {
            "design": one.number,
            **one.design,
            **{words: formula.value(one.known) for words, formula in formulas.items()},
        }
        for one in front
    ]
    columns = [Column("design", "design", key=True)]
    columns += [Column(_head(choice.name), choice.name, left=True) for choice in plan.choices]
    columns += [Column(_with_unit(words), words, "{:.4g}".format) for words in formulas]
    return rows, columns


def counted(found: Exploration) -> str:
    tried = found.tried
    allowed = sum(one.allowed for one in tried)
    refused = [one.refused for one in tried if one.refused]
    parts = [f"{len(tried)} designs tried, {allowed} allowed, {len(found.front)} on the front"]
    if refused:
        (why, _), *_ = Counter(refused).most_common(1)
        parts.append(f"{len(refused)} could not be run, such as: {why}")
    return "\n".join(parts)


def runs(found: Exploration) -> None:
    """The commands that repeat the runs behind the front: one line each, to be copied."""
    for number, words in commands(found):
        print(f"{number:4}  {words}")


def commands(found: Exploration) -> list[tuple[int, str]]:
    return [(one.number, shlex.join(words)) for one in found.front for words in one.words.values()]


def _head(name: str) -> str:
    """A key by its last parts, which tell it from others."""
    return name.replace("join.", "") if name.count(".") > 1 else name


def _with_unit(words: str) -> str:
    unit = UNITS.get(words.rpartition(".")[2], "")
    return f"{words} {unit}".strip()


def panels(found: Exploration) -> list[plots.Panel]:
    objectives = [one.words for one in found.plan.objectives]
    pairs = list(combinations(range(len(objectives)), 2)) or [(0, 0)]
    return [_panel(found, objectives, x, y) for x, y in pairs]


def _panel(found: Exploration, objectives: list[str], x: int, y: int) -> plots.Panel:
    choice = found.plan.choices[0]
    values = choice.values or ("front",)
    front = {one.number for one in found.front}

    def points(value: str, best: bool) -> list[tuple[float, float]]:
        return [
            _place(one, x, y)
            for one in found.tried
            if one.allowed
            and (one.number in front) == best
            and (not choice.values or one.design[choice.name] == value)
        ]

    return plots.scatter(
        {f"{choice.name} {value}": points(value, True) for value in values},
        {f"{choice.name} {value}": points(value, False) for value in values},
        [_place(one, x, y) for one in found.tried if one.found and not one.allowed],
        found.plan.title if (x, y) in ((0, 1), (0, 0)) else "",
        _with_unit(objectives[x]),
        _with_unit(objectives[y]),
    )


def _place(one: Tried, x: int, y: int) -> tuple[float, float]:
    assert one.found
    return one.found.objectives[x], one.found.objectives[y]

"""The report of `uncore explore`: the front as a table, the commands of its runs, and a picture for
each pair of objectives.

Interface: `show(exploration)` and `runs(exploration)` print; `panels(exploration)` returns the
pictures, coloured by the first choice of the file. `front_of`, `summary` and `commands` return the
printed data, for a page.
"""

from __future__ import annotations

import shlex
from collections import Counter
from itertools import combinations

from uncore.drawing import plot as plots
from uncore.drawing.table import Column, Row, emit, say
from uncore.study.explore import Exploration
from uncore.study.explore.candidate import TriedDesign

UNITS = {
    "throughput": "M/s",
    **dict.fromkeys(("p50", "p90", "p99", "max"), "us"),
}


def show(exploration: Exploration, drawn: bool = False) -> None:
    rows, columns = front_of(exploration)
    emit(rows, False, columns, exploration.plan.title)
    say(summary(exploration))
    if exploration.front:
        file = exploration.plan.written.file
        draws = "" if drawn else "; --plot FILE.svg draws it"
        say(f"now: uncore explore {file} --runs prints the runs behind each{draws}")


def front_of(exploration: Exploration) -> tuple[list[Row], list[Column]]:
    """Returns the designs on the front, with the values of the objectives and bounded formulas."""
    plan, front = exploration.plan, exploration.front
    goals = [objective.formula for objective in plan.objectives]
    bounds = [bound.lesser if bound.lesser.names else bound.greater for bound in plan.constraints]
    formulas = {formula.words: formula for formula in (*goals, *bounds)}
    rows: list[Row] = [
        {
            "design": tried.number,
            **tried.design,
            **{words: formula.value(tried.known) for words, formula in formulas.items()},
        }
        for tried in front
    ]
    columns = [Column("design", "design", key=True)]
    columns += [Column(_head(choice.name), choice.name, left=True) for choice in plan.choices]
    columns += [Column(_with_unit(words), words, "{:.4g}".format) for words in formulas]
    return rows, columns


def summary(exploration: Exploration) -> str:
    tried = exploration.tried
    refused = [design.refused for design in tried if design.refused]
    complete = sum(design.is_complete for design in tried)
    parts = [
        f"{len(tried)} designs tried, {complete} with all their runs,"
        f" {len(exploration.front)} on the front"
    ]
    early = Counter(design.rounds for design in tried if design.given_up)
    parts += [
        f"{count} given up {f'after {rounds} runs each' if rounds else 'before any run'}:"
        " certainly not on the front"
        for rounds, count in sorted(early.items())
    ]
    if refused:
        (why, _), *_ = Counter(refused).most_common(1)
        parts.append(f"{len(refused)} could not be run, such as: {why}")
    return "\n".join(parts)


def print_runs(exploration: Exploration) -> None:
    """Prints the commands that repeat the runs of the designs on the front, one in each line."""
    for number, words in commands(exploration):
        print(f"{number:4}  {words}")


def commands(exploration: Exploration) -> list[tuple[int, str]]:
    return [
        (design.number, shlex.join(words))
        for design in exploration.front
        for words in design.words.values()
    ]


def _head(name: str) -> str:
    """Returns a short heading for a key."""
    return name.replace("join.", "") if name.count(".") > 1 else name


def _with_unit(words: str) -> str:
    unit = UNITS.get(words.rpartition(".")[2], "")
    return f"{words} {unit}".strip()


def panels(exploration: Exploration) -> list[plots.Panel]:
    objectives = [objective.words for objective in exploration.plan.objectives]
    pairs = list(combinations(range(len(objectives)), 2)) or [(0, 0)]
    return [_panel(exploration, objectives, x, y) for x, y in pairs]


def _panel(exploration: Exploration, objectives: list[str], x: int, y: int) -> plots.Panel:
    choice = exploration.plan.choices[0]
    values = choice.values or ("front",)
    front = {design.number for design in exploration.front}

    def points(value: str, best: bool) -> list[tuple[float, float]]:
        return [
            _place(design, x, y)
            for design in exploration.tried
            if design.allowed
            and (design.number in front) == best
            and (not choice.values or design.design[choice.name] == value)
        ]

    return plots.scatter(
        {f"{choice.name} {value}": points(value, True) for value in values},
        {f"{choice.name} {value}": points(value, False) for value in values},
        [
            _place(design, x, y)
            for design in exploration.tried
            if design.found and design.found.objectives and not design.allowed
        ],
        _title(exploration) if (x, y) in ((0, 1), (0, 0)) else "",
        _with_unit(objectives[x]),
        _with_unit(objectives[y]),
    )


def _title(exploration: Exploration) -> str:
    best, tried = len(exploration.front), len(exploration.tried)
    return f"{exploration.plan.title}: the front, {best} of {tried} designs"


def _place(design: TriedDesign, x: int, y: int) -> tuple[float, float]:
    assert design.found
    return design.found.objectives[x], design.found.objectives[y]

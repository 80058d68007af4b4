"""Measures the cost of typical questions: the events that the engine executes to answer them, with
runs of the usual length and with `--within 2%`.

    python -m benchmarks.answers [--only WORD]    prints the counts, and those in answers.toml
    python -m benchmarks.answers --renew          writes the counts to answers.toml
    python -m benchmarks.answers --instructions   also counts host instructions; takes an hour

A question is asked through the Python interface.  Its count is the number of events in all runs
that the engine then makes, which is the same on any host.  The host executes about 600 instructions
for each event.  A matrix, a program and an exploration have run lengths of their own.  The exit
status is 1 if a count is more than 2 % above that in answers.toml.
"""

from __future__ import annotations

import argparse
import sys
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.counts import BUILD_FOLDER, MAX_COUNT_RATIO, collected
from benchmarks.speed import PROGRAMS

import uncore
from uncore import engine
from uncore.drawing.table import Column, emit
from uncore.job import Job
from uncore.study.explore import explore
from uncore.study.explore.plan import ExplorationPlan

KEPT_ANSWERS = Path(__file__).with_name("answers.toml")
TOP = Path(__file__).resolve().parents[1]
WITHIN = "2%"
Ask = Callable[..., Any]
REFCOUNT_ON = ["epyc7601x2", "graviton2", "x8275clx2", "ccx:8x8"]
QUESTIONS: dict[str, Ask] = {
    "locks to 128 threads": partial(
        uncore.sweep, "epyc7601x2", ["lock/mcs", "lock/ticket"], "1,2..128"
    ),
    "refcount on 4 machines": partial(uncore.sweep, REFCOUNT_ON, "refcount/atomic", 32),
    "README's locks": partial(uncore.sweep, "graviton2", ["lock/ticket", "lock/mcs"], "1,4,16,64"),
    "whatif of MCS at 64": partial(uncore.whatif, "graviton2", "lock/mcs", 64),
    "explore's example": lambda: explore(ExplorationPlan.read(TOP / "docs/explore/chiplets.toml")),
    "matrix of 256": partial(uncore.matrix, "epyc7742x2"),
    "program of 64 threads": partial(
        uncore.run, "epyc7601x2", PROGRAMS / "tally.c", 64, arguments=("{threads}",)
    ),
}
# questions whose runs have their own lengths, so that `--within` does not apply
WITH_OWN_LENGTHS = ("explore's example", "matrix of 256", "program of 64 threads")
COUNTS = ("usual", "within")


@contextmanager
def recording_points() -> Iterator[list[tuple[Job, int]]]:
    """Yields a list, to which every point that the engine runs inside the block is appended with
    its number of events.
    """
    points: list[tuple[Job, int]] = []
    run = engine.run

    def counted(job: Job, *positional: Any, **options: Any) -> dict[str, Any]:
        fields = run(job, *positional, **options)
        points.append((job, fields["events"]))
        return fields

    engine.run = counted
    try:
        yield points
    finally:
        engine.run = run


def points_of(ask: Ask, **options: Any) -> list[tuple[Job, int]]:
    with recording_points() as points:
        ask(**options)
    return points


def row(name: str, executed: bool) -> dict[str, Any]:
    """Counts the events of a question, with runs of the usual length and with `--within`.

    With `executed`, it also counts host instructions.
    """
    lengths = (
        {"usual": {}} if name in WITH_OWN_LENGTHS else {"usual": {}, "within": {"within": WITHIN}}
    )
    counts: dict[str, Any] = {"question": name}
    for length, options in lengths.items():
        points = points_of(QUESTIONS[name], **options)
        counts[length] = sum(events for _, events in points)
        if executed:
            module = next((BUILD_FOLDER / "native-clang").glob("_native*.so"))
            counts[f"{length}_instructions"] = sum(collected([job for job, _ in points], module))
    if "within" in lengths:
        counts["times"] = round(counts["usual"] / counts["within"], 1)
    return counts


def worse_counts(row_: dict[str, Any]) -> Iterator[str]:
    """Yields a sentence for each count that is more than 2 % above that in answers.toml."""
    recorded = kept_counts().get(row_["question"], {})
    for length in COUNTS:
        if row_.get(length, 0) > recorded.get(length, row_.get(length, 0)) * MAX_COUNT_RATIO:
            yield f"{row_['question']}: {row_[length]} events {length}, {recorded[length]} kept"


def kept_counts() -> dict[str, dict[str, float]]:
    return tomllib.loads(KEPT_ANSWERS.read_text()) if KEPT_ANSWERS.exists() else {}


def text(rows: dict[str, dict[str, Any]]) -> str:
    lines = ["# What `python -m benchmarks.answers --renew` counted last: events of all runs."]
    for name, row_ in rows.items():
        lines += ["", f'["{name}"]', *(f"{k} = {v}" for k, v in row_.items() if k != "question")]
    return "\n".join(lines) + "\n"


COLUMNS = [
    Column("question", "question", left=True),
    Column("usual", "usual"),
    Column("within", "within"),
    Column("times fewer", "times"),
    Column("kept: usual", "kept_usual"),
    Column("within", "kept_within"),
]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", default="", help="questions whose name has this word")
    parser.add_argument("--instructions", action="store_true", help="count the host's, too")
    parser.add_argument("--renew", action="store_true", help="keep what is counted now")
    chosen = parser.parse_args()
    rows = [row(name, chosen.instructions) for name in QUESTIONS if chosen.only in name]
    recorded = kept_counts()
    emit(
        [
            row_
            | {
                f"kept_{length}": recorded.get(row_["question"], {}).get(length)
                for length in COUNTS
            }
            for row_ in rows
        ],
        False,
        COLUMNS,
    )
    if chosen.renew:
        KEPT_ANSWERS.write_text(text({**recorded, **{row_["question"]: row_ for row_ in rows}}))
        return 0
    above = [sentence for row_ in rows for sentence in worse_counts(row_)]
    for sentence in above:
        print(f"more than 2 % above what is kept: {sentence}")
    return int(bool(above))


if __name__ == "__main__":
    sys.exit(main())

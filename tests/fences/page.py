"""Collects the answers of `uncore fences` for shipped workloads, and writes a page with reasons.

    python -m tests.fences.page                      prints the page
    python -m tests.fences.page --renew [--seeds N]  runs all, writes validation/results/fences.csv

The reasons are written by hand (reasons.toml), for each order and verdict.  So an order that is
new, has gone or has another verdict needs another reason.
"""

from __future__ import annotations

import argparse
import csv
import io
import os
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from uncore.study.fences import questions as asking
from uncore.study.fences import variants
from uncore.study.fences.questions import Answer
from uncore.study.fences.trials import Trials
from uncore.support import paths
from uncore.support.output_files import write_whole

TESTED_ONE_BY_ONE = ("lock/ticket", "lock/mcs", "epoch/hazard", "epoch/rcu", "refcount/percpu_ref")
FOLDERS = ("lock", "epoch", "refcount", "counter")
REASONS = Path(__file__).with_name("reasons.toml")
RESULTS = Path(__file__).parents[2] / "validation/results/fences.csv"
COLUMNS = ("workload", "order", "says", "verdict")
ALL_ORDERS_KEY = ("all", "at once")
HEAD = """# Which memory orders are needed

The verdicts are those of runs of each weakened program (`validation/results/fences.csv`); the
reasons are ours. [cli.md](cli.md) tells how `uncore fences` asks. *Passes* means that no run
failed, not that none could. The weak machine (rule H8 of [model.md](model.md)) performs no store
before a load that precedes it, and the stores of one line in order; dependencies order there what
they order on RISC-V; and an order that another makes up for passes where it is weakened alone.
"""
TABLE = "| order | weakened to | why |\n|---|---|---|"
AT_ONCE = """
## All orders at once

Every workload of {folders} with all its orders relaxed and its fences for the compiler only.

| workload | verdict | why not |
|---|---|---|"""


def workloads() -> list[str]:
    """Returns the workloads whose memory orders are all weakened together."""
    files = (file for folder in FOLDERS for file in sorted((paths.WORKLOADS / folder).glob("*.c")))
    return [file.relative_to(paths.WORKLOADS).with_suffix("").as_posix() for file in files]


def source_of(workload: str) -> variants.ProgramSource:
    return variants.read(paths.WORKLOADS / f"{workload}.c")


def keys(source: variants.ProgramSource) -> list[str]:
    """Returns the names of the orders in reasons.toml, which consist of file, order, and an index
    among equal orders.
    """
    counts: Counter[str] = Counter()
    keys_ = []
    for order in source.orders:
        key = f"{source.short_name(order.file)}: {order.says}"
        counts[key] += 1
        keys_.append(key if counts[key] == 1 else f"{key}, {counts[key]}")
    return keys_


def reasons() -> Mapping[str, Mapping[str, str]]:
    return tomllib.loads(REASONS.read_text())


def ask(
    source: variants.ProgramSource, questions: Sequence[asking.Question], trials: Trials
) -> list[list[Answer]]:
    """Returns the answers to each question."""
    answers = dict(asking.answers(source, questions, trials, os.cpu_count() or 1))
    return [answers[number] for number in range(len(questions))]


def load() -> list[dict[str, str]]:
    """Returns the rows on file: a row for each memory order of the workloads in TESTED_ONE_BY_ONE,
    and then, for each workload, a row in which all its memory orders are weakened together.
    """
    return list(csv.DictReader(RESULTS.read_text().splitlines()))


def page() -> Iterator[str]:
    yield HEAD
    rows, why = load(), reasons()
    for workload in TESTED_ONE_BY_ONE:
        yield f"## `{workload}`\n\n{TABLE}"
        alone = [
            row for row in rows if row["workload"] == workload and row["order"] != ALL_ORDERS_KEY[0]
        ]
        for row, reason in zip(alone, why[workload].values(), strict=True):
            yield f"| `{row['order']}` {row['says']} | {row['verdict']} | {reason} |"
        yield ""
    yield AT_ONCE.format(folders=", ".join(f"`{folder}/`" for folder in FOLDERS)).lstrip()
    for row in rows:
        if row["order"] == ALL_ORDERS_KEY[0]:
            reason = why["at once"].get(row["workload"], "")
            yield f"| `{row['workload']}` | {row['verdict']} | {reason} |"


def run(trials: Trials) -> Iterator[tuple[str, ...]]:
    """Yields the rows that new runs give."""
    for workload in TESTED_ONE_BY_ONE:
        source = source_of(workload)
        for answers in ask(source, source.orders, trials):
            yield workload, answers[0].place, answers[0].says, _verdicts(answers)
    for workload in workloads():
        yield workload, *ALL_ORDERS_KEY, _at_once(workload, trials)


def save(rows: Iterable[tuple[str, ...]]) -> None:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([COLUMNS, *rows])
    write_whole(RESULTS, text.getvalue())


def _verdicts(answers: Sequence[Answer]) -> str:
    by_verdict: dict[str, list[str]] = defaultdict(list)
    for answer in answers:
        if answer.verdict == asking.SAME_CODE:
            return "the same instructions"
        end = f"fails, seed {answer.failure.seed}" if answer.failure else "passes"
        by_verdict[end].append(answer.weakened)
    return "; ".join(f"{', '.join(to)}: {end}" for end, to in by_verdict.items())


def _at_once(workload: str, trials: Trials) -> str:
    source = source_of(workload)
    ((answer,),) = ask(source, [asking.ALL_AT_ONCE], trials) if source.orders else ((None,),)
    if answer and (failure := answer.failure):
        return f"fails, seed {failure.seed}: {failure.why.splitlines()[0]}"
    return "passes"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--renew", action="store_true", help="run all programs again")
    parser.add_argument("--seeds", type=int, default=Trials.seeds, help="runs of each program")
    arguments = parser.parse_args()
    if arguments.renew:
        save(run(Trials(seeds=arguments.seeds)))
    print(*page(), sep="\n")


if __name__ == "__main__":
    main()

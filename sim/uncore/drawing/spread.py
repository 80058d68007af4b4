"""Shows figures of repeated runs: the value of the median run, with the spread of all runs.

figure(head, value_of, write, about)    a column; `value_of(run)` returns the figure of a run: the
                                        median (the row itself) or one of the row's `runs`;
                                        `write(value, repeat_range)` formats it
throughput(head, key)                   a column of the figure at `key`; if there are several
                                        runs, the smallest is at `key`_min, the largest at `key`_max
height(row, key)                        the values for a curve, in millions
say_seeds(seeds)                        prints, below a table, the seeds of the runs that it shows
say_contradictions(rows)                prints which rates contradict other columns, and what to do
say_runs(rows)                          prints the number of runs, and whether a search succeeded
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from uncore.drawing import formats as units
from uncore.drawing.table import Column, Row, say
from uncore.support.steady import CONFIDENCE_PERCENT, interval

MILLION = 1e6
# Largest difference between 1 and the share of threads that a rate accounts for (W3).
MAX_THREADS_DIFFERENCE = 0.1
CONTRADICTION_MARK = "!"
Write = Callable[[float | None, float | None], str]


def figure(
    head: str, value_of: Callable[[Row], float | None], write: Write, about: str = "", **more: Any
) -> Column:
    def text_of(row: Row) -> str:
        bounds = ends(row, value_of)
        return write(value_of(row), bounds[1] - bounds[0] if bounds else None)

    return Column(head, text_of, about=about, **more)


def ends(row: Row, value_of: Callable[[Row], float | None]) -> tuple[float, float] | None:
    """Returns the smallest and the largest figure of the repeats; None for a single run.

    If the number of runs was searched, it returns the confidence interval of their median instead.
    """
    values = [value for run in row.get("runs", ()) if (value := value_of(run)) is not None]
    if "level" in row and len(values) > 1 and row["throughput_min"] is not None:
        return interval(values)
    return (min(values), max(values)) if len(values) > 1 else None


def bounds(row: Row, key: str) -> tuple[float, float] | None:
    """Returns the smallest and largest repeat of a column, or the interval that a search found."""
    if "level" in row and row.get(f"{key}_min") is not None:
        return row[f"{key}_min"], row[f"{key}_max"]
    return ends(row, lambda run: run.get(key))


def _ends(row: Row, key: str) -> list[float]:
    return [row[end] for end in (f"{key}_min", f"{key}_max") if row.get(end) is not None]


def throughput(head: str = "ops/s", key: str = "throughput", **more: Any) -> Column:
    def text_of(row: Row) -> str:
        bounds = _ends(row, key)
        rate = units.rate(row[key], max(bounds) - min(bounds) if bounds else None)
        return f"{CONTRADICTION_MARK} {rate}" if contradicts(row) else rate

    about = "operations a second of simulated time, all threads together"
    return Column(head, text_of, about=about, **more)


def height(row: Row, key: str = "throughput") -> list[float]:
    return [value / MILLION for value in (row[key] or 0, *_ends(row, key))]


def say_runs(rows: Sequence[Row]) -> None:
    """Prints, below a table of `run`, how many runs it shows."""
    searched = [row for row in rows if "level" in row]
    say_seeds(seed for row in rows if "level" not in row for seed in row["seeds"])
    if not searched:
        return
    runs, ops_per_hart = (_span(searched, key) for key in ("repeats", "each"))
    if searched[0]["throughput_min"] is None:
        say(
            f"{runs} of a length that was searched, {ops_per_hart} operations a hart: no interval",
            "dim",
        )
        return
    say(
        f"+- is half of a {CONFIDENCE_PERCENT} % confidence interval of the median of {runs} runs"
        f" of {ops_per_hart} operations a hart",
        "dim",
    )
    for row in searched:
        if not row["reached"]:
            runs = f"{row['repeats']} runs"
            say(f"{row['threads']} threads: the interval of {runs} is wider than asked")


def contradicts(row: Row) -> bool:
    """Returns True if the rate times the time of an operation (Little's law) differs from the
    number of threads (W3).
    """
    share = row.get("accounted")
    return share is not None and abs(share - 1) > MAX_THREADS_DIFFERENCE


def say_contradictions(rows: Sequence[Row]) -> None:
    """Prints the reason for each mark (!) in a table of `run`."""
    for row in filter(contradicts, rows):
        threads, share = row["threads"], row["accounted"]
        short = " and no steady state" if row["steady_ps"] is None else ""
        searched = "" if "level" in row else "leave --set ops= out, or "
        say(
            f"! {threads} threads: ops/s times what an operation takes accounts for"
            f" {share * threads:.3g} of them{short}: too little was measured while all took part"
            f" (W3); {searched}write --set duration=1ms --set warmup=1ms"
        )


def _span(rows: Sequence[Row], key: str) -> str:
    smallest, largest = min(row[key] for row in rows), max(row[key] for row in rows)
    return f"{smallest}" if smallest == largest else f"{smallest} to {largest}"


def say_seeds(seeds: Iterable[int]) -> None:
    numbers = sorted(set(seeds))
    if len(numbers) == 1:
        say(f"seed {numbers[0]}", "dim")
    elif numbers:
        words = "the run with the median throughput; +- is half the range of all"
        say(f"seeds {', '.join(map(str, numbers))}: {words}", "dim")

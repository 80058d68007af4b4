"""Reads the output and the statistics of a run of SST into the fields of a Point."""

from __future__ import annotations

import csv
import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from uncore.engine.outcome import NO_OPERATIONS_REASON, percentiles
from uncore.engine.outside import printed
from uncore.engine.outside.printed import tail
from uncore.engine.sst.simulation import LOSS_STATISTICS, REQUEST_STATISTICS
from uncore.errors import GuestError, OutsideError

if TYPE_CHECKING:
    from uncore.job import Job

ABSENT_FIELDS = {
    "transfers": "memHierarchy does not tell where a fill came from",
    "lines": "memHierarchy counts by cache, not by line",
    "failed_scs": "an AMO is a load-linked and a store-conditional there, which may fail, too",
    "links": "merlin's routers are not the machine's links one for one",
    "resolvers": "memHierarchy does not count how long it is busy",
    "events": "what one step is differs from engine to engine",
}
_END_PATTERN = re.compile(
    r"^uncore: (exit|fatal|watchdog)(.*?) hart=(\d+) code=(\d+) time=(\d+)", re.M
)
_HART_PATTERN = re.compile(
    r"^uncore: hart=\d+ instructions=(\d+) operations=\d+ retries=\d+ latencies=(.*)$"
)
STATISTICS_FILES = "statistics*.csv"
REPORT_FILES = "hart*.txt"


def point(job: Job, output: str, folder: Path) -> dict[str, Any]:
    """Returns the fields of a Point; raises a GuestError if the program failed."""
    _refuse_failed_run(job, output)
    fields = printed.fields(job, "SST", output)
    counts = _counts(folder)
    harts = _reports(job, output, folder)
    latencies: Counter[int] = Counter()
    for _, buckets in harts:
        for bucket in filter(None, buckets.split(",")):
            bound, _, count = bucket.partition(":")
            latencies[int(bound)] += int(count)
    return fields | {
        "latency": percentiles(sorted(latencies.items())),
        "invalidations": _sum_over_cores(counts, LOSS_STATISTICS),
        "instructions": sum(int(instructions) for instructions, _ in harts),
        "transactions": sum(n for (_, name), n in counts.items() if name in REQUEST_STATISTICS),
        "absent": {} if latencies else {"latency": NO_OPERATIONS_REASON},
    }


def _refuse_failed_run(job: Job, output: str) -> None:
    end_line = _END_PATTERN.search(output)
    if not end_line:
        raise OutsideError(
            f"SST ended, but {job.program.name} did not: nothing was under way any more.\n"
            + tail(output)
        )
    end_kind, detail, hart, code, _ = end_line.groups()
    name = job.program.name
    if end_kind == "fatal":
        raise GuestError(f"{name}: hart {hart} trapped without a handler,{detail}")
    if end_kind == "watchdog":
        raise GuestError(
            f"{name}: hart {hart} did no operation in {job.watchdog / 10**9:g} simulated ms;"
            " --watchdog allows more"
        )
    printed.refuse_failure(job, int(code), output)


def _reports(job: Job, output: str, folder: Path) -> list[tuple[str, str]]:
    """Returns instructions and latencies of each hart, from the files that harts write."""
    texts = [path.read_text() for path in folder.glob(REPORT_FILES)]
    harts = [match.groups() for text in texts if (match := _HART_PATTERN.match(text.rstrip("\n")))]
    if len(harts) != job.threads[0]:
        raise OutsideError(
            f"SST ended, and {len(harts)} of {job.threads[0]} harts have left a report in"
            f" {REPORT_FILES}:\n{tail(output)}"
        )
    return [(instructions, latencies) for instructions, latencies in harts]


def _counts(folder: Path) -> Counter[tuple[str, str]]:
    """Returns (component, statistic) -> count, summed over the files that SST's processes write."""
    counts: Counter[tuple[str, str]] = Counter()
    for path in folder.glob(STATISTICS_FILES):
        with path.open(newline="") as file:
            for row in csv.DictReader(file, skipinitialspace=True):
                counts[row["ComponentName"], row["StatisticName"]] += int(row["Sum.u64"])
    return counts


def _sum_over_cores(counts: Counter[tuple[str, str]], names: tuple[str, ...]) -> int:
    """Returns the sum of these statistics, which are recorded only at the outermost private cache
    of each core.
    """
    return sum(count for (_, name), count in counts.items() if name in names)

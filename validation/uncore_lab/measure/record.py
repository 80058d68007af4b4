"""Defines the file of a measurement, and reads and writes it.

    save(measurement, path)        writes the whole file or nothing
    load(path) -> Measurement
    matrix_csv(handoffs) -> str    in the format of the core-to-core-latency collections

Invariants: a section that was not measured is None, and `absent` gives the reason; no number stands
for "unknown".  A test compares docs/measure.md with the descriptions in this file.
"""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from uncore.errors import UserError
from uncore.host.computer import Cache, Computer, Cpu, Node
from uncore.host.sysfs import Setting
from uncore.result.describe import tables
from uncore.support.output_files import write_whole

SCHEMA = "uncore.measurement/1"


class MeasurementPart(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base class of all parts of the file except the description of the computer."""


class Again(MeasurementPart, frozen=True, kw_only=True):
    """A pair measured a second time, in another process."""

    cpus: Annotated[tuple[int, int], Meta(description="the pair")]
    first_ns: Annotated[float, Meta(description="its median in the matrix, in ns")]
    again_ns: Annotated[
        float,
        Meta(
            description="its median in the second measurement, which uses another line, in"
            " another slice"
        ),
    ]


class Handoffs(MeasurementPart, frozen=True, kw_only=True):
    """Cost of handing one line over, for every pair: latency/pingpong."""

    cpus: Annotated[
        list[int], Meta(description="processors of the rows and columns, in ascending order")
    ]
    samples: Annotated[int, Meta(description="of each pair")]
    rounds: Annotated[int, Meta(description="number of round trips in a sample")]
    node: Annotated[int, Meta(description="memory node from which the flag's line was requested")]
    mean_ns: Annotated[
        list[list[float]],
        Meta(
            description="mean of the samples; each row has the pairs with the processors before it"
        ),
    ]
    median_ns: Annotated[
        list[list[float]], Meta(description="median of the samples, in the same layout")
    ]
    deviation_ns: Annotated[
        list[list[float]], Meta(description="half the interquartile range of the samples")
    ]
    again: Annotated[list[Again], Meta(description="pairs that were measured a second time")]


class Throughput(MeasurementPart, frozen=True, kw_only=True):
    """The throughput of a workload on several processors at once."""

    workload: Annotated[str, Meta(description="of `uncore list`")]
    threads: Annotated[int, Meta(description="pinned threads")]
    cpus: Annotated[list[int], Meta(description="where they ran")]
    ops: Annotated[int, Meta(description="number of operations of each thread in a run")]
    ops_per_second: Annotated[
        list[float],
        Meta(
            description="rate of all threads together; one number for each run, in ascending order"
        ),
    ]
    failures: Annotated[list[str], Meta(description="self-checks that failed")] = []


class Transfer(MeasurementPart, frozen=True, kw_only=True):
    """Loading, then changing, a line that another processor wrote: latency/alternate."""

    cpus: Annotated[list[int], Meta(description="processors whose threads take turns")]
    distance: Annotated[str, Meta(description="innermost part that all of them share")]
    changed_ns: Annotated[
        list[float],
        Meta(
            description="time of a turn that tries the change until it succeeds; one number for"
            " each run, in ascending order"
        ),
    ]
    looked_ns: Annotated[
        list[float],
        Meta(
            description="time of a turn that first loads the line until its turn has come; in the"
            " same form"
        ),
    ]

    @property
    def ratio(self) -> float:
        """The time of an operation that loads the line before it changes it, divided by the time of
        an operation that only changes it. The ratio is near 1 if the line is transferred
        once, and 2 or more if it is transferred twice.
        """
        return statistics.median(self.looked_ns) / statistics.median(self.changed_ns)


class Percentiles(MeasurementPart, frozen=True, kw_only=True):
    """Percentiles of single durations, in ns."""

    count: Annotated[int, Meta(description="durations")]
    p10: Annotated[float, Meta(description="a tenth of the durations were at most this long")]
    p50: Annotated[float, Meta(description="half of them")]
    p90: Annotated[float, Meta(description="nine tenths")]
    p99: Annotated[float, Meta(description="99 of 100")]


class Wakeup(MeasurementPart, frozen=True, kw_only=True):
    """Waking a thread that sleeps on another processor: host/linux/wakeup."""

    waker: Annotated[int, Meta(description="processor")]
    sleeper: Annotated[int, Meta(description="processor")]
    distance: Annotated[str, Meta(description="innermost part that the two share")]
    idle_ns: Annotated[int, Meta(description="time that the sleeper slept before each wake-up")]
    wake_ns: Annotated[
        Percentiles,
        Meta(description="time from before the call to the sleeper's first instruction"),
    ]
    call_ns: Annotated[Percentiles, Meta(description="time of the waker's call alone")]


class Barrier(MeasurementPart, frozen=True, kw_only=True):
    """membarrier(PRIVATE_EXPEDITED), an IPI to each running thread: host/linux/membarrier."""

    sender: Annotated[int, Meta(description="processor")]
    others: Annotated[list[int], Meta(description="processors of the other threads")]
    running: Annotated[
        bool, Meta(description="true: the other threads ran; false: they slept, so no IPI was sent")
    ]
    distance: Annotated[
        str, Meta(description="innermost part that the sender and all others share")
    ]
    sent_ns: Annotated[
        Percentiles | None,
        Meta(
            description="durations of calls during which every other thread was interrupted; null"
            " if there were none"
        ),
    ]
    unseen_ns: Annotated[
        Percentiles | None,
        Meta(
            description="durations of calls during which some thread saw no interrupt; null if"
            " there were none"
        ),
    ]


class Measurement(MeasurementPart, frozen=True, kw_only=True):
    """One measurement of one computer."""

    schema: Annotated[str, Meta(description=f'"{SCHEMA}"')] = SCHEMA
    uncore: Annotated[str, Meta(description="version of uncore")]
    compiler: Annotated[str, Meta(description="compiler of the measuring programs")]
    started: Annotated[str, Meta(description="date and time, UTC")]
    seconds: Annotated[float, Meta(description="that measuring took")]
    quick: Annotated[bool, Meta(description="true: fewer samples and runs, for a first impression")]
    partial: Annotated[
        bool, Meta(description="true: it was interrupted, so later sections are missing")
    ]
    computer: Annotated[
        Computer,
        Meta(description="processors, caches and memory nodes, as the system describes them"),
    ]
    setting: Annotated[Setting, Meta(description="settings of the system; empty texts are unknown")]
    noise_pct: Annotated[
        float | None,
        Meta(description="median deviation of a pair, in per cent of its median"),
    ]
    handoffs: Annotated[Handoffs | None, Meta(description="the matrix")] = None
    throughput: Annotated[
        list[Throughput] | None,
        Meta(description="throughput of atomics and spin locks, by thread count"),
    ] = None
    transfers: Annotated[
        list[Transfer] | None,
        Meta(description="costs of loading and then changing a line, for pairs and groups"),
    ] = None
    wakeups: Annotated[list[Wakeup] | None, Meta(description="remote wake-ups")] = None
    barriers: Annotated[list[Barrier] | None, Meta(description="IPIs, by proxy")] = None
    absent: Annotated[
        dict[str, str], Meta(description="name of each missing section -> reason")
    ] = {}


PARTS = (
    *(Measurement, Computer, Cpu, Cache, Node, Setting),
    *(Handoffs, Again, Throughput, Wakeup, Barrier, Percentiles),
)


def save(measurement: Measurement, path: Path) -> None:
    text = msgspec.json.format(msgspec.json.encode(measurement), indent=1)
    write_whole(path, text.decode() + "\n")


def load(path: Path) -> Measurement:
    try:
        return msgspec.json.decode(path.read_bytes(), type=Measurement)
    except OSError as error:
        raise UserError(f"{path}: cannot read it: {error.strerror}") from None
    except msgspec.DecodeError as error:
        raise UserError(f"{path}: no file of `uncore measure`: {error}") from None


def matrix_csv(handoffs: Handoffs) -> str:
    """Writes a square matrix in ns with an empty upper triangle."""
    cpus = len(handoffs.cpus)
    rows = [[*map(str, row), *[""] * (cpus - len(row))] for row in handoffs.mean_ns]
    return "".join(",".join(row) + "\n" for row in rows)


def describe() -> str:
    """Returns the page that describes the fields of the file."""
    return f"# The file of a measurement\n\n{tables(PARTS)}"


if __name__ == "__main__":
    print(describe(), end="")

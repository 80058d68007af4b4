"""Remembers the programs that `uncore fences` was asked about, and hints at others.

    remember(source)       a program has been asked about, as it is written now
    hint(job) -> str       to ask, after a run that cannot tell; "" where there is no reason to

A hint is for a user's own C file that says `relaxed`, run where memory is TSO (G14 of
docs/deviations.md).
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from uncore.job import Job
from uncore.support import paths

if TYPE_CHECKING:
    from uncore.study.fences.variants import ProgramSource


def remember(source: ProgramSource) -> None:
    with suppress(OSError):  # then the hint comes again
        paths.CACHE.joinpath("fences/asked").mkdir(parents=True, exist_ok=True)
        _mark(source).touch()


def hint(job: Job) -> str:
    path = job.program.path
    ours = path.resolve().is_relative_to(paths.WORKLOADS)
    if path.suffix != ".c" or ours or any(core.order != "tso" for core in job.machine.each_core):
        return ""
    from uncore.study.fences import orders, variants  # noqa: PLC0415 (slow to load)

    source = variants.read(path)
    if not any(map(orders.relaxed, source.own)) or _mark(source).exists():
        return ""
    return (
        f"{path}: says relaxed, and here memory is TSO, which hides a missing order; ask:"
        f" uncore fences {path}"
    )


def _mark(source: ProgramSource) -> Path:
    return paths.CACHE / "fences/asked" / source.digest

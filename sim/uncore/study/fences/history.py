"""Remembers the programs that `uncore fences` was run on, and hints at running it on others.

    remember(source)       records that `uncore fences` has tested this source text
    hint(job) -> str       a hint after a run that cannot show missing orders; "" if not needed

A hint is for a user's own C file with the word `relaxed`, run on a machine whose memory order is
TSO (G14 of docs/deviations.md).
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
    with suppress(OSError):  # then the hint is printed again next time
        paths.CACHE.joinpath("fences/asked").mkdir(parents=True, exist_ok=True)
        _mark(source).touch()


def hint(job: Job) -> str:
    path = job.program.path
    is_shipped = path.resolve().is_relative_to(paths.WORKLOADS)
    if (
        path.suffix != ".c"
        or is_shipped
        or any(core.order != "tso" for core in job.machine.each_core)
    ):
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

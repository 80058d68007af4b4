"""Remembers which programs `uncore fences` has tested, and suggests testing others.

    remember(source)       records that `uncore fences` has tested this source text
    hint(job) -> str       returns a hint that a run cannot show missing orders; "" if not needed

The hint is for a C file of the user that contains the word `relaxed`, if it runs on a machine whose
memory order is TSO (G14 of docs/deviations.md).
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
    with suppress(OSError):  # in case of an error, the hint is only printed again
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
    if not any(map(orders.relaxed, source.user_texts)) or _mark(source).exists():
        return ""
    return (
        f"{path}: says relaxed, and here memory is TSO, which hides a missing order; ask:"
        f" uncore fences {path}"
    )


def _mark(source: ProgramSource) -> Path:
    return paths.CACHE / "fences/asked" / source.digest

"""Runs all sections of a measurement.

Invariant: the Measurement contains all finished sections, even after an interrupt.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from uncore.drawing.progress import progress
from uncore.host.computer import Computer
from uncore.host.sysfs import Setting
from uncore.support.version import __version__
from uncore_lab.measure import plan
from uncore_lab.measure.bench import Bench
from uncore_lab.measure.record import Measurement


def measure(bench: Bench, computer: Computer, setting: Setting, effort: plan.Effort) -> Measurement:
    begin, started = time.monotonic(), datetime.now(UTC).isoformat(timespec="seconds")
    sections: dict[str, Any] = {}
    absent: dict[str, str] = {}
    partial = False
    with progress(plan.tick_count(computer, effort), "measuring", "parts") as advance:
        try:
            for name, value, why in plan.take(bench, computer, effort, lambda: advance(1)):
                sections[name] = value
                if why:
                    absent[name] = why
        except KeyboardInterrupt:
            partial = True
    for name in ("handoffs", "throughput", "transfers", "wakeups", "barriers"):
        if name not in sections:
            absent[name] = "interrupted before"
    matrix = sections.get("handoffs")
    return Measurement(
        uncore=__version__,
        compiler=f"ziglang {_version('ziglang')}",
        started=started,
        seconds=round(time.monotonic() - begin, 1),
        quick=effort.samples < plan.FULL_EFFORT.samples,
        partial=partial,
        computer=computer,
        setting=setting,
        noise_pct=plan.noise_pct(matrix) if matrix else None,
        absent=absent,
        **sections,
    )


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "of unknown version"

"""The progress of long work: a bar with rate and time left on a terminal, nothing when piped.

Interface: `with progress(total, "points") as advance: advance(steps)`, and of a long step
`advance.reached(ps)`, the simulated time.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text


class _Rate(TextColumn):
    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text(f"{speed:.2g} {task.fields['unit']}/s" if speed else "", style="dim")


class Advance:
    def __init__(self, bar: Progress, total: int, what: str, unit: str) -> None:
        self._bar, self._what = bar, what
        self._task = bar.add_task(what, total=total, unit=unit)

    def __call__(self, steps: int) -> None:
        self._bar.update(self._task, advance=steps, description=self._what)

    def reached(self, ps: int) -> None:
        """The progress of the step under way."""
        if ps:
            self._bar.update(self._task, description=f"{self._what}, at {ps / 1e6:.1f} µs")


@contextmanager
def progress(total: int, what: str, unit: str = "threads") -> Iterator[Advance]:
    """Shows a bar on standard error while the block runs, and takes it away afterwards."""
    error = Console(stderr=True)
    bar = Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        _Rate(""),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        console=error,
        transient=True,
        disable=not error.is_terminal,
    )
    with bar:
        yield Advance(bar, total, what, unit)

"""How far long work is: a bar with rate and time left on a terminal, nothing when piped.

Interface: `with progress(total, "points") as advance: advance(steps)`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
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


@contextmanager
def progress(total: int, what: str, unit: str = "threads") -> Iterator[Callable[[int], None]]:
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
        task = bar.add_task(what, total=total, unit=unit)
        yield lambda steps: bar.advance(task, steps)

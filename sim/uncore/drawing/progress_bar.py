"""The progress bar that `progress` shows on a terminal.

with ProgressBar(console, total, what, unit) as bar: bar.advance(steps), bar.say("at 3 µs")
"""

from __future__ import annotations

from typing import Any

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


class ProgressBar:
    def __init__(self, console: Console, total: int, what: str, unit: str) -> None:
        self._what = what
        self._shown = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            _Rate(""),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=console,
            transient=True,
        )
        self._task = self._shown.add_task(what, total=total, unit=unit)

    def __enter__(self) -> ProgressBar:
        self._shown.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self._shown.stop()

    def advance(self, steps: int) -> None:
        self._shown.update(self._task, advance=steps, description=self._what)

    def say(self, what: str) -> None:
        """Shows a text after the description, until the next call of `advance`."""
        self._shown.update(self._task, description=f"{self._what}, {what}")

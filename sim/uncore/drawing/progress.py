"""Shows the progress of long work on a terminal: a bar, the rate and the time left.

`with progress(total, "points") as advance: advance(steps)`; during a long step,
`advance.reached(ps)` shows the simulated time.  Nothing is shown if the output is piped.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console

if TYPE_CHECKING:
    from uncore.drawing.progress_bar import ProgressBar


class Advance:
    def __init__(self, bar: ProgressBar | None = None) -> None:
        self._bar = bar

    def __call__(self, steps: int) -> None:
        if self._bar:
            self._bar.advance(steps)

    def reached(self, ps: int, under_way: int = 1) -> None:
        """Shows the simulated time that a step has reached, and the number of steps under way."""
        if self._bar and ps:
            several = f"{under_way} under way, " if under_way > 1 else ""
            self._bar.say(f"{several}at {ps / 1e6:.1f} µs")


@contextmanager
def progress(total: int, what: str, unit: str = "threads") -> Iterator[Advance]:
    """Shows a bar on standard error while the block runs, and removes it afterwards."""
    error = Console(stderr=True)
    if not error.is_terminal:
        yield Advance()
        return
    from uncore.drawing.progress_bar import ProgressBar  # noqa: PLC0415 (slow to load)

    with ProgressBar(error, total, what, unit) as bar:
        yield Advance(bar)

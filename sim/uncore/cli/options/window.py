"""Options of `trace` and `watch` that select the part of a run to record."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated

from cyclopts import Parameter

from uncore.errors import UserError
from uncore.job.option_values import duration
from uncore.trace import Window


@Parameter(name="*")
@dataclass(frozen=True)
class TraceWindow:
    """The events of a run to record, selected by time, line and hart."""

    window: Annotated[
        str | None, Parameter(help="simulated time from..until: 10us..12us, 10us.., ..12us")
    ] = None
    around: Annotated[
        str | None,
        Parameter(
            help="slowest: the operation that took longest; measured: from the beginning of the"
            " measured part"
        ),
    ] = None
    line: Annotated[
        list[str],
        Parameter(
            negative="",
            help="only the cache line of this object (a name or an address); repeatable",
        ),
    ] = ()  # type: ignore[assignment]
    hart: Annotated[
        list[int],
        Parameter(negative="", help="only events in which this hart took part; repeatable"),
    ] = ()  # type: ignore[assignment]

    def wanted(self, threads: int) -> Window:
        for hart in self.hart:
            if not 0 <= hart < threads:
                raise UserError(f"--hart {hart}: the run's harts are 0 to {threads - 1}")
        start, until = _parse_times(self.window) if self.window else (Window.start, Window.until)
        lines, harts = tuple(self.line), tuple(self.hart)
        return Window(start, until, lines=lines, harts=harts, around=self.around or "")


WHOLE_RUN = TraceWindow()


def _parse_times(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"(\S*?)\.\.(\S*)", text)
    if not match or not (match[1] or match[2]):
        raise UserError(f"--window {text}: expected from..until, such as 10us..12us")
    start = duration("--window", match[1]) if match[1] not in ("", "0") else Window.start
    until = duration("--window", match[2]) if match[2] else Window.until
    if until <= start:
        raise UserError(f"--window {text}: ends before it begins")
    return start, until

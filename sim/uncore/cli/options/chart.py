"""Options of the pictures that `run` draws."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from uncore.cli.options.groups import PICTURES
from uncore.cli.options.single import Plot, Report
from uncore.errors import UserError
from uncore.report.selection import FIGURES, Wanted, figure


@Parameter(name="*")
@dataclass(frozen=True)
class Chart:
    """The file, axes and figures of a picture, and the file of a report."""

    plot: Plot = None
    x: Annotated[
        str,
        Parameter(
            help="x axis of the picture: threads, or an option that was given several values",
            group=PICTURES,
        ),
    ] = ""
    y: Annotated[
        str,
        Parameter(
            help=f"figures on the y axis, separated by commas: some of {','.join(FIGURES)}",
            group=PICTURES,
        ),
    ] = "throughput"
    heat: Annotated[
        str,
        Parameter(help="KEY,KEY: draw a heat map over these two options", group=PICTURES),
    ] = ""
    facet: Annotated[
        str, Parameter(help="draw a panel for each value of this option", group=PICTURES)
    ] = ""
    report: Report = None

    def files(self) -> dict[str, Path | None]:
        """Returns the files that it writes, by their options."""
        return {"--plot": self.plot, "--report": self.report}

    def wanted(self) -> Wanted:
        heat = tuple(self.heat.split(",")) if self.heat else None
        if heat and len(heat) != 2:
            raise UserError(
                f"--heat {self.heat}: expected two options, such as --heat hold,threads"
            )
        for name in self.y.split(","):
            figure(name)
        if replace(self, report=None) != Chart() and not self.plot:
            raise UserError("--x, --y, --heat and --facet say how to draw: write --plot FILE, too")
        return Wanted(self.x, self.y.split(","), heat, self.facet)  # type: ignore[arg-type]


CHART = Chart()

"""Options of `run` and `boot` for saving a whole run, or continuing a saved one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from uncore.cli.options.groups import SAVED
from uncore.engine.native.state import AT_BEGIN


@Parameter(name="*")
@dataclass(frozen=True)
class Whole:
    """A run that is saved whole, or one that was."""

    state: Annotated[
        Path | None, Parameter(help="save the run itself in this file, and go on", group=SAVED)
    ] = None
    save_at: Annotated[
        str,
        Parameter(
            help="when --state does: begin, as what is measured does, or a kernel's shell waits; or"
            " at a time, 20us; boot: or after so many instructions, 900M",
            group=SAVED,
        ),
    ] = AT_BEGIN
    from_: Annotated[
        Path | None, Parameter(name="--from", help="go on with a saved run", group=SAVED)
    ] = None

    def files(self) -> dict[str, Path | None]:
        """Returns the files that it writes, by their options."""
        return {"--state": self.state}


WHOLE = Whole()

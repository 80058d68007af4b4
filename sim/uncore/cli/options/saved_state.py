"""Options of `run` and `boot` that save the state of a run, or continue from a saved state."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from uncore.cli.options.groups import SAVED
from uncore.engine.native.state import AT_BEGIN


@Parameter(name="*")
@dataclass(frozen=True)
class SavedState:
    """The file and the moment for saving the state of the run, or the saved run to continue."""

    state: Annotated[
        Path | None,
        Parameter(
            help="save the state of the running simulation in this file, then continue", group=SAVED
        ),
    ] = None
    save_at: Annotated[
        str,
        Parameter(
            help="moment at which --state saves: begin (run: the measured part begins; boot: the"
            " shell prompts), a simulated time such as 20us, or for boot a number of instructions"
            " such as 900M",
            group=SAVED,
        ),
    ] = AT_BEGIN
    from_: Annotated[
        Path | None, Parameter(name="--from", help="continue a run that --state saved", group=SAVED)
    ] = None

    def files(self) -> dict[str, Path | None]:
        """Returns the files that it writes, by their options."""
        return {"--state": self.state}


NO_SAVED_STATE = SavedState()

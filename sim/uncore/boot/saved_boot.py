"""Saves a kernel's run to a file, at any moment, and continues it in another process.

`begin(boot, saved)` starts a run, `save(boot_run, session, path)` writes it, and `resume(path)`
loads it in order to continue it. Invariant: commands typed after `resume` have the same outcome as
in a run that was not saved.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from uncore import _native
from uncore._native import Run
from uncore.boot.kernel_run import Boot, parts, start
from uncore.boot.session import ConsoleState, Session
from uncore.engine.native import state_file
from uncore.engine.native.state import State
from uncore.errors import UserError


class BootRun(NamedTuple):
    arena: Any  # the run's memory; None if it cannot be saved
    run: Run
    console_state: ConsoleState = ConsoleState()


def begin(boot: Boot, saved: bool) -> BootRun:
    """Starts a run. If `saved`, raises a UserError if the run could not be saved later."""
    console_state = ConsoleState(memory=boot.memory)
    arena = _native.Arena.make()
    if arena is None:
        if saved:
            raise UserError("--state: this build, or this host, has no room for a run to be saved")
        return BootRun(None, start(boot), console_state)
    return BootRun(arena, arena.start(*parts(boot)), console_state)


def save(boot_run: BootRun, session: Session, path: Path) -> None:
    state_file.write(path, "boot", session.console_state, State(session.run.now, boot_run.arena))


def resume(path: Path) -> BootRun:
    console_state, state = state_file.read(path, "boot", ConsoleState)
    return BootRun(state.arena, state.arena.run(), console_state)

"""A kernel's run in a file: saved at any moment, taken up for one command after the other.

Interface: `begin(boot, saved)`, a run; `save(begun, session, path)`; `take_up(path)`.

Invariant: what is typed after a run was taken up has the outcome that it has without saving.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from uncore import _native
from uncore._native import Run
from uncore.boot.kernel_run import Boot, parts, start
from uncore.boot.session import Session, Stillness
from uncore.engine.native import state_file as kept
from uncore.engine.native.state import State
from uncore.errors import UserError


class Begun(NamedTuple):
    arena: Any  # the run's memory, where it can be saved
    run: Run
    still: Stillness = Stillness()


def begin(boot: Boot, saved: bool) -> Begun:
    """`saved`: it must be possible."""
    still = Stillness(memory=boot.memory)
    arena = _native.Arena.make()
    if arena is None:
        if saved:
            raise UserError("--state: this build, or this host, has no room for a run to be saved")
        return Begun(None, start(boot), still)
    return Begun(arena, arena.start(*parts(boot)), still)


def save(begun: Begun, session: Session, path: Path) -> None:
    kept.write(path, "boot", session.still, State(session.run.now, begun.arena))


def take_up(path: Path) -> Begun:
    still, state = kept.read(path, "boot", Stillness)
    return Begun(state.arena, state.arena.run(), still)

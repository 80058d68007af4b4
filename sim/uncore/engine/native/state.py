"""A run saved as it stands, and taken up from there, in this process or another.

    saving(job, when, keep)     runs a job of one point; `keep` gets its State at `when`
    taken_up(state, job)        goes on with it; parameters may be others than they were

A state is the memory of the run (sim/native/storage/arena.hh): harts, caches, messages under way,
resolvers, memory, counters.  Only the build that made one can use it (`engine.identity`).
A parameter that is changed is changed in every copy of its line; what the guest has already
computed from the former value stays.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from uncore import _native
from uncore.engine import outcome, silent
from uncore.engine.native import SLICE, job_spec, to_its_end
from uncore.errors import UserError
from uncore.program import abi

if TYPE_CHECKING:
    from uncore.engine.limits import OnProgress
    from uncore.job import Job

BEGIN = "begin"  # when the first hart begins what is measured
NEVER = (1 << 62) - 1


class State(NamedTuple):
    at: int  # ps
    arena: Any  # the run's memory


def saving(
    job: Job, when: int | str, keep: Callable[[State], None], tick: OnProgress = silent
) -> dict[str, Any]:
    """`when`: simulated time in ps, or BEGIN."""
    arena = _native.Arena.make()
    if arena is None:
        raise UserError("--save-at: this build, or this host, has no room for a run to be saved")
    run = arena.start(job.machine, job_spec(job))
    then = NEVER if isinstance(when, str) else when
    while _native.step_towards(run, then, when == BEGIN, SLICE):
        tick(run.operations, run.now, run.touched)
    if run.end != "running":
        raise UserError(f"--save-at: the run ended before, at {run.now / 1e6:g} us")
    keep(State(run.now, arena))
    to_its_end(run, tick)
    return outcome.point(job, run)


def taken_up(state: State, job: Job, tick: OnProgress = silent) -> dict[str, Any]:
    run = state.arena.run()
    for name, value in job.parameters:
        parameter = job.program.parameter(name)
        now = abi.pack(parameter.parse(value))
        if run.read(parameter.address, len(now)) != now:
            _native.change(run, parameter.address, now)
    to_its_end(run, tick)
    return outcome.point(job, run)

"""Saves a run's state, and continues from it in this process or in another one.

    run_and_save(job, when, keep)   runs a job of one point; calls `keep` with its State at `when`
    resume(state, job)              continues the run, perhaps with other parameters

A state is the memory of the run (sim/native/storage/arena.hh): harts, caches, messages in flight,
resolvers, memory, counters.  Only the build that made it can use it (`engine.identity`). A changed
parameter is changed in every copy of its line; values that the guest has already computed from the
former one remain.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from uncore import _native
from uncore.engine import ignore_progress, outcome
from uncore.engine.native import MAX_STEP_EVENTS, job_spec, run_to_end
from uncore.errors import UserError
from uncore.program import abi

if TYPE_CHECKING:
    from uncore.engine.limits import OnProgress
    from uncore.job import Job

AT_BEGIN = "begin"  # value of `when`: the first hart begins the measured part
NEVER_PS = (1 << 62) - 1


class State(NamedTuple):
    at: int  # ps
    arena: Any  # the run's memory


def run_and_save(
    job: Job, when: int | str, keep: Callable[[State], None], tick: OnProgress = ignore_progress
) -> dict[str, Any]:
    """Runs the job and saves it at `when`, a simulated time in ps or AT_BEGIN."""
    arena = _native.Arena.make()
    if arena is None:
        raise UserError("--save-at: this build, or this host, has no room for a run to be saved")
    run = arena.start(job.machine, job_spec(job))
    target_ps = NEVER_PS if isinstance(when, str) else when
    while _native.step_towards(run, target_ps, when == AT_BEGIN, MAX_STEP_EVENTS):
        tick(run.operations, run.now, run.touched)
    if run.end != "running":
        raise UserError(f"--save-at: the run ended before, at {run.now / 1e6:g} us")
    keep(State(run.now, arena))
    run_to_end(run, tick)
    return outcome.point(job, run)


def resume(state: State, job: Job, tick: OnProgress = ignore_progress) -> dict[str, Any]:
    """Continues a saved run to its end, with the parameters of `job`; returns a Point's fields."""
    run = state.arena.run()
    for name, value in job.parameters:
        parameter = job.program.parameter(name)
        value_bytes = abi.pack(parameter.parse(value))
        if run.read(parameter.address, len(value_bytes)) != value_bytes:
            _native.change(run, parameter.address, value_bytes)
    run_to_end(run, tick)
    return outcome.point(job, run)

"""What a job means to an engine of ours: the guest's initial memory, and what is refused.

Interface: `memory(job)`, `text(job)`.  Invariant: every engine of ours starts from the same bytes,
so that a guest cannot tell which one runs it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from uncore.errors import UserError
from uncore.topology.route import nearest_memories

if TYPE_CHECKING:
    from uncore.job import Job
    from uncore.program.elf import Segment
    from uncore.program.program import Image

TIMEBASE = 1_000_000_000  # Hz: our engines' CSR time counts nanoseconds


def memory(job: Job) -> Image:
    """What the guest finds at its start, or a UserError for what our engines cannot do."""
    _refuse_what_is_missing(job)
    machine, harts = job.machine, job.threads[0]
    return job.program.patched(
        harts=harts,
        nodes=len(machine.memories),
        node_size=machine.memories[0].size,
        timebase_hz=TIMEBASE,
        near=nearest_memories(machine, job.harts[:harts]),
        values=_values(job),
    )


def text(job: Job) -> Segment:
    """The segment that holds the program's code."""
    return next(segment for segment in job.program.segments if job.program.entry in segment)


def _refuse_what_is_missing(job: Job) -> None:
    if job.machine.core.far_atomics:
        raise UserError(
            f"{job.machine.id}: core.atomics = far: our engines have atomics in the core's"
            " cache only; write core.atomics=near"
        )
    if job.machine.interrupt.multicast:
        raise UserError(
            f"{job.machine.id}: interrupt.multicast = yes: our engines send one interrupt at a"
            " time; write interrupt.multicast=no"
        )


def _values(job: Job) -> dict[str, str]:
    """The program's parameters; where the home follows the pair, each pair has a line to touch."""
    values = dict(job.parameters)
    if job.home != "pair":
        return values
    if "flags" not in {parameter.name for parameter in job.program.params}:
        raise UserError(
            f"--home pair: {job.program.name} has no pairs of harts with lines of their own"
            " (parameter flags, as in latency/pingpong); write first-touch"
        )
    return values | {"flags": "own"}

"""Makes the initial memory of a guest, and refuses jobs that an engine cannot run.

`memory(job, can)` and `text(job)` are for uncore's own engines, and `elf(job, can)` for an engine
that loads a file; `refuse_what_is_missing(job, can)` is for all.

Invariant: all of uncore's own engines start from the same bytes, so that a guest cannot find out
which one runs it.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from uncore.engine import seeded
from uncore.errors import UserError
from uncore.program import abi
from uncore.program.late import late_starts
from uncore.topology.route import nearest_memories

if TYPE_CHECKING:
    from uncore.job import Job
    from uncore.program.elf import Segment
    from uncore.program.program import Image

PS_PER_SECOND = 10**12
TIMEBASE_HZ = 1_000_000_000  # Hz; in uncore's own engines, CSR `time` counts nanoseconds
# Extensions that programs may require of the harts of uncore's own engines, by their names in
# device trees.
UNPRIVILEGED_EXTENSIONS = (
    "i", "m", "a", "f", "d", "c", "zicntr", "zicsr", "zifencei", "zihintpause", "zawrs", "zba",
    "zbb", "zbs",
)  # fmt: skip


def isa(extensions: tuple[str, ...]) -> str:
    """Returns the ISA string of these extensions, in which single letters come first."""
    letters = "".join(name for name in extensions if len(name) == 1)
    return "_".join([f"rv64{letters}", *(name for name in extensions if len(name) > 1)])


def memory(job: Job, can: Collection[str] = ()) -> Image:
    """Returns the memory at the guest's start.

    `can` lists the optional features of machines and jobs that the engine supports; a UserError
    names the first that it lacks.
    """
    return job.program.patched(**_boot(job, can), near=_nearest_nodes(job))


def elf(job: Job, can: Collection[str] = (), **counter: int) -> bytes:
    """Returns an ELF with the same memory, for a loader of files; it prints records and tables at
    its end.

    `counter` holds `clock` and `timebase_hz` if uc_now() reads another clock than CSR time.  If the
    job has a seed, each hart of the program first waits until its random start time (V3).
    """
    boot = _boot(job, can) | counter
    late: Image = []
    if job.seed is not None:
        ticks = [
            round(seeded.start(job, hart) * boot["timebase_hz"] / PS_PER_SECOND)
            for hart in range(job.threads[0])
        ]
        late = late_starts(job.program, ticks, boot.get("clock", abi.CONSTANTS["UC_CLOCK_TIME"]))
    return job.program.patched_elf(**boot, near=_nearest_nodes(job), late=late, report=True)


def _nearest_nodes(job: Job) -> list[int]:
    return nearest_memories(job.machine, job.used_harts)


def _boot(job: Job, can: Collection[str]) -> dict[str, Any]:
    refuse_what_is_missing(job, can)
    return {
        "harts": job.threads[0],
        "nodes": len(job.machine.memories),
        "node_size": job.machine.node_span,
        "timebase_hz": TIMEBASE_HZ,
        "multicast": _harts_per_message(job) if "multicast" in can else 0,
        "values": _values(job),
    }


def _harts_per_message(job: Job) -> int:
    """Returns the number of harts that one interrupt message reaches (I5.3); 0 if each hart needs a
    message.
    """
    interrupt = job.machine.interrupt
    return (interrupt.harts_per_message or job.threads[0]) if interrupt.multicast else 0


def text(job: Job) -> Segment:
    """Returns the segment that holds the program's code."""
    return next(segment for segment in job.program.segments if job.program.entry in segment)


def refuse_what_is_missing(job: Job, can: Collection[str]) -> None:
    """Raises a UserError for the first feature that the engine lacks."""
    if job.program.linux:
        _refuse_for_linux(job, can)
    if any(core.far_atomics for core in job.machine.each_core) and "far" not in can:
        raise UserError(
            f"{job.machine.id}: atomics are far: {job.engine} has them in the core's cache"
            " only; write core.atomics=near"
        )
    if (job.free or job.apart) and "whatif" not in can:
        raise UserError(
            f"--free, --apart: {job.engine} cannot leave out what a line costs, nor move bytes;"
            " write --engine native"
        )
    if job.machine.tables and "tables" not in can:
        raise UserError(
            f"{job.machine.id}: protocol {job.machine.protocol}: {job.engine} has protocols of its"
            " own and reads no tables; write --engine native or reference, or a shipped protocol"
        )
    if _is_weak(job) and "weak" not in can:
        raise UserError(
            f"{job.machine.id}: core.order = weak: {job.engine} orders memory as its own cores do;"
            " write --order tso, or --engine native"
        )


def _is_weak(job: Job) -> bool:
    return any(core.order == "weak" for core in job.machine.each_core)


def _refuse_for_linux(job: Job, can: Collection[str]) -> None:
    if "linux" not in can:
        raise UserError(
            f"{job.program.name}: a program of Linux: {job.engine} runs workloads on bare metal"
            " only; write --engine native"
        )
    if job.apart:
        raise UserError(
            f"--apart: {job.program.name} is a program of Linux: nothing of it is moved"
        )


def _values(job: Job) -> dict[str, str]:
    """Returns the program's parameters. With --home pair, each pair of harts has its own home, so
    the parameter `flags` is set to give each pair its own lines.
    """
    values = dict(job.parameters)
    if job.home != "pair":
        return values
    if "flags" not in {parameter.name for parameter in job.program.params}:
        raise UserError(
            f"--home pair: {job.program.name} has no pairs of harts with lines of their own"
            " (parameter flags, as in latency/pingpong); write first-touch"
        )
    return values | {"flags": "own"}

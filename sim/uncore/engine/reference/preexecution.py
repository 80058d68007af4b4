"""H9. Pre-execution: requests the lines of loads that follow a waiting load.

The hart library executes the instructions after the waiting load without effect, and calls
`foresee` for each load among them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from uncore.engine.reference.hart import Hart


def pre_execute(hart: Hart) -> None:
    """H9.1, H9.4: pre-executes the instructions after the waiting load. The library decides where
    it ends.
    """
    window = hart.core.costs.window
    if window:
        hart.isa.pre_execute(hart.port, window)


def foresee(hart: Hart, address: int, size: int, count: int) -> int | bool | None:
    """H9.2, H9.3: returns the value of the load if the core has its line, else requests the line
    and returns None, for an unknown value. Returns False if pre-execution must end here.
    """
    core = hart.core
    number, offset = divmod(address, core.system.machine.line)
    if hart.pending is not None and number == hart.pending.line:
        return False
    crosses = offset + size > core.system.machine.line
    end = address + size
    if crosses or any(s.address < end and address < s.address + s.size for s in hart.buffer):
        return None
    line = core.caches.find(number)
    if "hit" in line.cell("Load").actions:
        return int.from_bytes(line.data[offset : offset + size], "little")
    if core.caches.under_way < core.costs.misses:
        issue_time = core.clock.now + count * core.time_at_share(hart, core.costs.instruction)
        core.caches.ready(number, "Load", hart.index, issue_time)
    return None

"""Reads the output and the statistics of a run of gem5 into the fields of a Point.

The statistics have a line for each transition, with a column for each controller of a kind.  Such a
line is called `L1Cache_Controller.M.Fwd_GETX` in gem5 24.0 and in the multi-protocol versions since
24.1 (src/mem/slicc/symbols/StateMachine.py, regStats). There only *types* have the protocol's name
as a prefix; a line with this prefix is also accepted.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from uncore.engine.gem5.protocols import PROTOCOLS
from uncore.engine.outside import printed
from uncore.errors import OutsideError

if TYPE_CHECKING:
    from uncore.job import Job

ABSENT_FIELDS = {
    "latency": "gem5 takes no time stamp of single operations",
    "transfers": "gem5's sequencers know the kind of who answered, not where it stands",
    "lines": "gem5 counts by controller, not by line",
    "failed_scs": "not among what is read of gem5's statistics",
    "links": "gem5's switches are not the machine's links one for one",
    "resolvers": "gem5's banks have no time in which they are busy",
    "events": "what one step is differs from engine to engine",
}
STATISTICS_FILE = Path("m5out/stats.txt")
_END_PATTERN = re.compile(r"^uncore: exit code=(\d+) tick=\d+ cause=(.*)$", re.M)
_INSTRUCTIONS_PATTERN = re.compile(r"^simInsts\s+(\d+)", re.M)
_TRANSITION_PATTERN = re.compile(
    r"^\S*?([A-Z]\w*_Controller)\.(\w+\.\w+)\s+(.*?)[|\s]*(?:[#(].*)?$", re.M
)
EXIT = "semi:ADP_Stopped_ApplicationExit"


def point(job: Job, output: str, folder: Path, protocol: str) -> dict[str, Any]:
    """Returns the fields of a Point; raises a GuestError if the program failed."""
    end_line = _END_PATTERN.search(output)
    if not end_line or end_line[2] != EXIT:
        cause = end_line[2] if end_line else "nothing it said"
        raise OutsideError(
            f"gem5 ended, but {job.program.name} did not: {cause}.\n{printed.tail(output)}"
        )
    printed.refuse_failure(job, int(end_line[1]), output)
    gem5_protocol = PROTOCOLS[protocol]
    statistics = (folder / STATISTICS_FILE).read_text()
    events = transitions(statistics, gem5_protocol.kinds[0])
    instructions = _INSTRUCTIONS_PATTERN.search(statistics)
    cores = slice(job.threads[0])  # controllers of cores precede others of the same kind
    return printed.fields(job, "gem5", output) | {
        "instructions": int(instructions[1]) if instructions else 0,
        "transactions": sum(sum(events.get(name, ())) for name in gem5_protocol.misses),
        "invalidations": sum(sum(events.get(name, ())[cores]) for name in gem5_protocol.losses),
    }


def transitions(text: str, kind: str) -> dict[str, tuple[int, ...]]:
    """Returns counts of transitions by state and event, one for each controller of the kind."""
    return {
        event: tuple(int(column.split()[0]) for column in columns.strip("| ").split("|"))
        for name, event, columns in _TRANSITION_PATTERN.findall(text)
        if name.endswith(kind)
    }

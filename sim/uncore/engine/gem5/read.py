"""What a run of gem5 has left: its output and its statistics, as the fields of a Point.

Controllers count their transitions, summed over a kind: `L1Cache_Controller.M.Fwd_GETX::total`,
from 24.1 on with the protocol's name before it; of a single controller there is no sum but its own
number.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from uncore.engine.gem5.protocols import PROTOCOLS
from uncore.engine.outside import said
from uncore.errors import OutsideError

if TYPE_CHECKING:
    from uncore.job import Job

ABSENT = {
    "latency": "gem5 takes no time stamp of single operations",
    "transfers": "gem5's sequencers know the kind of who answered, not where it stands",
    "lines": "gem5 counts by controller, not by line",
    "links": "gem5's switches are not the machine's links one for one",
    "resolvers": "gem5's banks have no time in which they are busy",
    "events": "what one step is differs from engine to engine",
}
LEVELS = "has one kind of controllers for all levels"
STATISTICS = Path("m5out/stats.txt")
_END = re.compile(r"^uncore: exit code=(\d+) tick=\d+ cause=(.*)$", re.M)
_NUMBER = re.compile(r"^(\S+?)(?:::total)?\s+(\d+)(?:\s|$)", re.M)
_TRANSITION = re.compile(r"(?:^|[._])([A-Z]\w*_Controller)\.(\w+\.\w+)$")
EXIT = "semi:ADP_Stopped_ApplicationExit"


def point(job: Job, output: str, place: Path, protocol: str) -> dict[str, Any]:
    """The fields, or a GuestError if the program went wrong."""
    ended = _END.search(output)
    if not ended or ended[2] != EXIT:
        how = ended[2] if ended else "nothing it said"
        raise OutsideError(
            f"gem5 ended, but {job.program.name} did not: {how}.\n{said.tail(output)}"
        )
    said.refuse_failure(job, int(ended[1]), output)
    known = PROTOCOLS[protocol]
    counts = numbers((place / STATISTICS).read_text())
    events = transitions(counts, known.kinds[0])
    point = said.fields(job, "gem5", output) | {
        "instructions": counts["simInsts"],
        "transactions": sum(events[name] for name in known.misses),
    }
    if not known.losses:
        return point | {"absent": ABSENT | {"invalidations": f"{protocol} {LEVELS}"}}
    lost = sum(events[name] for name in known.losses)
    return point | {"invalidations": lost, "absent": dict(ABSENT)}


def numbers(text: str) -> Counter[str]:
    """Whole numbers by name; of those that several controllers have, their sum."""
    found: Counter[str] = Counter()
    for name, number in _NUMBER.findall(text):
        found[name] = int(number)
    return found


def transitions(counts: Counter[str], kind: str) -> Counter[str]:
    """Of one kind of controllers, by state and event."""
    found: Counter[str] = Counter()
    for name, number in counts.items():
        what = _TRANSITION.search(name)
        if what and what[1].endswith(kind):
            found[what[2]] = number
    return found

"""What the probe `trace` saw, in words: tables of columns, by kind of event.

    columns(job, run) -> {"messages": {...}, ...}

Numbers of states, events, messages and accesses become the names that tables and rules have for
them; the transaction log comes with them as "transactions".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from uncore import _native
from uncore._native import Run
from uncore.protocol import tables

if TYPE_CHECKING:
    from uncore.job import Job

# As they stand in sim/native: behind the messages those about registers (fabric/packet.hh), the
# kinds of an access (core/access.hh), and what a hart does (observe/trace.hh).
REGISTERS = ("write", "read", "value")
ACCESSES = ("none", "load", "store", "amo", "cas_pair", "lr", "sc", "fence", "write", "read")
HARTS = (
    "waits", "goes on", "sleeps", "wakes", "idles", "interrupted", "traps", "returns", "marks",
)  # fmt: skip


def columns(job: Job, run: Run) -> dict[str, dict[str, Any]]:
    names = _native.protocol_names()
    states = list(tables.of(job.machine.protocol, job.machine.tables).client.rows)
    events = [*names["client_events"], *(f"Data{state}" for state in states)]
    traced: dict[str, dict[str, Any]] = run.trace()
    words = {
        "messages": {"kind": [*names["messages"], *REGISTERS], "right": ["", *states[1:]]},
        "states": {"before": states, "event": events, "after": states},
        "held": {"state": states},
        "turns": {"children": names["children"]},
        "accesses": {"kind": ACCESSES},
        "harts": {"what": HARTS},
    }
    for table, named in words.items():
        for column, of in named.items():
            traced[table][column] = [of[number] for number in traced[table][column].tolist()]
    return traced

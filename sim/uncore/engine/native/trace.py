"""Events of the observer `trace` with their names: tables of columns, by kind of event.

    columns(job, run) -> {"messages": {...}, ...}
    words(protocol)         which columns are words, and which

Numbers of states, events, messages and accesses become the names that tables and rules have for
them; the transaction log comes with them as "transactions".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from uncore import _native
from uncore._native import Run
from uncore.protocol import tables

if TYPE_CHECKING:
    from uncore.job import Job

# In the order of sim/native: behind the messages those about registers (fabric/packet.hh), the
# kinds of an access (core/access.hh), and what a hart does (observe/trace.hh).
REGISTERS = ("write", "read", "value")
ACCESSES = ("none", "load", "store", "amo", "cas_pair", "lr", "sc", "fence", "write", "read")
HARTS = (
    "waits", "goes on", "sleeps", "wakes", "idles", "interrupted", "traps", "returns", "marks",
)  # fmt: skip


def columns(job: Job, run: Run) -> dict[str, dict[str, Any]]:
    traced: dict[str, dict[str, Any]] = run.trace()
    for table, named in words(tables.of(job.machine.protocol, job.machine.tables)).items():
        for column, of in named.items():
            if table in traced:
                traced[table][column] = [of[number] for number in traced[table][column].tolist()]
    return traced


def words(protocol: tables.Tables) -> dict[str, dict[str, Sequence[str]]]:
    """For each table, the columns that hold numbers of words, and the words."""
    names, states = _native.protocol_names(), list(protocol.client.rows)
    return {
        "messages": {"kind": [*names["messages"], *REGISTERS], "right": ["", *states[1:]]},
        "states": {
            "before": states,
            "event": [*names["client_events"], *(f"Data{state}" for state in states)],
            "after": states,
        },
        "held": {"state": states},
        "turns": {"children": names["children"]},
        "accesses": {"kind": ACCESSES},
        "harts": {"what": HARTS},
        # I: nothing was granted
        "transactions": {"op": names["requests"], "right": ["", *states[1:]]},
    }

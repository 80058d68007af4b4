"""Returns the events of the observer `trace` as tables of columns, one for each kind of event.

    columns(job, run) -> {"messages": {...}, ...}
    words(protocol)         the columns that hold names, with these names

Numbers of states, events, messages and accesses are replaced by the names of the protocol tables
and of docs/model.md; the transaction log is included as "transactions".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from uncore import _native
from uncore._native import Run
from uncore.protocol import tables

if TYPE_CHECKING:
    from uncore.job import Job

# Names in the order of sim/native: messages about registers, which are numbered after those about
# lines (fabric/packet.hh), kinds of access (core/access.hh), and events of a hart
# (observe/trace.hh).
REGISTER_MESSAGES = ("write", "read", "value")
ACCESS_KINDS = ("none", "load", "store", "amo", "cas_pair", "lr", "sc", "fence", "write", "read")
HART_EVENTS = (
    "waits", "goes on", "sleeps", "wakes", "idles", "interrupted", "traps", "returns", "marks",
)  # fmt: skip


def columns(job: Job, run: Run) -> dict[str, dict[str, Any]]:
    traced: dict[str, dict[str, Any]] = run.trace()
    for table, named in words(tables.of(job.machine.protocol, job.machine.tables)).items():
        for column, names in named.items():
            if table in traced:
                traced[table][column] = [names[number] for number in traced[table][column].tolist()]
    return traced


def words(protocol: tables.Tables) -> dict[str, dict[str, Sequence[str]]]:
    """Returns, for each table, the columns that hold numbers of names, and these names."""
    names, states = _native.protocol_names(), list(protocol.client.rows)
    return {
        "messages": {"kind": [*names["messages"], *REGISTER_MESSAGES], "right": ["", *states[1:]]},
        "states": {
            "before": states,
            "event": [*names["client_events"], *(f"Data{state}" for state in states)],
            "after": states,
        },
        "held": {"state": states},
        "turns": {"children": names["children"]},
        "accesses": {"kind": ACCESS_KINDS},
        "harts": {"what": HART_EVENTS},
        # State I stands for "no right was granted".
        "transactions": {"op": names["requests"], "right": ["", *states[1:]]},
    }

"""The message buffers of a controller, by what they join.

buffers(to="requestOut", from_="requestIn", local="mandatoryQueue")
"""

from __future__ import annotations

from uncore.engine.gem5.document import Value, at, new

KIND = "MessageBuffer"


def buffers(
    to: str = "",
    from_: str = "",
    local: str = "",
    ordered: str = "",
    at_once: str = "",
    at_once_ordered: str = "",
) -> dict[str, Value]:
    """To and from the network; within the controller, in any order or in theirs; and those whose
    messages may take no time.  Names are separated by spaces."""
    made = {name: new(KIND, out_port=at("network.in_port")) for name in to.split()}
    made |= {name: new(KIND, in_port=at("network.out_port")) for name in from_.split()}
    made |= {name: new(KIND) for name in local.split()}
    made |= {name: new(KIND, ordered=True) for name in ordered.split()}
    now = {"allow_zero_latency": True, "randomization": "disabled"}
    made |= {name: new(KIND, **now) for name in at_once.split()}
    return made | {name: new(KIND, ordered=True, **now) for name in at_once_ordered.split()}

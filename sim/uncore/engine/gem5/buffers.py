"""The message buffers of a gem5 controller, by the parts that they connect.

buffers(to="requestOut", from_="requestIn", local="mandatoryQueue")
"""

from __future__ import annotations

from uncore.engine.gem5.document import Value, at, new

BUFFER_KIND = "MessageBuffer"


def buffers(
    to: str = "",
    from_: str = "",
    local: str = "",
    ordered: str = "",
    at_once: str = "",
    at_once_ordered: str = "",
) -> dict[str, Value]:
    """Returns buffers by name; each argument lists names, separated by spaces.

    `to` and `from_` connect to the network; `local` and `ordered` stay within the controller,
    unordered or in order; messages in the two `at_once` groups may take no time.
    """
    made_buffers = {name: new(BUFFER_KIND, out_port=at("network.in_port")) for name in to.split()}
    made_buffers |= {
        name: new(BUFFER_KIND, in_port=at("network.out_port")) for name in from_.split()
    }
    made_buffers |= {name: new(BUFFER_KIND) for name in local.split()}
    made_buffers |= {name: new(BUFFER_KIND, ordered=True) for name in ordered.split()}
    zero_latency = {"allow_zero_latency": True, "randomization": "disabled"}
    made_buffers |= {name: new(BUFFER_KIND, **zero_latency) for name in at_once.split()}
    return made_buffers | {
        name: new(BUFFER_KIND, ordered=True, **zero_latency) for name in at_once_ordered.split()
    }

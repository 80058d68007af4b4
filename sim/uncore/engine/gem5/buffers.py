"""Describes the message buffers of a gem5 controller, grouped by the parts that they connect.

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

    `to` and `from_` connect the controller to the network.  The others stay within the controller:
    `ordered` and `at_once_ordered` keep messages in order, and messages in `at_once` and
    `at_once_ordered` may take no time.
    """
    described = {name: new(BUFFER_KIND, out_port=at("network.in_port")) for name in to.split()}
    described |= {name: new(BUFFER_KIND, in_port=at("network.out_port")) for name in from_.split()}
    described |= {name: new(BUFFER_KIND) for name in local.split()}
    described |= {name: new(BUFFER_KIND, ordered=True) for name in ordered.split()}
    zero_latency = {"allow_zero_latency": True, "randomization": "disabled"}
    described |= {name: new(BUFFER_KIND, **zero_latency) for name in at_once.split()}
    return described | {
        name: new(BUFFER_KIND, ordered=True, **zero_latency) for name in at_once_ordered.split()
    }

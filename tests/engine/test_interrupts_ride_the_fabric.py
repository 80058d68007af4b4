"""Do interrupts use the same fabric as cache lines?

IPIs to more distant harts take longer, as transfers of lines do, and a saturated link delays only
the IPIs that pass it in the same direction.
"""

from __future__ import annotations

import pytest
from tests.support.runs import guest, point

from uncore.topology import load
from uncore.topology.distance import distance


def latencies(machine_name: str, harts: list[int], workload: str, table: str) -> dict[str, int]:
    """Returns the time from the first hart, which is at the home of the line, to each other hart,
    by distance.
    """
    machine = load(machine_name)
    placement = ",".join(map(str, harts))
    outcome = point(machine, workload, len(harts), placement=placement, rounds=10)
    row = outcome["tables"][table][0]
    return {distance(machine, harts[0], hart): row[i] for i, hart in enumerate(harts) if i}


@pytest.mark.parametrize(
    ("machine", "harts"),
    [
        ("ccx", [0, 1, 8]),
        # in the same complex, another complex, another die, another socket
        ("epyc7601x2", [0, 2, 8, 16, 64]),
    ],
)
def test_ipi_latencies_have_the_order_of_line_latencies(machine: str, harts: list[int]) -> None:
    lines = latencies(machine, harts, "latency/pingpong", "handoff")
    ipis = latencies(machine, harts, "ipi/pingpong", "one_way")
    assert len(ipis) == len(set(ipis.values())) == len(harts) - 1
    assert sorted(ipis, key=ipis.__getitem__) == sorted(lines, key=lines.__getitem__)


@pytest.mark.parametrize(
    ("machine", "width", "placement", "threads"),
    [
        # Harts 0 and 8 exchange IPIs. The other harts of both complexes stream from memory, through
        # the IO die.
        ("ccx", "1B/1ns", "0,8,1-7,9-15", 16),
        # Harts 0 and 64 exchange IPIs. The other harts of hart 64's die stream from hart 0's node,
        # over the only link.
        ("epyc7601x2", "2GB/s", "0,64,66-79", 16),
    ],
)
def test_a_saturated_link_delays_an_ipi(
    machine: str, width: str, placement: str, threads: int
) -> None:
    quiet, loaded = (
        point(
            machine,
            guest("ipi_under_load"),
            threads,
            placement=placement,
            overrides={"system.join.width": width},
            load=load,
        )
        for load in (False, True)
    )
    assert not quiet["failures"] and not loaded["failures"]
    delayed, undelayed = zip(*(run["tables"]["one_way"][0] for run in (quiet, loaded)), strict=True)
    assert delayed[1] >= 2 * delayed[0]
    # data saturate one direction, but requests do not saturate the other
    if machine == "epyc7601x2":
        assert undelayed[1] < 1.05 * undelayed[0]


def test_broadcast_time_grows_linearly_only_with_unicast() -> None:
    """The last of n harts enters its handler after n unicast sends, or after one multicast send and
    the latency to the farthest hart.
    """

    def last(multicast: str, harts: int) -> int:
        overrides = {"interrupt.multicast": multicast}
        outcome = point("epyc7601x2", "ipi/broadcast", harts, overrides=overrides, rounds=4)
        assert not outcome["failures"]
        return int(outcome["tables"]["reached"][0][1])

    unicast_times, multicast_times = (
        [last(setting, n) for n in (8, 16, 32, 64)] for setting in ("no", "yes")
    )
    send = (unicast_times[1] - unicast_times[0]) / 8
    assert unicast_times[3] - unicast_times[2] == pytest.approx(32 * send, rel=0.03)
    assert multicast_times[3] < 2 * multicast_times[0]


def test_broadcast_sends_one_message_per_group() -> None:
    """I5.3: the last of 16 harts waits for the messages to earlier groups. With groups of one hart,
    there is one message for each hart.
    """

    def last(multicast: str, group: int) -> int:
        overrides = {"interrupt.multicast": multicast, "interrupt.harts_per_message": str(group)}
        outcome = point("bus:16", "ipi/broadcast", 16, overrides=overrides, rounds=4)
        assert not outcome["failures"]
        return int(outcome["tables"]["reached"][0][1])

    send = load("bus:16").interrupt.send
    two_groups, four_groups, single_harts = (last("yes", group) for group in (8, 4, 1))
    assert four_groups - two_groups == pytest.approx(2 * send, rel=0.1)
    assert single_harts - four_groups == pytest.approx(11 * send, rel=0.1)
    assert single_harts == pytest.approx(last("no", 0), rel=0.1)


@pytest.mark.parametrize("group", ["0", "16", "24"])
def test_a_multicast_reaches_harts_beyond_the_64th(group: str) -> None:
    """A word of the target set holds 64 harts, and a group may extend over two words."""
    overrides = {"interrupt.multicast": "yes", "interrupt.harts_per_message": group}
    assert not point("ccx:9x8", "ipi/broadcast", 72, overrides=overrides, rounds=2)["failures"]

"""Do interrupts use the same fabric as lines?

IPIs to more distant harts take longer, as lines do, and a saturated link delays only the IPIs that
pass it in its direction.
"""

from __future__ import annotations

import pytest
from tests.support.runs import guest, point

from uncore.topology import load
from uncore.topology.distance import distance


def latencies(machine_name: str, harts: list[int], workload: str, table: str) -> dict[str, int]:
    """Returns the times from the first hart, at the home of the line, to the other harts."""
    machine = load(machine_name)
    placement = ",".join(map(str, harts))
    outcome = point(machine, workload, len(harts), placement=placement, rounds=10)
    row = outcome["tables"][table][0]
    return {distance(machine, harts[0], hart): row[i] for i, hart in enumerate(harts) if i}


@pytest.mark.parametrize(
    ("machine", "harts"),
    [
        ("ccx", [0, 1, 8]),
        ("epyc7601x2", [0, 2, 8, 16, 64]),  # the same complex, another, another die, socket
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
        # Harts 0 and 8 ping; the others of both complexes stream from memory behind the IO die.
        ("ccx", "1B/1ns", "0,8,1-7,9-15", 16),
        # Harts 0 and 64 ping; those of hart 64's die stream from hart 0's node over the one link.
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
    there, back = zip(*(p["tables"]["one_way"][0] for p in (quiet, loaded)), strict=True)
    assert there[1] >= 2 * there[0]
    if machine == "epyc7601x2":  # data fill one direction, requests do not fill the other
        assert back[1] < 1.05 * back[0]


def test_broadcast_time_grows_linearly_only_with_unicast() -> None:
    """The last of n harts enters its handler after n unicast sends, or after one multicast send and
    the latency to the farthest hart.
    """

    def last(multicast: str, harts: int) -> int:
        overrides = {"interrupt.multicast": multicast}
        outcome = point("epyc7601x2", "ipi/broadcast", harts, overrides=overrides, rounds=4)
        assert not outcome["failures"]
        return int(outcome["tables"]["reached"][0][1])

    one_by_one, at_once = ([last(how, n) for n in (8, 16, 32, 64)] for how in ("no", "yes"))
    send = (one_by_one[1] - one_by_one[0]) / 8
    assert one_by_one[3] - one_by_one[2] == pytest.approx(32 * send, rel=0.03)
    assert at_once[3] < 2 * at_once[0]


def test_broadcast_sends_one_message_per_group() -> None:
    """I5.3: the last of 16 harts waits for the messages to earlier groups; with groups of one hart,
    there is one message per hart.
    """

    def last(multicast: str, group: int) -> int:
        overrides = {"interrupt.multicast": multicast, "interrupt.harts_per_message": str(group)}
        outcome = point("bus:16", "ipi/broadcast", 16, overrides=overrides, rounds=4)
        assert not outcome["failures"]
        return int(outcome["tables"]["reached"][0][1])

    send = load("bus:16").interrupt.send
    two, four, fifteen = (last("yes", group) for group in (8, 4, 1))
    assert four - two == pytest.approx(2 * send, rel=0.1)
    assert fifteen - four == pytest.approx(11 * send, rel=0.1)
    assert fifteen == pytest.approx(last("no", 0), rel=0.1)


@pytest.mark.parametrize("group", ["0", "16", "24"])
def test_a_multicast_reaches_harts_beyond_the_64th(group: str) -> None:
    """A word of the target set has 64 harts, and a group may span two words."""
    overrides = {"interrupt.multicast": "yes", "interrupt.harts_per_message": group}
    assert not point("ccx:9x8", "ipi/broadcast", 72, overrides=overrides, rounds=2)["failures"]

"""Does the transaction log contain exactly what section L of docs/model.md says?"""

from __future__ import annotations

from typing import Any

import polars
import pytest
from tests.support.line import KEPT, NS, line
from tests.support.plans import START, Do, Plans, Step, words
from tests.support.runs import guest, job, logged

from uncore.engine import native
from uncore.topology.machine import Machine

LOG = frozenset({"log"})
HOME, MEMORY = 3, 4  # agents in the machine of support/line.py
TIMES = ["request", "open", "probe", "data", "close"]


def shared_line(machine: Machine, plans: Plans, **options: Any) -> list[dict[str, Any]]:
    """Returns the log's records of the line that the plans' first step, at 1000, accesses. Times
    are in ns after the start.
    """
    table, _ = logged(machine, guest("plan"), len(plans), **words(plans), **options)
    plan_records = table.filter(polars.col("request") >= (START + 1000) * NS)
    times = [polars.col(t).replace({-1: START * NS}) // NS - START for t in TIMES]
    return (
        plan_records.filter(polars.col("line") == plan_records["line"].first())
        .with_columns(times)
        .to_dicts()
    )


# B requests A's line. For each pair (reply, unblock): the time at which the data reach B, and the
# time at which the transaction closes at H. With `response` A's answer closes it, with `completion`
# B's Unblock.
DATA_AND_CLOSE = {
    ("direct", "response"): (2090, 2073),
    ("direct", "completion"): (2090, 2112),
    ("via", "response"): (2099, 2075),
    ("via", "completion"): (2099, 2121),
}


@pytest.mark.parametrize(("reply", "unblock"), DATA_AND_CLOSE)
def test_log_has_all_fields_of_each_request(reply: str, unblock: str) -> None:
    """A writes, then B. The expected fields are computed by hand from the rules and the latencies
    of support/line.py.
    """
    plans = [[Step(1000, Do.AMO)], [Step(2000, Do.AMO)]]
    first, second = shared_line(line(resolver={"reply": reply, "unblock": unblock}), plans)
    closed = 1116 if unblock == "completion" else 1092
    expected = {"requester": 0, "resolver": HOME, "op": "GetM", "owner": -1, "source": MEMORY}
    expected |= {"right": "M", "probes": 0, "request": 1016, "open": 1032, "probe": 0}
    assert first.items() >= (expected | {"data": 1105, "close": closed}).items()
    data, closed = DATA_AND_CLOSE[reply, unblock]
    expected = {"requester": 1, "resolver": HOME, "op": "GetM", "owner": 0, "source": 0}
    expected |= {"right": "M", "probes": 1, "request": 2016, "open": 2042, "probe": 2042}
    assert second.items() >= (expected | {"data": data, "close": closed}).items()
    assert second["id"] > first["id"] and first["number"] >= 1


def test_log_records_rights_upgrades_and_data_from_a_level() -> None:
    """A and B read: A gets E, and B gets S. Then B writes, which is an upgrade without data."""
    plans = [[Step(1000, Do.LOAD)], [Step(2000, Do.LOAD), Step(3000, Do.AMO)]]
    first, second, third = shared_line(line(resolver=KEPT), plans)
    assert (first["op"], first["right"], first["source"]) == ("GetS", "E", MEMORY)
    assert (second["op"], second["right"], second["source"]) == ("GetS", "S", 0)
    assert (third["op"], third["right"], third["source"]) == ("Upg", "M", -1)
    assert (third["owner"], third["probes"]) == (-1, 1)
    read_plans = [[Step(1000, Do.LOAD)], [Step(2000, Do.LOAD)], [Step(3000, Do.LOAD)]]
    *_, last = shared_line(line(resolver=KEPT, protocol="msi"), read_plans)
    assert (last["source"], last["owner"], last["probes"]) == (HOME, -1, 0)
    # The transaction closes at the decision; the data leave after `data_hit`.
    assert last["close"] + 21 <= last["data"]


@pytest.mark.parametrize("has_data", [True, False])
def test_an_atomic_done_at_the_resolver_is_logged(has_data: bool) -> None:
    """C8: no right is granted, but a value is sent. Its source is the agent that had the data
    last.
    """
    machine = line(core={"far_atomics": True}, resolver=KEPT if has_data else {})
    plans = [[Step(1000, Do.STORE)], [Step(2000, Do.AMO), Step(3000, Do.AMO)]]
    _, first, second = shared_line(machine, plans)
    expected = {"requester": 1, "resolver": HOME, "op": "Amo", "right": ""}
    # The first atomic uses A's data, which reach H after A's probe. The second uses those of the
    # level or of memory.
    data_hit = 21 if has_data else 0  # the slice first accesses the level's data
    opened = 2042 + data_hit
    owned = {"owner": 0, "source": 0, "probes": 1, "request": 2016}
    owned |= {"open": opened, "probe": opened}
    owned |= {"close": opened + 11 + 9 + 13, "data": opened + 33 + 20}
    assert first.items() >= (expected | owned).items()
    later = {"owner": -1, "source": HOME if has_data else MEMORY, "probes": 0, "probe": 0}
    closed = 3042 + data_hit if has_data else 3042 + 60
    later |= {"open": 3042 + data_hit, "close": closed, "data": closed + 20}
    assert second.items() >= (expected | later).items()


def test_always_far_atomic_is_logged_with_its_own_core_as_source() -> None:
    """C8.9: the requester is probed like any other owner; then the level has the line."""
    machine = line(core={"far_atomics": True, "far_owned": True}, resolver=KEPT)
    plans = [[Step(1000, Do.STORE), Step(2000, Do.AMO), Step(3000, Do.AMO)]]
    _, first, second = shared_line(machine, plans)
    assert [record["op"] for record in (first, second)] == ["Amo", "Amo"]
    sources = [(record["owner"], record["source"], record["probes"]) for record in (first, second)]
    assert sources == [(0, 0, 1), (-1, HOME, 0)]


MACHINES = ["bus:4", "ring:4", "epyc7601x2", "e52690x2"]


@pytest.mark.parametrize("machine", MACHINES)
def test_the_log_has_a_record_for_each_transaction(machine: str) -> None:
    """L1: a run is the same with and without a log, and the log is the same however far cores run
    ahead.
    """
    options = {"placement": "scatter"} if machine in MACHINES[2:] else {}
    table, point = logged(machine, guest("random_sharing"), 4, **options)
    assert table.height == point["transactions"] > 100
    unlogged = native.run(job(machine, guest("random_sharing"), 4, **options), frozenset())
    assert unlogged.pop("observed") == {} and unlogged == point
    slow, _ = logged(
        machine, guest("random_sharing"), 4, {"lookahead": 0, "sleep": False}, **options
    )
    assert slow.equals(table)


def test_writebacks_and_requests_of_joins_are_logged() -> None:
    """L2, L4, L5: a Put gets no right; a join sends a request above while a child waits."""
    small = {"core.l1": "1KiB 2-way 4cy", "core.l2": "2KiB 2-way 12cy"}
    table, _ = logged(
        "epyc7601x2", guest("random_sharing"), 4, placement="scatter", overrides=small
    )
    puts = table.filter(op="Put")
    assert puts.height and set(puts["right"]) == {""} and set(puts["source"]) == {-1}
    assert set(table.filter(polars.col("op") != "Put")["right"]) <= set("SFEM")
    joins = set(table["resolver"]) & set(table["requester"])
    requests_above = table.filter(
        polars.col("requester").is_in(list(joins)) & (polars.col("op") != "Put")
    )
    requests_below = table.select("line", "open", "close", "probe", requester="resolver")
    pairs = requests_above.join(requests_below, on=["requester", "line"], suffix="_below").filter(
        polars.col("request").is_between("open_below", "close_below")
    )
    assert set(pairs["id"]) == set(requests_above["id"]) != set()
    # L6: for a request, a join probes its children only after it has got the right. Before that, it
    # probes them only for a probe from above.
    assert pairs.filter(polars.col("probe_below").is_between(0, polars.col("data") - 1)).is_empty()


def test_the_log_is_sorted_by_time_requester_and_number() -> None:
    """L8: requests are sorted by time and requester, and numbered."""
    table, _ = logged("epyc7601x2", "lock/mcs", 8)
    assert table["id"].to_list() == list(range(table.height))
    assert table.sort("request", "requester", "number").equals(table)
    assert not table.select("requester", "number").is_duplicated().any()

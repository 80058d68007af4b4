"""Do migratory protocols pass a written line, with the right to write it, on to the next reader
(R12, J5)?
"""

from __future__ import annotations

from typing import Any

import polars
import pytest
from tests.support.line import KEPT, NS, A, B, H, line, way
from tests.support.plans import START, Do, Step, at, steps, words
from tests.support.rule_costs import ATOMIC, L2, LOAD, SERVICE, taken
from tests.support.runs import guest, logged
from tests.support.two_levels import JOIN, ROOT, levels

from uncore.topology.machine import Machine

MIGRATORY_PROTOCOLS = ["migratory", "migratory-mesif", "migratory-moesi"]


def transactions(machine: Machine, plans: list[list[Step]]) -> polars.DataFrame:
    """Returns the log of the line that the plans access."""
    table, _ = logged(machine, guest("plan"), len(plans), **words(plans))
    plan_records = table.filter(polars.col("request") >= START * NS)
    return plan_records.filter(polars.col("line") == plan_records["line"].first())


def grants(machine: Machine, plans: list[list[Step]]) -> list[tuple[Any, ...]]:
    columns = ("requester", "resolver", "op", "right", "source")
    return transactions(machine, plans).select(columns).rows()


# ---- R12: one level ------------------------------------------------------------------------------


@pytest.mark.parametrize("protocol", MIGRATORY_PROTOCOLS)
def test_reader_of_a_migratory_line_writes_it_without_a_request(protocol: str) -> None:
    """Core 0 writes; core 1 reads, then writes."""
    plans = [[at(1000, Do.AMO)], [at(2000, Do.LOAD), at(3000, Do.AMO)], []]
    read, write = steps(line(protocol=protocol), plans)[1]
    assert (read.cost, write.cost) == (taken(B, A) + LOAD, ATOMIC)
    assert steps(line(protocol="mesi"), plans)[1][1].cost > ATOMIC


@pytest.mark.parametrize(("protocol", "source"), [("migratory", 3), ("migratory-moesi", 2)])
def test_migratory_line_becomes_shared_if_its_reader_did_not_write_it(
    protocol: str, source: int
) -> None:
    """Cores 0 and 1 pass the line on to core 2, which only reads it; then cores 0 and 1 share it.
    The last reader gets the data from the level with MESI, and from core 2 with MOESI.
    """
    last = [at(5000, Do.LOAD)]
    plans = [[at(1000, Do.AMO), at(4000, Do.LOAD)], [at(2000, Do.LOAD), at(2500, Do.AMO), *last]]
    plans.append([at(3000, Do.LOAD)])
    assert grants(line(protocol=protocol, resolver=KEPT), plans)[1:] == [
        (1, 3, "GetS", "D", 0),
        (2, 3, "GetS", "D", 1),
        (0, 3, "GetS", "S", 2),
        (1, 3, "GetS", "S", source),
    ]


@pytest.mark.parametrize("unblock", ["completion", "response"])
@pytest.mark.parametrize("reply", ["direct", "via"])
def test_reader_unblocks_the_resolver_if_the_owner_sends_it_the_line(
    unblock: str, reply: str
) -> None:
    """R12.2: core 2's request comes 1 ns after core 1's, and waits until core 1's transaction
    ends.
    """
    resolver = {"unblock": unblock, "reply": reply, "turn": 0}
    machine = line(protocol="migratory", core={"hold": 0}, resolver=resolver)
    head_start = way("control", B, H)
    plans = [[at(1000, Do.AMO)], [at(2000, Do.LOAD)], [at(2001 + head_start, Do.LOAD)]]
    _, first, second = transactions(machine, plans).to_dicts()
    answered = first["open"] + (way("snoop", H, A) + L2) * NS
    if reply == "direct":
        assert first["data"] == answered + way("data", A, B) * NS
        assert first["close"] == first["data"] + way("snoop", B, H) * NS
    else:
        answered_at_home = answered + way("data", A, H) * NS
        completed = answered_at_home + (way("data", H, B) + way("snoop", B, H)) * NS
        assert first["close"] == (answered_at_home if unblock == "response" else completed)
    assert second["open"] == first["close"]
    assert SERVICE > 1  # so the second request arrives before the first is served


# ---- J5: joins -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("data", "protocol"), [("inclusive", "migratory"),
                                                ("victim", "migratory"),
                                                ("none", "migratory-moesi")])  # fmt: skip
def test_join_passes_a_migratory_line_on_with_the_right_that_it_got(
    data: str, protocol: str
) -> None:
    """Core 0, below the join, writes; core 3 reads and writes; core 1 reads."""
    machine = levels(data, protocol=protocol)
    plans = [[at(1000, Do.AMO)], [at(4000, Do.LOAD)], [], [at(2000, Do.LOAD), at(3000, Do.AMO)]]
    assert grants(machine, plans)[2:] == [  # after the requests of core 0 and its join
        (3, ROOT, "GetS", "D", JOIN),
        (1, JOIN, "GetS", "D", 3),
        (JOIN, ROOT, "GetS", "D", 3),
    ]


def test_join_shares_a_line_of_which_its_children_keep_copies() -> None:
    """J5.1: core 0 wrote the line; core 1 read it and passed it on to core 2. Core 2 did not write
    it, so two cores share it when core 3 requests it.
    """
    plans = [[at(1000, Do.AMO)], [at(2000, Do.LOAD)], [at(3000, Do.LOAD)], [at(4000, Do.LOAD)]]
    rows = grants(levels("inclusive", protocol="migratory"), plans)
    assert [row[3] for row in rows if row[0] == 3] == ["S"]

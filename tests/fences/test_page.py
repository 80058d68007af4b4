"""Does the page list the orders that shipped workloads need, in agreement with weak machines?"""

from __future__ import annotations

import pytest
from tests.fences import page

from uncore.study.fences import questions as asking
from uncore.study.fences.trials import Trials

ROWS = page.load()


@pytest.mark.parametrize("workload", page.TESTED_ONE_BY_ONE)
def test_each_memory_order_of_a_workload_has_a_reason_and_a_row(workload: str) -> None:
    source, why = page.source_of(workload), page.reasons()[workload]
    assert page.keys(source) == list(why)
    rows = [
        row
        for row in ROWS
        if row["workload"] == workload and row["order"] != page.ALL_ORDERS_KEY[0]
    ]
    assert [(row["order"], row["says"]) for row in rows] == [
        (order.place, order.says) for order in source.orders
    ]


def test_every_workload_has_a_row_with_all_orders_weakened() -> None:
    rows = [row for row in ROWS if row["order"] == page.ALL_ORDERS_KEY[0]]
    assert [row["workload"] for row in rows] == page.workloads()
    passing = {row["workload"] for row in rows if row["verdict"] == "passes"}
    assert passing == set(page.reasons()["at once"])


def test_page_about_fences_has_a_line_for_each_row() -> None:
    text = "\n".join(page.page())
    assert text.count("\n| `") == len(ROWS)
    assert "| `ticket.h:14` load acquire | relaxed: fails, seed 1 | The owner's first" in text


@pytest.mark.long
@pytest.mark.parametrize("workload", page.workloads())
def test_workload_without_orders_fails_unless_a_reason_is_recorded(workload: str) -> None:
    source = page.source_of(workload)
    (written,), *weakened = page.ask(source, asking.questions(source, alone=False), Trials())
    assert written.failure is None
    failed = any(answer.failure for (answer,) in weakened)
    assert failed != (workload in page.reasons()["at once"])

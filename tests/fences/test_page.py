"""Is it known which orders shipped workloads need, and does a weak machine say the same?"""

from __future__ import annotations

import pytest
from tests.fences import page

from uncore.study.fences import questions as asking
from uncore.study.fences.trials import Trials
from uncore.support import paths

WRITTEN = paths.CHECKOUT / "docs/fences.md"


@pytest.mark.parametrize("workload", page.ALONE)
def test_each_order_has_a_reason_and_a_row(workload: str) -> None:
    source, why = page.source_of(workload), page.reasons()[workload]
    assert page.keys(source) == list(why)
    section = WRITTEN.read_text().partition(f"## `{workload}`\n")[2].partition("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| `")]
    for order, reason, row in zip(source.orders, why.values(), rows, strict=True):
        where = f"`{source.named(order.file)}:{order.order.line}` {order.order.says}"
        assert row.startswith(f"| {where} |") and row.endswith(f"| {reason} |")


def test_every_workload_is_asked_with_all_orders_weakened() -> None:
    section = WRITTEN.read_text().partition("## All orders at once")[2]
    assert [line.split("`")[1] for line in section.splitlines() if line.startswith("| `")] == (
        page.workloads()
    )


@pytest.mark.long
@pytest.mark.parametrize("workload", page.workloads())
def test_without_orders_a_workload_fails_on_a_weak_machine_or_need_not(workload: str) -> None:
    source = page.source_of(workload)
    (written,), *weakened = page.ask(source, asking.questions(source, alone=False), Trials())
    assert written.failure is None
    failed = any(answer.failure for (answer,) in weakened)
    assert failed != (workload in page.reasons()["at once"])

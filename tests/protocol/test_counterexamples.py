"""Does `uncore check` draw the shortest counterexample of a user's incoherent protocol?"""

from __future__ import annotations

from pathlib import Path

import pytest

from uncore.engine.outcome import tables as carried_tables
from uncore.protocol import check
from uncore.protocol.check import Proof
from uncore.protocol.tables import load, shipped_in, stored_texts
from uncore.report import proofs
from uncore.report.message_chart import chart

# This protocol is incoherent over a join, because joins do not support the way in which it uses O.
MOSI = Path(__file__).parents[1] / "support/protocols/mosi"


@pytest.fixture(scope="module")
def violated() -> list[Proof]:
    tables = load(str(MOSI))
    return [p for p in check.proofs(tables, groups=["2+1-cores"]) if p.violation]


def test_shipped_tables_that_a_protocol_falls_back_on_are_listed() -> None:
    tables = load(str(MOSI))
    assert shipped_in(tables) == ("join.table", "transaction.table")
    # the same tables, as a machine passes them to a run
    again = carried_tables.of("mosi", stored_texts(tables))
    assert shipped_in(again) == shipped_in(tables)
    assert shipped_in(load("mesi")) == ()


def test_a_violation_names_the_table_row_column_and_reason(violated: list[Proof]) -> None:
    assert violated
    for proof in violated:
        assert proof.violation.startswith("join.table (the shipped one: '")
        assert (
            "row 'B below', column ProbeS was met, declared impossible: only an" in proof.violation
        )
        assert "(line" not in proof.violation


def test_the_shortest_counterexample_is_drawn_and_the_others_are_counted(
    violated: list[Proof], capsys: pytest.CaptureFixture[str]
) -> None:
    proofs.show([load(str(MOSI))], violated)
    text = capsys.readouterr().out
    shortest = min(violated, key=lambda proof: len(proof.trace))
    assert "\n".join(f"  {line}" for line in chart(shortest.trace)) in text
    assert text.count("|") < 200
    assert f"{len(violated) - 1} times: join.table" in text or len(violated) == 1
    assert "join.table, transaction.table are as shipped" in text


STEPS = [
    "core0 stores              core0=IM core1=I root=M",
    "GetM core0 to root        core0=IM core1=I root=M",
    "Data-M root to core0      core0=M core1=I root=M",
    "ProbeS root to core0 for core1  core0=M core1=I root=M",
]
DRAWN = """\
 core0   core1    root
   IM      I       M       core0 stores
   | ------------> |       GetM
   M <------------ |       Data-M
   | <------------ |       ProbeS for core1"""


def test_messages_are_arrows_between_their_agents() -> None:
    assert "\n".join(chart(STEPS)) == DRAWN


def test_violation_that_cannot_be_drawn_is_printed() -> None:
    assert chart(["something went wrong"]) == ["something went wrong"]
    assert chart([]) == []

"""Is a difference between the engines found, and reported with the right rules?

Each test breaks one rule in the reference engine only, and runs a job whose outcome depends on the
rule.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import polars
import pytest
from tests.differential.jobs import JOBS, MORE_JOBS, make

from uncore.cli import app as cli
from uncore.engine.reference import buffer, capacity, children, contended, far, join, locks
from uncore.engine.reference.access import Access
from uncore.engine.reference.agents import Agents
from uncore.engine.reference.caches import Caches
from uncore.engine.reference.capacity import Capacity
from uncore.engine.reference.chance import Chance
from uncore.engine.reference.contended import Contended
from uncore.engine.reference.core import Core
from uncore.engine.reference.entry import Entry
from uncore.engine.reference.fabric import Fabric
from uncore.engine.reference.hart import Hart
from uncore.engine.reference.log import ServedRequest
from uncore.engine.reference.message import Message
from uncore.engine.reference.protocol import Protocol
from uncore.engine.reference.time import AT_ONCE
from uncore.protocol.table_shapes import Cell
from uncore.result import log
from uncore.study.compare import agreement

ENGINES = ("native", "reference")


def _restart_age(
    entry: Entry, kind: str, child: int, right: str, cause: Message, data_to: int
) -> None:
    """Breaks J3: a probe's age begins when the probe leaves, even if another probe caused it."""
    if cause and cause.since:
        cause = copy.copy(cause)
        cause.since = entry.clock.now
    SEND_PROBE(entry, kind, child, right, cause, data_to)


SEND_PROBE = children.send_probe


def _ask_from_first_hart(core: Core, line: int, holder: int) -> None:
    """Breaks C9: the core's first hart always asks first, out of turn."""
    REQUEST_IN_TURN(core, line, len(core.harts) - 1)


REQUEST_IN_TURN = contended.request_in_turn


def _recall_late(_: Capacity, entry: Entry) -> None:
    """Breaks R8.1: the recall of an evicted line leaves after the effects of the line that replaces
    it.
    """
    entry.recalled = True
    entry.clock.call(entry.clock.now, AT_ONCE, entry.news.ring)


def _others_wait_at_this_level(entry: Entry, requester: int) -> bool:
    """Returns True if others wait for the line at this level; ignores the levels above."""
    return any(m.sender != requester and m.kind != "Put" for m in entry.queue)


def _no_via(protocol: Protocol, children: str, request: str, line: int) -> Cell:
    """Makes the owner send the data directly to a writer, even if others share the line."""
    cell = RESOLVER(protocol, children, request, line)
    if "via" not in cell.actions:
        return cell
    actions = tuple(action for action in cell.actions if action != "via")
    return replace(cell, actions=actions, next=protocol.full_right)


RESOLVER = Protocol.resolver


def _near_if_owned(core: Core, access: Access) -> bool:
    """Performs an AMO in the core if the core owns the line, even if AMOs are always far."""
    line = core.caches.find(access.line)
    return GOES_FAR(core, access) and not line.protocol.may_store(line.state)


GOES_FAR = far.goes_far


def _leave_undelayed(_: Chance, request: Message, undelayed: int) -> int:
    return undelayed


def _usual_hold(_: Chance, core: int, usual_length: int, number: int) -> int:
    return usual_length


def return_false(*_: Any) -> bool:
    return False


def return_true(*_: Any) -> bool:
    return True


def return_zero(*_: Any) -> int:
    return 0


def return_none(*_: Any) -> None:
    return None


# For each broken rule: the object and attribute that are replaced, the replacement, the name of a
# job whose outcome must differ, and a text that the reported rules must contain.
BREAKS: dict[str, tuple[Any, str, Any, str, str]] = {
    "lines are not held": (Caches, "protection_end", return_zero, "refcount-ccx-2", "C2 to C6"),
    "messages take no time on channels": (
        Fabric,
        "slowest",
        return_zero,
        "random-bus:4-0-mesi",
        "F1 to F3",
    ),
    "joins do not serve their children first": (
        join,
        "children_first",
        return_false,
        "random-ccx:2x3-1-mesi",
        "J3",
    ),
    "no grants by age": (join, "young", return_false, "by-age-ticket", "J3"),
    "the age of a probe starts again at each join": (
        children,
        "send_probe",
        _restart_age,
        "by-age-twice",
        "J3",
    ),
    "recalls leave late": (Capacity, "recall", _recall_late, "random-ccx:2x3-2-mesi", ""),
    "reads and writes are not ordered": (
        Protocol,
        "resolver",
        _no_via,
        "random-ring:5-1-mesif",
        "C2",
    ),
    "every request is completed": (
        children,
        "completes",
        return_true,
        "random-ring:5-0-mesi",
        "R5",
    ),
    "lines are never recalled": (Capacity, "take_entry", return_none, "random-ccx:2x3-2-mesi", ""),
    "lines are never evicted": (capacity, "evict_copy", return_none, "random-ccx:2x3-1-mesi", ""),
    "all lines have one home": (Agents, "home", return_zero, "epyc-interleave", "A4"),
    "all lines have one slice": (Agents, "slice", return_zero, "refcount-ccx-2", ""),
    "siblings do not share the issue width": (
        Core,
        "share_issue",
        return_none,
        "intel-siblings",
        "",
    ),
    "no store forwards": (buffer, "forwarded", return_none, "random-bus:4-0-msi", ""),
    "an LR's lock does not end": (locks, "unlock", return_none, "no-hold", "C6"),
    "siblings share contended lines": (
        Contended,
        "must_wait",
        return_false,
        "siblings-counter/atomic",
        "",
    ),
    "a join does not report waiting requests": (
        Entry,
        "others_wait",
        _others_wait_at_this_level,
        "weak-siblings-in-turn-cas-epyc7601x2",
        "",
    ),
    "the first sibling asks first": (
        contended,
        "request_in_turn",
        _ask_from_first_hart,
        "four-siblings",
        "",
    ),
    "no lines are locked": (locks, "may_begin", return_true, "siblings-counter/atomic", ""),
    "an owner's AMO is not far": (far, "goes_far", _near_if_owned, "owned-far-bus:4", ""),
    "all harts begin at the same time": (
        Chance,
        "start",
        return_zero,
        "by-chance-ticket-ccx-16",
        "",
    ),
    "requests are not delayed": (
        Chance,
        "leaves",
        _leave_undelayed,
        "by-chance-random-bus:4-0-mesi",
        "V4",
    ),
    "posted AMOs overtake": (Chance, "in_order", _leave_undelayed, "by-chance-posted", "V4"),
    "holds do not vary": (Chance, "hold", _usual_hold, "by-chance-ticket-ccx-16", ""),
    "a log without probes": (ServedRequest, "asked", return_none, "one-slice", "R3"),
    "a log without sources": (ServedRequest, "granted", return_none, "one-slice", "R4"),
}


@pytest.mark.parametrize("description", BREAKS)
def test_broken_rule_is_reported_as_a_difference(
    description: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    object_, attribute, replacement, job, rule = BREAKS[description]
    assert hasattr(object_, attribute)
    monkeypatch.setattr(object_, attribute, replacement)
    comparison = agreement.compare(make((JOBS | MORE_JOBS)[job]), ENGINES)
    assert not comparison.equal
    assert comparison.difference is not None
    assert rule in comparison.difference.rule


def test_late_interrupt_is_reported_as_a_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    """Interrupts are delayed, so that the logs are equal but the program's own measurements
    differ.
    """
    interrupt = Hart.interrupt
    monkeypatch.setattr(Hart, "interrupt", lambda hart, bit, level: interrupt(hart, bit, level))
    assert agreement.compare(make(JOBS["delay-ring:4"]), ENGINES).equal
    monkeypatch.setattr(Hart, "interrupt", lambda hart, bit, level: hart.isa.interrupt(bit, level))
    assert "tables" in agreement.compare(make(JOBS["delay-ring:4"]), ENGINES).outcome


# ---- logs written by hand ------------------------------------------------------------------------


def table(*records: dict[str, Any]) -> polars.DataFrame:
    """Returns a log with these records. A field that a record omits has the same value in all
    records.
    """
    texts = {"op": "GetS", "right": "S"}
    defaults = {name: texts.get(name, 1) for name in log.LOG_COLUMNS if name != "id"}
    defaults |= {"owner": -1, "source": -1, "probe": -1}
    rows = [defaults | {"number": number} | record for number, record in enumerate(records, 1)]
    return log.frame({name: [row[name] for row in rows] for name in defaults})


FIRST = {"request": 10, "open": 20, "data": 30, "close": 40}
SECOND = {"request": 15, "open": 41, "data": 50, "close": 60}


def test_equal_logs_have_no_difference() -> None:
    assert agreement.first_difference(table(FIRST, SECOND), table(FIRST, SECOND)) is None


def test_the_earliest_difference_is_reported() -> None:
    """The first transaction ends late because the second one starts early, so the start of the
    second is reported.
    """
    other = table(FIRST | {"close": 45}, SECOND | {"open": 35})
    difference = agreement.first_difference(table(FIRST, SECOND), other)
    assert difference and difference.columns == ("open",)
    assert (
        difference.a and difference.b and (difference.a["open"], difference.b["open"]) == (41, 35)
    )
    assert "R2" in difference.rule


def test_a_difference_at_a_missing_event_counts_as_later_than_others() -> None:
    other = table(FIRST | {"data": -1}, SECOND | {"open": 25})
    difference = agreement.first_difference(table(FIRST, SECOND), other)
    assert difference and difference.columns == ("open",)


def test_record_that_one_engine_lacks_is_reported() -> None:
    difference = agreement.first_difference(table(FIRST, SECOND), table(FIRST))
    assert difference and difference.a and difference.b is None and "T4" in difference.rule
    assert [record["number"] for record in difference.before] == [1]


# ---- the command ---------------------------------------------------------------------------------

WORDS = ("diff-engines", "ring:3", "counter/atomic", "--threads", "2", "--set", "ops=2")


def test_diff_engines_reports_that_logs_are_equal(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        cli.main(WORDS)
    assert exit_.value.code == 0
    assert capsys.readouterr().out.count("equal") == 2


def test_diff_engines_shows_the_first_difference_with_its_context(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ServedRequest, "asked", lambda *_: None)
    with pytest.raises(SystemExit) as exit_:
        cli.main(WORDS)
    out = capsys.readouterr().out
    assert exit_.value.code == 1
    assert "rules in question: R3" in out
    assert "native" in out and "reference" in out

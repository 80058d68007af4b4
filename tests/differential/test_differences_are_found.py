"""Is a difference between engines found, and reported with the right rules?

Each test breaks one rule in the reference engine alone; a job that depends on the rule must differ.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import polars
import pytest
from tests.differential.jobs import JOBS, MORE, make

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
    """Breaks J3: the age of a probe begins when it leaves, even if another probe has caused it."""
    if cause and cause.since:
        cause = copy.copy(cause)
        cause.since = entry.clock.now
    SEND_PROBE(entry, kind, child, right, cause, data_to)


SEND_PROBE = children.send_probe


def _ask_from_first_hart(core: Core, line: int, holder: int) -> None:
    ASK_IN_TURN(core, line, len(core.harts) - 1)


ASK_IN_TURN = contended.ask_in_turn


def _recall_late(_: Capacity, entry: Entry) -> None:
    """Delays the recall of a displaced line until after the line that takes its place has had
    effects (R8.1).
    """
    entry.recalled = True
    entry.clock.call(entry.clock.now, AT_ONCE, entry.news.ring)


def _others_wait_at_this_level(entry: Entry, who: int) -> bool:
    """Returns True if others wait for the line, but considers only this level."""
    return any(m.sender != who and m.kind != "Put" for m in entry.queue)


def _no_via(protocol: Protocol, children: str, request: str, line: int) -> Cell:
    """Makes the owner send the data directly to a writer, though others may share the line."""
    cell = RESOLVER(protocol, children, request, line)
    if "via" not in cell.actions:
        return cell
    actions = tuple(action for action in cell.actions if action != "via")
    return replace(cell, actions=actions, next=protocol.full_right)


RESOLVER = Protocol.resolver


def _near_if_owned(core: Core, access: Access) -> bool:
    """Performs an AMO in the core if it holds the line alone, even if AMOs are always far."""
    line = core.caches.find(access.line)
    return GOES_FAR(core, access) and not line.protocol.may_store(line.state)


GOES_FAR = far.goes_far


def _leaves_now(_: Chance, request: Message, then: int) -> int:
    return then


def _usual_hold(_: Chance, core: int, usual: int, number: int) -> int:
    return usual


def never(*_: Any) -> bool:
    return False


def always(*_: Any) -> bool:
    return True


def zero(*_: Any) -> int:
    return 0


def nothing(*_: Any) -> None:
    return None


# By the description of a broken rule: the object and attribute that are replaced, the replacement,
# the name of a job that must differ, and a text that the reported rules must contain.
BREAKS: dict[str, tuple[Any, str, Any, str, str]] = {
    "no hold": (Caches, "protected", zero, "refcount-ccx-2", "C2 to C6"),
    "no time on a channel": (Fabric, "slowest", zero, "random-bus:4-0-mesi", "F1 to F3"),
    "no J3": (join, "children_first", never, "random-ccx:2x3-1-mesi", "J3"),
    "no grants by age": (join, "young", never, "by-age-ticket", "J3"),
    "an age from each join anew": (children, "send_probe", _restart_age, "by-age-twice", "J3"),
    "room is made late": (Capacity, "recall", _recall_late, "random-ccx:2x3-2-mesi", ""),
    "no order of reads and writes": (Protocol, "resolver", _no_via, "random-ring:5-1-mesif", "C2"),
    "all is completed": (children, "completes", always, "random-ring:5-0-mesi", "R5"),
    "never recalled": (Capacity, "take_entry", nothing, "random-ccx:2x3-2-mesi", ""),
    "never evicted": (capacity, "evict_copy", nothing, "random-ccx:2x3-1-mesi", ""),
    "one home": (Agents, "home", zero, "epyc-interleave", "A4"),
    "one slice": (Agents, "slice", zero, "refcount-ccx-2", ""),
    "no share of the width": (Core, "share", nothing, "intel-siblings", ""),
    "nothing forwarded": (buffer, "forwarded", nothing, "random-bus:4-0-msi", ""),
    "an LR's lock without end": (locks, "unlock", nothing, "no-hold", "C6"),
    "siblings share what is fought for": (Contended, "bars", never, "siblings-counter/atomic", ""),
    "a join keeps to itself that others wait": (
        Entry, "others_wait", _others_wait_at_this_level, "weak-siblings-in-turn-cas-epyc7601x2", ""
    ),
    "the first sibling asks first": (
        contended, "ask_in_turn", _ask_from_first_hart, "four-siblings", ""
    ),
    "no locks": (locks, "may_begin", always, "siblings-counter/atomic", ""),
    "an owner's AMO stays": (far, "goes_far", _near_if_owned, "owned-far-bus:4", ""),
    "all begin at once": (Chance, "start", zero, "by-chance-ticket-ccx-16", ""),
    "no request is late": (Chance, "leaves", _leaves_now, "by-chance-random-bus:4-0-mesi", "V4"),
    "posted AMOs overtake": (Chance, "in_order", _leaves_now, "by-chance-posted", "V4"),
    "each hold is the usual one": (Chance, "hold", _usual_hold, "by-chance-ticket-ccx-16", ""),
    "a log without probes": (ServedRequest, "asked", nothing, "one-slice", "R3"),
    "a log without sources": (ServedRequest, "granted", nothing, "one-slice", "R4"),
}  # fmt: skip


@pytest.mark.parametrize("what", BREAKS)
def test_broken_rule_is_reported_as_a_difference(
    what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    module, name, broken, job, rule = BREAKS[what]
    assert hasattr(module, name)
    monkeypatch.setattr(module, name, broken)
    comparison = agreement.compare(make((JOBS | MORE)[job]), ENGINES)
    assert not comparison.equal
    assert comparison.difference is not None
    assert rule in comparison.difference.rule


def test_late_interrupt_is_reported_as_a_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    """Delays interrupts, so that the logs are equal but the program's own measurements differ."""
    old = Hart.interrupt
    monkeypatch.setattr(Hart, "interrupt", lambda hart, bit, level: old(hart, bit, level))
    assert agreement.compare(make(JOBS["delay-ring:4"]), ENGINES).equal
    monkeypatch.setattr(Hart, "interrupt", lambda hart, bit, level: hart.isa.interrupt(bit, level))
    assert "tables" in agreement.compare(make(JOBS["delay-ring:4"]), ENGINES).outcome


# ---- logs by hand --------------------------------------------------------------------------------


def table(*records: dict[str, Any]) -> polars.DataFrame:
    """Returns a log; fields that a record leaves out have the same value in all records."""
    words = {"op": "GetS", "right": "S"}
    usual = {name: words.get(name, 1) for name in log.LOG_COLUMNS if name != "id"}
    usual |= {"owner": -1, "source": -1, "probe": -1}
    rows = [usual | {"number": number} | record for number, record in enumerate(records, 1)]
    return log.frame({name: [row[name] for row in rows] for name in usual})


FIRST = {"request": 10, "open": 20, "data": 30, "close": 40}
SECOND = {"request": 15, "open": 41, "data": 50, "close": 60}


def test_equal_logs_are_equal() -> None:
    assert agreement.first_difference(table(FIRST, SECOND), table(FIRST, SECOND)) is None


def test_the_difference_that_is_first_in_time_is_shown() -> None:
    """The first transaction ends late because the second one starts early, so the latter is
    shown.
    """
    other = table(FIRST | {"close": 45}, SECOND | {"open": 35})
    difference = agreement.first_difference(table(FIRST, SECOND), other)
    assert difference and difference.columns == ("open",)
    assert (
        difference.a and difference.b and (difference.a["open"], difference.b["open"]) == (41, 35)
    )
    assert "R2" in difference.rule


def test_missing_event_is_ordered_after_those_that_happened() -> None:
    other = table(FIRST | {"data": -1}, SECOND | {"open": 25})
    difference = agreement.first_difference(table(FIRST, SECOND), other)
    assert difference and difference.columns == ("open",)


def test_record_that_one_engine_lacks_is_reported() -> None:
    difference = agreement.first_difference(table(FIRST, SECOND), table(FIRST))
    assert difference and difference.a and difference.b is None and "T4" in difference.rule
    assert [record["number"] for record in difference.before] == [1]


# ---- the command ---------------------------------------------------------------------------------

WORDS = ("diff-engines", "ring:3", "counter/atomic", "--threads", "2", "--set", "ops=2")


def test_diff_engines_says_that_logs_are_equal(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        cli.main(WORDS)
    assert exit_.value.code == 0
    assert capsys.readouterr().out.count("equal") == 2


def test_diff_engines_shows_the_first_difference_in_its_context(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ServedRequest, "asked", lambda *_: None)
    with pytest.raises(SystemExit) as exit_:
        cli.main(WORDS)
    out = capsys.readouterr().out
    assert exit_.value.code == 1
    assert "rules in question: R3" in out
    assert "native" in out and "reference" in out

"""Would a difference be found, and the right rules be named?

Each rule below is broken in the reference engine alone; a job that depends on it must then differ.
"""

from __future__ import annotations

import copy
from typing import Any

import polars
import pytest
from validation.differential.jobs import JOBS, make

from uncore import cli
from uncore.compare import agreement
from uncore.engine.reference import fabric
from uncore.engine.reference.cache import Line as SharedLine
from uncore.engine.reference.caches import Caches
from uncore.engine.reference.core import Core
from uncore.engine.reference.entry import Entry
from uncore.engine.reference.hart import Hart
from uncore.engine.reference.homes import Homes
from uncore.engine.reference.log import Record
from uncore.engine.reference.message import Message
from uncore.engine.reference.resolver import Resolver
from uncore.engine.reference.time import AT_ONCE
from uncore.engine.reference.transaction import Line
from uncore.result import log

ENGINES = ("native", "reference")


def _anew(entry: Entry, kind: str, child: int, right: str, cause: Message, data_to: int) -> None:
    """The age of a probe that a probe has set in motion begins when it leaves."""
    if cause and cause.since:
        cause = copy.copy(cause)
        cause.since = entry.clock.now
    SEND_PROBE(entry, kind, child, right, cause, data_to)


SEND_PROBE = Entry.send_probe


def _from_the_first(core: Core, number: int, last: int) -> None:
    PASS(core, number, len(core.harts) - 1)


PASS = Core._pass


def _late(resolver: Resolver, line: Entry) -> None:
    """The line that displaces another goes on before that one is given up."""
    line.recalled = True
    resolver.clock.call(resolver.clock.now, AT_ONCE, line.news.ring)


# What is broken: (where, which, by what, the job that shows it, a word of the rules then named).
BREAKS: dict[str, tuple[Any, str, Any, str, str]] = {
    "no hold": (Caches, "_protected", lambda *_: 0, "ticket-ccx-16", "R2"),
    "no time on a channel": (fabric, "slowest", lambda *_: 0, "random-bus:4-0-mesi", "F1 to F3"),
    "no J3": (Line, "children_first", lambda _: False, "random-ccx:2x3-0-mesi", "J3"),
    "no grants by age": (Line, "young", lambda *_: False, "by-age-ticket", "J3"),
    "an age from each join anew": (Entry, "send_probe", _anew, "by-age-twice", "J3"),
    "room is made late": (Resolver, "_recall", _late, "random-ccx:2x3-2-mesi", ""),
    "no order of reads and writes": (
        Line,
        "others_read",
        lambda *_: False,
        "random-ring:5-1-mesif",
        "C2",
    ),
    "all is completed": (Entry, "completes", lambda *_: True, "random-ring:5-0-mesi", "R5"),
    "never recalled": (Resolver, "take_entry", lambda *_: None, "random-ccx:2x3-2-mesi", ""),
    "never evicted": (Resolver, "_evict_copy", lambda *_: None, "random-ccx:2x3-1-mesi", ""),
    "one home": (Homes, "node", lambda *_: 0, "epyc-interleave", "A4"),
    "one slice": (Homes, "slice", lambda *_: 0, "refcount-ccx-2", ""),
    "no share of the width": (Core, "share", lambda _: None, "intel-siblings", ""),
    "nothing forwarded": (Hart, "forwarded", lambda *_: None, "random-bus:4-0-msi", ""),
    "an LR's lock without end": (Core, "unlock", lambda *_: None, "no-hold", "C6"),
    "siblings share what is fought for": (
        SharedLine,
        "closed_to",
        lambda *_: False,
        "siblings-counter/atomic",
        "",
    ),
    "a join keeps to itself that others wait": (
        Entry,
        "contended",
        lambda entry, who: any(m.sender != who and m.kind != "Put" for m in entry.queue),
        "siblings-in-turn-epyc7601x2",
        "",
    ),
    "the first sibling asks first": (Core, "_pass", _from_the_first, "four-siblings", ""),
    "no locks": (Core, "_may_begin", lambda *_: True, "siblings-counter/atomic", ""),
    "a log without probes": (Record, "asked", lambda *_: None, "one-slice", "R3"),
    "a log without sources": (Record, "granted", lambda *_: None, "one-slice", "R4"),
}


@pytest.mark.parametrize("what", BREAKS)
def test_a_broken_rule_is_noticed(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    place, name, broken, job, rule = BREAKS[what]
    assert hasattr(place, name)
    monkeypatch.setattr(place, name, broken)
    found = agreement.compare(make(JOBS[job]), ENGINES)
    assert not found.equal
    assert found.difference is not None
    assert rule in found.difference.rule


def test_a_late_interrupt_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """It leaves no trace in the log, but in what the program measured."""
    old = Hart.interrupt
    monkeypatch.setattr(Hart, "interrupt", lambda hart, bit, level: old(hart, bit, level))
    assert agreement.compare(make(JOBS["delay-ring:4"]), ENGINES).equal
    monkeypatch.setattr(Hart, "interrupt", lambda hart, bit, level: hart.isa.interrupt(bit, level))
    assert "tables" in agreement.compare(make(JOBS["delay-ring:4"]), ENGINES).outcome


# ---- logs by hand --------------------------------------------------------------------------------


def table(*records: dict[str, Any]) -> polars.DataFrame:
    """A log; what a record leaves out is the same everywhere."""
    words = {"op": "GetS", "right": "S"}
    usual = {name: words.get(name, 1) for name in log.COLUMNS if name != "id"}
    usual |= {"owner": -1, "source": -1, "probe": -1}
    rows = [usual | {"number": number} | record for number, record in enumerate(records, 1)]
    return log.frame({name: [row[name] for row in rows] for name in usual})


FIRST = {"request": 10, "open": 20, "data": 30, "close": 40}
SECOND = {"request": 15, "open": 41, "data": 50, "close": 60}


def test_equal_logs_are_equal() -> None:
    assert agreement.first(table(FIRST, SECOND), table(FIRST, SECOND)) is None


def test_the_difference_that_is_first_in_time_is_shown() -> None:
    """A late end of the first transaction is the consequence of the second one's early start."""
    other = table(FIRST | {"close": 45}, SECOND | {"open": 35})
    found = agreement.first(table(FIRST, SECOND), other)
    assert found and found.columns == ("open",)
    assert found.a and found.b and (found.a["open"], found.b["open"]) == (41, 35)
    assert "R2" in found.rule


def test_what_never_happened_is_later_than_what_did() -> None:
    other = table(FIRST | {"data": -1}, SECOND | {"open": 25})
    found = agreement.first(table(FIRST, SECOND), other)
    assert found and found.columns == ("open",)


def test_a_record_that_one_engine_lacks_is_missed() -> None:
    found = agreement.first(table(FIRST, SECOND), table(FIRST))
    assert found and found.a and found.b is None and "T4" in found.rule
    assert [record["number"] for record in found.before] == [1]


# ---- the command ---------------------------------------------------------------------------------

WORDS = ("diff-engines", "ring:3", "counter/atomic", "--threads", "2", "--set", "ops=2")


def test_the_command_says_equal(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        cli.main(WORDS)
    assert exit_.value.code == 0
    assert capsys.readouterr().out.count("equal") == 2


def test_the_command_shows_the_difference_in_its_context(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Record, "asked", lambda *_: None)
    with pytest.raises(SystemExit) as exit_:
        cli.main(WORDS)
    out = capsys.readouterr().out
    assert exit_.value.code == 1
    assert "rules in question: R3" in out
    assert "native" in out and "reference" in out

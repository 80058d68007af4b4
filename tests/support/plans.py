"""Runs programs/plan.c, in which each hart executes steps at planned times in ns, and measures the
cost of each step.

steps(machine, plans, ...)        runs the plans; returns the start and the cost of each step
results(machine, plans, ...)      also returns the time at which each hart took its last IPI
words(plans)                      the plans as parameters of the program
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import Any, NamedTuple

from tests.support.runs import guest, point

from uncore.topology import Machine


class Do(IntEnum):
    """The steps of programs/plan.c."""

    LOAD = 1
    STORE = 2
    AMO = 3
    LR = 4
    SC = 5
    FENCE = 6
    PAUSE = 7
    NOTHING = 8  # a nop
    STORE_LOAD = 9  # stores a double word, then loads it
    PIECE_LOAD = 10  # stores a byte, then loads the double word around it
    STORE_FENCE = 11
    STORE_THRICE = 12  # stores to this place and the next two
    BRANCHES = 13  # executes a loop of three iterations
    IPI = 14  # sends an IPI to hart `place`
    SLEEP = 15
    COMPUTE = 16  # executes a loop of 100 iterations
    AWAIT = 17  # waits until the word is not zero
    SET = 18  # sets the word to one
    CLEAR = 19  # clears the IPI of hart `place`
    PEEK = 20  # reads whether the IPI is pending
    EXPIRE = 21  # lets the timer of hart `place` expire
    MULTICAST = 23  # sends an IPI to the harts of the set `place`, bit by bit
    DOZE = 22  # sleeps until an interrupt is pending, without taking it
    ATTEMPT = 24  # an LR, 20 nops, and its SC
    LONG_ATTEMPT = 25  # like ATTEMPT, with 100 nops
    AWAY = 26  # an LR, 20 nops, and a taken branch
    ANEW = 27  # an LR, 20 nops, and another LR with its SC
    POST = 28  # an AMO whose result is not used
    POST_THRICE = 29
    STORE_FENCE_WR = 30  # stores, then executes fence w, r
    STORE_FENCE_RR = 31  # stores, then executes fence r, r
    # stores a byte, loads a double word of the next place, then the double word around the byte
    PIECE_OTHER_LOAD = 32
    DUE_NOW = 33  # sets the hart's own timer (`place`) to the present time; then executes wfi
    STORE_FENCE_WW = 36  # stores, then executes fence w, w
    STORE_FENCE_TSO = 43
    ATTEMPT_STORE = 35  # an LR, 20 nops, a store to its line, and its SC
    STORE_LOAD_NEXT = 44  # stores a double word, then loads the next one of the line
    LOAD_THRICE = 45  # loads from this place and the next two
    LOAD_CHAINED = 46  # loads the next place, by an address that the first load gives
    LOAD_FENCE_LOAD = 47  # loads, executes fence rw, rw, and loads the next place
    LOAD_ACQUIRE_LOAD = 48  # loads, executes fence r, rw, and loads the next place
    LOAD_SKIP = 49  # two loads; a branch skips the second, against the prediction
    LOAD_STORE_LOAD = 50  # loads, stores to the next place, and loads from it
    LOAD_TWICE_LOAD = 51  # loads a second word of this place before the next place
    AMO_FENCE = 52
    STORE_FENCE_TWICE = 53
    LOOK_AGAIN = 37  # loads, executes 300 nops, and loads the same word
    LOOK_LONG = 42  # like LOOK_AGAIN, with 900 nops
    LOOK_LOCK_LOOK = 38  # like LOOK_AGAIN, with an AMO after the nops
    LOOK_RESERVE_LOOK = 41  # like LOOK_AGAIN, with an LR after the nops
    LOOK_ELSEWHERE = 39  # like LOOK_AGAIN, with a load in the next place after the nops
    LOOK_STORE_LOOK = 40  # like LOOK_AGAIN, with a store of the word after the nops
    AWAIT_PAUSING = 54  # like AWAIT, with a pause in each iteration
    PAUSE_TWICE = 55
    AWAIT_WRITE = 56  # an LR, and wrs.nto
    AWAIT_WRITE_SHORTLY = 57  # an LR, and wrs.sto
    AWAIT_NOTHING = 58  # an LR, its SC, and wrs.nto
    AWAIT_WRITE_DOZING = 59  # like AWAIT_WRITE; an interrupt ends the wait but is not taken
    END = 34  # at place 0, ends the run by a trap without a handler; elsewhere it only stores


class Step(NamedTuple):
    at: int  # ns
    do: Do
    place: int = 0


class Span(NamedTuple):
    begin: int
    cost: int  # time in ns without that of the instruction


Plans = Sequence[Sequence[Step]]
LEAD = 7  # ns from the planned time of a step until its access

NEAR = [-1, 0, 1]  # offsets in ns around the time at which two events coincide


def at(access: int, do: Do, place: int = 0) -> Step:
    """Makes a step whose access is at the time `access` in ns."""
    return Step(access - LEAD, do, place)


def steps(machine: Machine, plans: Plans, **options: Any) -> list[list[Span]]:
    """Runs the plans. Returns for each step of each hart its start, in ns after the start of the
    plans, and its cost.
    """
    return results(machine, plans, **options)[0]


START = 1_000_000  # time in ns at which plans start, after the start-up of all harts


def words(plans: Plans) -> dict[str, int]:
    """Returns the plans as parameters of programs/plan.c."""
    numbers = {"start": START}
    for hart, plan in enumerate(plans):
        for number, step in enumerate(plan):
            numbers[f"plan_{hart}_{number}"] = step.at << 16 | step.do << 8 | step.place
    return numbers


def results(machine: Machine, plans: Plans, **options: Any) -> tuple[list[list[Span]], list[int]]:
    """Returns the result of `steps`, and the time at which each hart took its last IPI."""
    outcome = point(machine, guest("plan"), len(plans), **words(plans), **options)
    assert not outcome["failures"]
    tables, spans = outcome["tables"], []
    for hart, plan in enumerate(plans):
        times = zip(plan, tables["began"][hart], tables["ended"][hart], strict=False)
        spans.append([Span(begin - START, end - begin - 2) for _, begin, end in times])
    return spans, [row[0] - START for row in tables["taken"]]

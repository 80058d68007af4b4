"""Runs the litmus tests of a checkout and compares the final states with those of herd.

ends(folder, states, names, rounds, jobs) -> how each test ended, by its name: "passed" if no state
was seen that herd forbids.  It prints how many allowed states were seen, how many tests showed the
state that they ask about, and why others cannot.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.foreign import litmus_files, threads_of_litmus
from tests.foreign.threads_of_litmus import Case

from uncore.errors import UserError
from uncore.execution import pool

ROUNDS = 10  # rounds of each test on each machine
CHUNK = 100  # at most this many tests in one program
PASSED = "passed"


@dataclass(frozen=True)
class Effort:
    rounds: int = ROUNDS  # rounds of each test on each machine
    more: int = 0  # additional rounds for tests that have not shown their state
    jobs: int = 1


USUAL_EFFORT = Effort()


def cases(folder: Path, states: Path, names: Sequence[str] = ()) -> tuple[list[Case], Counter[str]]:
    """Returns the cases that can be run, and the number of other cases by reason."""
    if not states.is_file():
        raise UserError(
            f"{states}: not there; write --states FILE, what herd7 printed of the tests"
        )
    states_of = litmus_files.states(states.read_text())
    cases_by_name, excluded = dict[str, Case](), Counter[str]()
    for path in sorted(folder.rglob("*.litmus")):
        try:
            test = litmus_files.read(path.read_text())
        except litmus_files.Unread as why:
            excluded[str(why)] += 1
            continue
        if (names and test.name not in names) or test.name in cases_by_name:
            continue
        keys, allowed = states_of.get(test.name, ((), frozenset()))
        case = Case(test, keys, allowed, Counter())
        if not keys:
            excluded["herd's states are not there"] += 1
        elif not case.fits:
            excluded["too many values"] += 1
        else:
            cases_by_name[test.name] = case
    return list(cases_by_name.values()), excluded


def ends(
    folder: Path,
    states: Path,
    names: Sequence[str],
    effort: Effort,
    unshown: Mapping[str, Sequence[str]],
) -> dict[str, str]:
    """Runs the tests, and returns the ending of each test by its name. `unshown` lists, by reason,
    tests whose state the machines cannot show.
    """
    tests, excluded = cases(folder, states, names)
    chunks = [(n, tests[n : n + CHUNK]) for n in range(0, len(tests), CHUNK)]
    work = [(seed, chunk, effort) for seed, chunk in chunks]
    run_cases = [case for part in pool.mapped(_ran, work, effort.jobs) for case in part]
    for why, count in excluded.most_common():
        print(f"left out: {count:5}  {why}")
    print(_report_of_states(run_cases))
    print(_report_of_goals(run_cases, unshown))
    return {case.test.name: _end(case) for case in run_cases}


def _ran(work: tuple[int, list[Case], Effort]) -> list[Case]:
    seed, chunk, effort = work
    threads_of_litmus.everywhere(chunk, effort.rounds, seed + 1)
    unshown_cases = [case for case in chunk if case.in_vain]
    if unshown_cases and effort.more:
        threads_of_litmus.everywhere(unshown_cases, effort.more, seed + 2)
    return chunk


def _end(case: Case) -> str:
    wrong = sorted(set(case.seen) - case.allowed)
    return f"forbidden: {_spelled(case, wrong)}" if wrong else PASSED


def unseen(case: Case) -> list[str]:
    return [_spelled(case, [state]) for state in sorted(case.allowed - set(case.seen))]


def _report_of_states(run_cases: Sequence[Case]) -> str:
    rounds = sum(case.seen.total() for case in run_cases)
    allowed = sum(len(case.allowed) for case in run_cases)
    missing = sum(len(unseen(case)) for case in run_cases)
    complete = sum(not unseen(case) for case in run_cases)
    return (
        f"{len(run_cases)} tests, {rounds} rounds: {allowed - missing} of {allowed} allowed states"
        f" seen, all of them in {complete} tests"
    )


def _report_of_goals(run_cases: Sequence[Case], unshown: Mapping[str, Sequence[str]]) -> str:
    showable = [case for case in run_cases if case.shows(case.allowed)]
    unshown_names = {case.test.name for case in showable if case.in_vain}
    lines = [
        f"{len(showable)} tests ask about what herd allows:"
        f" {len(showable) - len(unshown_names)} showed it"
    ]
    for why, names in unshown.items():
        lines.append(f"not shown: {len(unshown_names & {*names}):5}  {why}")
        unshown_names -= {*names}
    return "\n".join(
        [
            *lines,
            f"not shown: {len(unshown_names):5}  of others: {', '.join(sorted(unshown_names))}",
        ]
    )


def _spelled(case: Case, states: Sequence[litmus_files.State]) -> str:
    def one(state: litmus_files.State) -> Iterator[str]:
        yield from (f"{key}={value}" for key, value in zip(case.keys, state, strict=True))

    return "; ".join(" ".join(one(state)) for state in states)

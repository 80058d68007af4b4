"""Do the tests notice a change that breaks a rule?  `python -m tests.mutants [NAME or AREA...]`.

Each mutant of the list (mutant_list.py) is one change of the engine, the Python package or a
workload that breaks a rule.  Each mutant is applied to a copy of this tree, built, and run through
the tests meant for it; if none of them fails, through all ordinary tests.  If there are many
mutants of C++, one build contains them all, each behind a switch (switches.py).  A row names the
test that noticed the mutant; a table at the end counts the mutants by area.

    --meant         run only the tests meant for each mutant
    --since COMMIT  only mutants of files that have changed since
    --jobs N        number of copies that work at the same time
    --drawn N       instead of the list, N mutants drawn from the lines of the last 30 days
                    (changed_lines.py), with the tests meant for them; survivors are listed
    --seed S        seed of the draw; by default each day has its own
    --again         ignore results of earlier runs
    --table         run nothing: print by area how many were noticed when last tried, and when

tried.csv in this folder has the last result of each mutant, with its day. build/mutants/known.json
keeps the noticed ones while the mutant, its file and the test that noticed it stay as they are, so
an interrupted run can continue.  Protocol tables have mutants of their own, made by rule: `uncore
check --mutants`.

Exit status: 0 if at least 95 % of those that are not equivalent were noticed, the list gives a
reason for each of the others, and no equivalent one was noticed; otherwise 1.
"""

from __future__ import annotations

import argparse
import hashlib
import queue
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import date

import msgspec
from tests.mutants import changed_lines, tried
from tests.mutants.mutant_list import TOP, Mutant, kept
from tests.mutants.trial import (
    BROKEN,
    FOLDER,
    HANGS,
    NOTICED,
    Together,
    Tree,
    Trial,
    is_native,
)

MIN_NOTICED_SHARE = 0.95  # share of mutants, without equivalent ones
MANY_CPP_MUTANTS = 8  # from this number on, one build of all is quicker than a build of each
KNOWN = FOLDER / "known.json"


def chosen(arguments: argparse.Namespace) -> list[Mutant]:
    """Returns the mutants that the arguments name, or all."""
    everything = kept()
    unknown = set(arguments.names) - {m.name for m in everything} - {m.area for m in everything}
    if unknown:
        sys.exit(f"mutants: no mutant or area is called {', '.join(sorted(unknown))}")
    mutants = [
        m for m in everything if not arguments.names or {m.name, m.area} & set(arguments.names)
    ]
    if arguments.since:
        diff = ["git", "diff", "--name-only", arguments.since]
        changed = set(subprocess.check_output(diff, cwd=TOP, text=True).split())
        mutants = [m for m in mutants if m.file in changed]
    for mutant in mutants:
        try:
            mutant.applied((TOP / mutant.file).read_text())
        except ValueError as error:
            sys.exit(f"mutants: {error}")
    return mutants


def key(mutant: Mutant) -> str:
    """Returns a digest of the mutant and of the file that it changes."""
    text = mutant.applied((TOP / mutant.file).read_text())
    return hashlib.sha256(f"{mutant.file}\0{mutant.before}\0{text}".encode()).hexdigest()


def seal(test: str) -> str:
    """Returns a digest of the file that contains a test."""
    path = TOP / "tests" / test.partition("::")[0]
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


class Known:
    """Results of earlier runs. A result is valid while the mutant's key and the seal of the test
    that noticed it stay the same.
    """

    def __init__(self, again: bool) -> None:
        self.found: dict[str, tuple[Trial, str]] = {}
        if KNOWN.is_file() and not again:
            self.found = msgspec.json.decode(KNOWN.read_bytes(), type=dict[str, tuple[Trial, str]])

    def get(self, mutant: Mutant) -> Trial | None:
        trial, sealed = self.found.get(key(mutant), (None, ""))
        return trial if trial and sealed == seal(trial.by) else None

    def add(self, mutant: Mutant, trial: Trial) -> None:
        """Keeps a noticed mutant. A survivor is not kept, because a new test may notice it."""
        if trial.outcome == NOTICED:
            self.found[key(mutant)] = trial, seal(trial.by)
            self._keep()

    def forget(self, test: str) -> None:
        """Drops the mutants that this test, or one case of it, noticed."""
        name = test.partition("[")[0]
        self.found = {k: v for k, v in self.found.items() if v[0].by.partition("[")[0] != name}
        self._keep()

    def _keep(self) -> None:
        KNOWN.write_bytes(msgspec.json.format(msgspec.json.encode(self.found)))


def trials(mutants: Sequence[Mutant], known: Known, jobs: int, rest: bool) -> Iterator[Trial]:
    """Yields the trials in the order of the list."""
    trees: queue.Queue[Tree] = queue.Queue()
    missing = [mutant for mutant in mutants if not known.get(mutant)]
    native = [mutant for mutant in missing if is_native(mutant)]
    together = Together(native) if len(native) > MANY_CPP_MUTANTS else None
    for number in range(min(jobs, len(missing))):
        trees.put(Tree(str(number)))

    def attempt(mutant: Mutant) -> Trial:
        if trial := known.get(mutant):
            return trial
        if together and together.has(mutant):
            return together.attempt(mutant, rest and not mutant.argued)
        tree = trees.get()
        try:
            return tree.attempt(mutant, rest and not mutant.argued)
        finally:
            trees.put(tree)

    with ThreadPoolExecutor(jobs) as pool:
        yield from pool.map(attempt, mutants)


def fails_anyway(trials_: Sequence[Trial]) -> str:
    """Returns a test that noticed a mutant but also fails without any mutant, so that it proves
    nothing; "" if there is none.
    """
    tests = sorted({trial.by.partition("[")[0] for trial in trials_ if trial.outcome == NOTICED})
    return Tree("0").test(tests).by if tests else ""


def report(pairs: Sequence[tuple[Mutant, Trial]], argued: bool = True) -> bool:
    """Prints the table by area. Returns True if enough mutants were noticed and each survivor has a
    reason.
    """
    print(f"\n{'area':<12} {'mutants':>8} {'equivalent':>11} {'noticed':>8} {'not':>5}")
    areas = {mutant.area: None for mutant, _ in pairs}
    for area in [*areas, "all"]:
        here = [(m, t) for m, t in pairs if area in (m.area, "all")]
        real = [t.outcome == NOTICED for m, t in here if not m.equivalent]
        same = len(here) - len(real)
        print(f"{area:<12} {len(here):>8} {same:>11} {sum(real):>8} {len(real) - sum(real):>5}")
    print(f"noticed {sum(real)} of {len(real)} that are not equivalent")
    for mutant, _ in wrong(pairs):
        print(f"to be looked at: {mutant.name}")
    return sum(real) >= MIN_NOTICED_SHARE * len(real) and not (argued and wrong(pairs))


def sound(pairs: Sequence[tuple[Mutant, Trial]]) -> list[tuple[Mutant, Trial]]:
    """Returns the drawn mutants that compile; tests that hang count as having noticed."""
    return [
        (
            mutant,
            msgspec.structs.replace(trial, outcome=NOTICED) if trial.outcome == HANGS else trial,
        )
        for mutant, trial in pairs
        if trial.outcome != BROKEN
    ]


def wrong(pairs: Sequence[tuple[Mutant, Trial]]) -> list[tuple[Mutant, Trial]]:
    """Returns survivors without a reason, and noticed mutants that have one."""
    return [(m, t) for m, t in pairs if m.argued == (t.outcome == NOTICED)]


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="tests.mutants")
    parser.add_argument("names", nargs="*", metavar="NAME or AREA")
    parser.add_argument("--meant", action="store_true")
    parser.add_argument("--since", metavar="COMMIT")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--drawn", type=int, default=0, metavar="N")
    parser.add_argument("--seed", type=int, default=date.today().toordinal())
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--table", action="store_true")
    arguments = parser.parse_args(words)
    if arguments.table:
        print(*tried.table(chosen(arguments)), sep="\n")
        return 0
    FOLDER.mkdir(parents=True, exist_ok=True)
    drawing = arguments.drawn > 0
    found = changed_lines.drawn(arguments.drawn, arguments.seed) if drawing else chosen(arguments)
    known = Known(arguments.again)
    now = {mutant.name for mutant in found if not known.get(mutant)}
    pairs = []
    for mutant, trial in zip(
        found, trials(found, known, arguments.jobs, not (arguments.meant or drawing)), strict=True
    ):
        known.add(mutant, trial)
        if mutant.name in now and not drawing:
            tried.note(mutant.name, trial.outcome, trial.by)
        pairs.append((mutant, trial))
        print(f"{mutant.area:<12} {mutant.name:<44} {trial.outcome:<12} {trial.seconds:6.1f} s"
              f"  {trial.by or mutant.equivalent or mutant.unnoticed}", flush=True)  # fmt: skip
    if failing := fails_anyway([trial for _, trial in pairs]):
        known.forget(failing)
        sys.exit(f"mutants: {failing} fails in the unbroken tree too: it has noticed nothing")
    return 0 if report(sound(pairs) if drawing else pairs, not drawing) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

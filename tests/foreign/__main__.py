"""Runs test suites of other projects on this simulator: `python -m tests.foreign SUITE FOLDER
[NAME...]`.

    riscv-tests   of riscv-software-src: FOLDER is its isa/ after the build
    arch-test     of riscv-non-isa: FOLDER has its programs, built for a target with `tohost`, and
                  the reference signatures next to them or in references/
    ltp           Open POSIX of the Linux Test Project: FOLDER is its conformance/interfaces, built
                  for riscv64 and linked statically
    libc-test     of musl: FOLDER is its src/, built in the same way
    litmus        of the RISC-V memory model: FOLDER is a checkout; herd's states of its tests are
                  in model-results/herd.logs, or in --states FILE, the output of herd7

The command prints how many tests passed, failed for a known reason, and failed.  SUITE.toml in this
folder records how many tests of a suite pass, and has a line for each test that does not.  The exit
status is 0 if all verdicts equal the recorded ones, otherwise 1.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tests.foreign import bare, known, linux, litmus_suite
from tests.tools import crashing

PROGRAM_TIMEOUT_S = 600
RUNS: dict[str, Callable[[Path], str]] = {"bare": bare.ended, "linux": linux.ended}


@dataclass(frozen=True)
class Chosen:
    folder: Path
    names: tuple[str, ...] = ()
    states: Path | None = None
    effort: litmus_suite.Effort = litmus_suite.USUAL_EFFORT


def programs(suite: known.Suite, chosen: Chosen) -> dict[str, Path]:
    paths_by_name = {
        str(path.relative_to(chosen.folder)).removesuffix(suite.suffix): path
        for pattern in suite.programs
        for path in sorted(chosen.folder.glob(pattern))
        if path.is_file() and path.open("rb").read(4) == b"\x7fELF"
    }
    return {
        name: path
        for name, path in paths_by_name.items()
        if not chosen.names or name in chosen.names
    }


def ends(suite: known.Suite, chosen: Chosen) -> dict[str, str]:
    """Runs the suite, and returns the ending of each test by its name."""
    if suite.kind == "litmus":
        states = chosen.states or chosen.folder / "model-results" / "herd.logs"
        return litmus_suite.ends(chosen.folder, states, chosen.names, chosen.effort, suite.unshown)
    items = list(programs(suite, chosen).items())
    jobs = chosen.effort.jobs
    shards = [items[n::jobs] for n in range(jobs)]
    with ThreadPoolExecutor(jobs) as threads:
        done = threads.map(lambda shard: _ends_of_all(RUNS[suite.kind], shard), shards)
        return {name: end for part in done for name, end in part}


def _ends_of_all(
    work: Callable[[Path], str], items: list[tuple[str, Path]]
) -> list[tuple[str, str]]:
    """Runs every test. If a test crashes the simulator, the others still run."""
    out: list[tuple[str, str]] = []
    while len(out) < len(items):
        remaining = items[len(out) :]
        out += [
            (item[0], end)
            for item, end in crashing.run_in_child(
                lambda i: work(i[1]), remaining, PROGRAM_TIMEOUT_S
            )
        ]
    return out


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="tests.foreign")
    parser.add_argument("suite", choices=known.names())
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--states", type=Path, help="of the litmus tests: what herd7 printed")
    parser.add_argument("--rounds", type=int, default=litmus_suite.ROUNDS, help="on each machine")
    parser.add_argument(
        "--more", type=int, default=0, help="rounds of litmus tests that showed too little"
    )
    chosen = parser.parse_intermixed_args(arguments)
    suite = known.load(chosen.suite)
    effort = litmus_suite.Effort(chosen.rounds, chosen.more, chosen.jobs)
    ended = ends(suite, Chosen(chosen.folder, tuple(chosen.names), chosen.states, effort))
    if not ended:
        parser.error(
            f"{chosen.folder}: no test of {chosen.suite}; name where its programs are built"
        )
    wrong = known.differences(suite, ended, whole=not chosen.names)
    for line in wrong:
        print(line)
    print(f"{chosen.suite}: {known.counted(suite, ended)}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

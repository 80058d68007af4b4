"""The recorded verdicts on test suites of other projects.

The interface:

    load(name) -> Suite
    differences(suite, ends, whole)    a line for each verdict that is not the one on record
    counted(suite, ends)               `171 passed, 3 failed with a known reason, 0 failed`
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import msgspec

SUITES_FOLDER = Path(__file__).parent
PASSED = "passed"


class Suite(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    kind: Literal["bare", "linux", "litmus"]
    passed: int
    programs: tuple[str, ...] = ()  # patterns for the paths of the programs
    suffix: str = ""  # ending of the programs' files, which is no part of their names
    # explanation of each reason for which tests do not pass, by the name of the reason
    reasons: dict[str, str] = {}
    fails: dict[str, tuple[str, str]] = {}  # ending and name of the reason, by test
    unshown: dict[
        str, tuple[str, ...]
    ] = {}  # litmus tests whose final state no run shows, by reason


def names() -> list[str]:
    return sorted(path.stem for path in SUITES_FOLDER.glob("*.toml"))


def load(name: str) -> Suite:
    path = SUITES_FOLDER / f"{name}.toml"
    suite = msgspec.toml.decode(path.read_bytes(), type=Suite)
    if unknown := {reason for _, reason in suite.fails.values()} - set(suite.reasons):
        raise ValueError(f"{path}: no reason is called {', '.join(sorted(unknown))}")
    return suite


def differences(suite: Suite, ends: Mapping[str, str], whole: bool) -> list[str]:
    """Compares endings with the record. With `whole`, all tests of the suite were run."""
    out = []
    for name, end in sorted(ends.items()):
        recorded = suite.fails[name][0] if name in suite.fails else PASSED
        if end != recorded:
            out.append(f"{name}: {end}; on record: {recorded}")
    if whole:
        out += [f"{name}: not there" for name in sorted(suite.fails.keys() - ends.keys())]
        passed_count = len(ends.keys() - suite.fails.keys())
        if passed_count != suite.passed:
            out.append(f"{passed_count} tests that should pass; on record: {suite.passed}")
    return out


def counted(suite: Suite, ends: Mapping[str, str]) -> str:
    passed = [name for name, end in ends.items() if end == PASSED]
    known_failures = [name for name, end in ends.items() if end != PASSED and name in suite.fails]
    known_failures = [name for name in known_failures if suite.fails[name][0] == ends[name]]
    failed = len(ends) - len(passed) - len(known_failures)
    return (
        f"{len(passed)} passed, {len(known_failures)} failed with a known reason, {failed} failed"
    )

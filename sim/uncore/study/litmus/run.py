"""Runs the litmus tests on many machines and compares outcomes with those that the axioms allow.

    observe(tests, setting, rounds, seed, order) -> {test: {outcome: times}}
    main(...)                     prints the table of `uncore litmus`, and returns the exit status

Harts with total store order must not show outcomes that Ztso forbids, even if RVWMO allows them.
Weakly ordered harts (rule H8 of the model) must not show outcomes that RVWMO forbids. Interleavings
vary with the seed (which determines thread roles, lines, initial copies, start times, and random
choices of weakly ordered harts) and with the setting (machine, protocol, placement).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from uncore.drawing.progress import progress
from uncore.drawing.table import Column, emit, say
from uncore.engine import native
from uncore.errors import GuestError, UserError, suggestion
from uncore.execution import pool
from uncore.execution.request import make_job
from uncore.study.litmus import axioms, guest
from uncore.study.litmus import classics as shapes
from uncore.study.litmus.events import Litmus, Outcome, spelled
from uncore.topology import load

TEST_THREADS = guest.MAX_TEST_THREADS


@dataclass(frozen=True)
class LitmusSetting:
    """A machine, protocol and options with which tests are run."""

    machine: str
    protocol: str
    overrides: tuple[str, ...] = ()
    policies: Mapping[str, Any] = field(default_factory=dict)


LITMUS_SETTINGS = (
    LitmusSetting("bus:4", "msi"),
    LitmusSetting("bus:4", "mesi", ("core.hold=0ns",)),
    LitmusSetting("ring:8", "mesif", policies={"placement": "scatter"}),
    LitmusSetting("mesh:4x4", "moesi", policies={"placement": "scatter"}),
    LitmusSetting("ccx:2x2", "mesi", policies={"placement": "scatter"}),
    LitmusSetting("ccx:2x2", "moesi", ("core.l1=512B 2-way 4cy", "core.l2=1KiB 2-way 14cy")),
    LitmusSetting("tr1950x", "moesi", policies={"placement": "siblings"}),
    LitmusSetting("epyc7601x2", "moesi", policies={"placement": "scatter", "home": "first-touch"}),
    LitmusSetting("x8275clx2", "mesif", policies={"placement": "0,1,48,49"}),
    LitmusSetting("x5650x2", "mesif", ("core.store_buffer=2",), {"placement": "scatter"}),
    LitmusSetting("ring:8", "mesi", ("core.atomics=far",), {"placement": "scatter"}),
    LitmusSetting("x8275clx2", "mesif", ("core.atomics=far",), {"placement": "siblings"}),
    LitmusSetting("mesh:4x4", "moesi", ("core.atomics=far-unless-owned",)),
)

Order = Literal["tso", "weak"]
# The threads of a test start within this time, which is as long as a store may be delayed.
START_WINDOWS = {"tso": "120ns", "weak": "800ns"}

Seen = dict[Litmus, Counter[Outcome]]


def observe(
    tests: Sequence[Litmus],
    setting: LitmusSetting,
    rounds: int,
    seed: int,
    order: Order = "tso",
    **limits: Any,
) -> Seen:
    """Runs each test `rounds` times on one machine and counts the outcomes. `limits` are options of
    the engine.
    """
    overrides = (*setting.overrides, f"core.order={order}")
    machine = replace(load(setting.machine, overrides), protocol=setting.protocol)
    job = make_job(
        machine,
        guest.program(tests),
        (TEST_THREADS,),
        parameters={"rounds": rounds, "seed": seed, "window": START_WINDOWS[order]},
        seeds=(seed,) if order == "weak" else (),
        **setting.policies,
    )
    point = native.run(job, frozenset(), **limits)
    if point["failures"]:
        raise GuestError(f"litmus tests on {setting.machine}: {point['failures'][0]}")
    return {
        test: Counter(
            {
                guest.decoded(test, code - 1): times
                for code, times in zip(row[::2], row[1::2], strict=True)
                if code
            }
        )
        for test, row in zip(tests, point["tables"]["seen"], strict=True)
    }


def forbidden_outcomes(test: Litmus, seen: Counter[Outcome], order: Order = "tso") -> list[Outcome]:
    """Returns the outcomes in `seen` that the axioms forbid."""
    return sorted(set(seen) - axioms.cached_outcomes(test, order == "tso"))


def main(
    names: Sequence[str], *, rounds: int, seed: int, order: Order, cores: int, json: bool
) -> int:
    tests = _chosen_tests(names)
    guest.program(tests)  # compiles the program once, before the workers need it
    total: Seen = {test: Counter() for test in tests}
    with progress(len(LITMUS_SETTINGS), "litmus tests", "machines") as advance:
        for seen in _observations(tests, rounds, seed, order, cores):
            for test, outcomes in seen.items():
                total[test] += outcomes
            advance(1)
    rows = [_row(test, seen, order) for test, seen in total.items()]
    columns = [
        Column("test", "test", left=True),
        *(Column(key, key) for key in ("rvwmo", "tso", "seen", "rounds")),
        Column("allowed, not seen", lambda row: "; ".join(row["unseen"]) or "-", left=True),
        Column("forbidden, seen", lambda row: "; ".join(row["forbidden"]) or "-", left=True),
    ]
    emit(rows, json, columns, "outcomes allowed by the axioms, and seen")
    violations = sum(len(row["forbidden"]) for row in rows)
    if not json:
        say(
            f"{order}: {len(tests)} tests, {sum(row['rounds'] for row in rows)} rounds on"
            f" {len(LITMUS_SETTINGS)} machines from seed {seed}: {violations} forbidden outcomes"
        )
    return 1 if violations else 0


def _row(test: Litmus, seen: Counter[Outcome], order: Order) -> dict[str, Any]:
    allowed = axioms.cached_outcomes(test, order == "tso")
    return {
        "test": test.name,
        "rvwmo": len(axioms.cached_outcomes(test, False)),
        "tso": len(axioms.cached_outcomes(test, True)),
        "seen": len(seen),
        "rounds": seen.total(),
        "unseen": [spelled(test, outcome) for outcome in sorted(allowed - set(seen))],
        "forbidden": [spelled(test, outcome) for outcome in forbidden_outcomes(test, seen, order)],
    }


def _chosen_tests(names: Sequence[str]) -> list[Litmus]:
    """Returns the tests of the named shapes; all tests if there are no names."""
    for name in names:
        if name not in shapes.SHAPES:
            raise UserError(
                f"no litmus shape is called '{name}': there are {', '.join(shapes.SHAPES)}."
                f"{suggestion(name, shapes.SHAPES)}"
            )
    return [test for test in shapes.tests() if not names or test.shape in names]


def _observations(
    tests: Sequence[Litmus], rounds: int, seed: int, order: Order, cores: int
) -> Iterator[Seen]:
    def observe_on(numbered: tuple[int, LitmusSetting]) -> Seen:
        number, setting = numbered
        return observe(tests, setting, rounds, seed + number, order)

    yield from pool.mapped(observe_on, list(enumerate(LITMUS_SETTINGS)), cores)

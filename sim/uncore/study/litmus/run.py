"""Runs the litmus tests on many machines and holds what was seen against the axioms.

    observe(tests, setting, rounds, seed, order) -> {test: {outcome: times}}
    main(...)                                what `uncore litmus` prints; the exit status

Harts in total store order must show nothing that Ztso forbids, also where RVWMO would allow it;
weakly ordered ones (rule H8 of the model) nothing that RVWMO forbids.  Interleavings differ by the
seed (who plays what, which lines, who has copies, when each thread starts, and what weakly ordered
harts draw) and by the setting (machine, protocol, placement).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from uncore.drawing.progress import progress
from uncore.drawing.table import Column, emit, say
from uncore.engine import native
from uncore.errors import GuestError, UserError, nearest
from uncore.execution import pool
from uncore.execution.request import make_job
from uncore.study.litmus import axioms, guest
from uncore.study.litmus import classics as shapes
from uncore.study.litmus.events import Litmus, Outcome, spelled
from uncore.topology import load

THREADS = guest.MOST_THREADS


@dataclass(frozen=True)
class LitmusSetting:
    """The machine and the options that tests run with."""

    machine: str
    protocol: str
    overrides: tuple[str, ...] = ()
    policies: Mapping[str, Any] = field(default_factory=dict)


SETTINGS = (
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
WINDOW = {"tso": "120ns", "weak": "800ns"}  # that threads start apart: as long as a store may stay

Seen = dict[Litmus, Counter[Outcome]]


def observe(
    tests: Sequence[Litmus],
    setting: LitmusSetting,
    rounds: int,
    seed: int,
    order: Order = "tso",
    **limits: Any,
) -> Seen:
    """Each test `rounds` times on one machine; `limits` are the native engine's."""
    overrides = (*setting.overrides, f"core.order={order}")
    machine = replace(load(setting.machine, overrides), protocol=setting.protocol)
    job = make_job(
        machine,
        guest.program(tests),
        (THREADS,),
        parameters={"rounds": rounds, "seed": seed, "window": WINDOW[order]},
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


def forbidden(test: Litmus, seen: Counter[Outcome], order: Order = "tso") -> list[Outcome]:
    """Outcomes that were seen and are forbidden."""
    return sorted(set(seen) - axioms.cached(test, order == "tso"))


def main(
    names: Sequence[str], *, rounds: int, seed: int, order: Order, cores: int, json: bool
) -> int:
    tests = _chosen(names)
    guest.program(tests)  # once, before the workers want it
    total: Seen = {test: Counter() for test in tests}
    with progress(len(SETTINGS), "litmus tests", "machines") as advance:
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
            f" {len(SETTINGS)} machines from seed {seed}: {violations} forbidden outcomes"
        )
    return 1 if violations else 0


def _row(test: Litmus, seen: Counter[Outcome], order: Order) -> dict[str, Any]:
    allowed = axioms.cached(test, order == "tso")
    return {
        "test": test.name,
        "rvwmo": len(axioms.cached(test, False)),
        "tso": len(axioms.cached(test, True)),
        "seen": len(seen),
        "rounds": seen.total(),
        "unseen": [spelled(test, outcome) for outcome in sorted(allowed - set(seen))],
        "forbidden": [spelled(test, outcome) for outcome in forbidden(test, seen, order)],
    }


def _chosen(names: Sequence[str]) -> list[Litmus]:
    """Shapes by name; none: all of them."""
    for name in names:
        if name not in shapes.SHAPES:
            raise UserError(
                f"no litmus shape is called '{name}': there are {', '.join(shapes.SHAPES)}."
                f"{nearest(name, shapes.SHAPES)}"
            )
    return [test for test in shapes.tests() if not names or test.shape in names]


def _observations(
    tests: Sequence[Litmus], rounds: int, seed: int, order: Order, cores: int
) -> Iterator[Seen]:
    def on(machine: tuple[int, LitmusSetting]) -> Seen:
        number, setting = machine
        return observe(tests, setting, rounds, seed + number, order)

    yield from pool.mapped(on, list(enumerate(SETTINGS)), cores)

"""The list of mutants: TOML files, one for each area.

    all_mutants() -> [Mutant, ...]      in the order of the files and of their entries

    tests = ["engine/test_log.py"]           tests of mutants that name none, as pytest takes them

    [[mutant]]
    name = "eviction-keeps-reservation"
    file = "sim/native/core/caches.cc"       relative to the top of the tree
    before = "lose(victim.number);"          text that occurs once in the file
    after = ""                               text that replaces it
    breaks = "C7: ..."                       the rule, or the promise of a report
    tests = ["engine/test_rules_of_cores.py"]
    programs = ["lock/mcs"]                  workloads that include the file, to be built and run
    equivalent = "why no test can detect it"
    unnoticed = "why no test detects it, though one could"

Invariant, checked by a test: each `before` occurs exactly once, so a change of the sources may
require a change of the list.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

HERE = Path(__file__).parent
TOP = HERE.parents[1]


TEST_OF_SHIPPED_WORKLOADS = (
    "guest/test_checks_can_fail.py::test_intact_workload_passes_where_the_broken_workload_fails"
)


class Mutant(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One change of one file that breaks a rule."""

    name: str
    file: str
    before: str
    after: str
    breaks: str
    tests: list[str] = []
    programs: list[str] = []
    equivalent: str = ""
    unnoticed: str = ""
    area: str = ""

    @property
    def argued(self) -> bool:
        """Returns True if the mutant may survive, because the list gives a reason."""
        return bool(self.equivalent or self.unnoticed)

    def applied(self, text: str) -> str:
        """Returns the file's text with the change. Raises ValueError unless `before` occurs exactly
        once.
        """
        times = text.count(self.before)
        if times != 1:
            raise ValueError(
                f"mutant {self.name}: in {self.file} its `before` occurs {times} times, not once:"
                f"\n{self.before}\nwrite what stands there now, or take the mutant off the list"
            )
        return text.replace(self.before, self.after)


class Area(msgspec.Struct, forbid_unknown_fields=True):
    """The mutants of one file of the list."""

    mutant: list[Mutant]
    tests: list[str] = []


def all_mutants() -> list[Mutant]:
    mutants = []
    for path in sorted(HERE.glob("*.toml")):
        area = msgspec.toml.decode(path.read_bytes(), type=Area)
        for mutant in area.mutant:
            runs = [
                f"{TEST_OF_SHIPPED_WORKLOADS}[{name}-{harts}]"
                for name in mutant.programs
                for harts in (2, 4, 8)
            ]
            tests = runs + mutant.tests or area.tests
            mutants.append(msgspec.structs.replace(mutant, area=path.stem, tests=tests))
    return mutants

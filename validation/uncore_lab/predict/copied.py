"""Classes whose median is copied from a baseline, because lending numbers predicts it no better.

    copied(name, machine, classes) -> {label: Copy}

copied.toml lists these kinds of classes for two situations.  In `machine`, other machines of the
same generation of cores were measured; in `family`, none was.  For each kind the file names the
null model that scored best in that situation, and its typical error.  A test compares it with the
results on file.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import msgspec

from uncore.topology.lineage import lineage
from uncore.topology.machine import Machine
from uncore_lab.figures.hardware import DistanceClass, well_measured
from uncore_lab.predict.mixture import Mixture, log_normal
from uncore_lab.predict.nulls import guesses, kind, kind_without_side

# names of the two situations: only the machine is unmeasured, or its whole family is
MACHINE, FAMILY = "machine", "family"
COPIED = Path(__file__).with_name("copied.toml")


class Rule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    null: str
    deviation: float  # standard deviation of ln(measured / copied number)


@dataclass(frozen=True)
class Copy:
    belief: Mixture
    machines: str  # machines whose number is copied


def copied(name: str, machine: Machine, classes: Mapping[str, DistanceClass]) -> dict[str, Copy]:
    copies = {}
    for label, one_class in classes.items():
        of_kind = kind(machine, one_class)
        rule = rules().get(f"{_situation(name)} {kind_without_side(of_kind)}")
        guess = guesses(name, of_kind).get(rule.null) if rule else None
        if rule and guess:
            copies[label] = Copy(log_normal(guess.ns, rule.deviation), ", ".join(guess.machines))
    return copies


def _situation(name: str) -> str:
    core = lineage(name).get("core", ())
    other_cores = (
        lineage(other_name).get("core")
        for other_name in well_measured()
        if other_name != Path(name).stem
    )
    side = "x86" if core[:1] == ("x86",) else "others"
    return f"{side} {MACHINE if core in other_cores else FAMILY}"


@cache
def rules() -> dict[str, Rule]:
    """Reads copied.toml. A key such as "x86 family smt" names the group of machines, the situation,
    and the kind of class.
    """
    return msgspec.convert(tomllib.loads(COPIED.read_text()), dict[str, Rule])

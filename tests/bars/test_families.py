"""Does `families.toml` name the numbers that were chosen for a family, and are they
lent correctly?
"""

from __future__ import annotations

from math import exp, inf, log

import pytest

from uncore import topology
from uncore_lab.fitting.numbers import clocks, free_numbers_of
from uncore_lab.validate import families, hosts, lockhammer
from uncore_lab.validate.families import MachineFamily, Trial

FAMILIES = families.families()


@pytest.mark.parametrize("name", FAMILIES)
def test_chosen_numbers_are_in_the_familys_file_and_their_source_says_so(name: str) -> None:
    family = FAMILIES[name]
    for machine in (*family.machines, *family.locks):
        numbers = {number.key: number for number in topology.load(machine).numbers}
        for key in family.numbers:
            assert "/families/" in numbers[key].file, (machine, key)
            assert numbers[key].source.startswith("chosen by "), key


def test_every_host_with_lock_figures_is_in_exactly_one_family() -> None:
    hosts_of = [host for family in FAMILIES.values() for host in family.locks]
    assert sorted(hosts_of) == lockhammer.machines_with_figures()


def test_number_is_lent_as_the_mean_of_other_families_in_the_borrowers_unit() -> None:
    """The file of Zen 1 states `hold` in cycles, those of both Intel families in nanoseconds."""
    zen, *intel = (FAMILIES[name] for name in ("zen1", "skylake-mesh", "broadwell"))
    one, other = (
        free_numbers_of(family.machines[0], ["core.hold"])["core.hold"].value
        / clocks(family.machines[0])["core"]
        for family in intel
    )
    held = float(hosts.lent(zen, intel)["core.hold"].removesuffix("cy"))
    assert held == pytest.approx((one * other) ** 0.5, rel=1e-3)
    (repeat,) = (number for number in intel[0].numbers if number.endswith("repeat"))
    alone = hosts.lent(intel[0], [zen])
    assert alone[repeat] == families.present_values(intel[0])[repeat]  # Zen 1 states no such number
    assert alone["core.hold"] != families.present_values(intel[0])["core.hold"]


def test_trial_whose_load_error_exceeds_its_bar_is_rejected() -> None:
    off = {"handoffs": 0.01, "loads": 0.1, "locks": 0.2}
    allowed = Trial({}, {}, off, [log(1.29), log(0.8)], ())
    assert allowed.sum == pytest.approx(0.01 + 0.1 + 3 * 0.2)
    assert Trial({}, {}, off, [log(1.31)], ()).sum == inf
    assert exp(families.MAX_LOAD_ERROR_LOG) == pytest.approx(1.3)


def test_fitted_paths_become_shorter_if_hold_is_longer() -> None:
    """If a core keeps a line longer, the paths of a handoff must be shorter, because its time is
    measured.
    """
    family = MachineFamily(["core.hold"], ["tr1950x"], [], [])
    short, long = (families.evaluate(family, {"core.hold": hold}) for hold in ("20cy", "34cy"))
    ways = [
        float(trial.determined["ccx.join.inject"].removesuffix("cy")) for trial in (short, long)
    ]
    assert ways[0] > 1.05 * ways[1]
    assert short.determined["ccx.join.eject"] == short.determined["ccx.join.inject"]
    assert max(short.kind_errors["handoffs"], long.kind_errors["handoffs"]) < 0.03

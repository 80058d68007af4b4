"""Does a machine with uncertain numbers run with values drawn from their intervals?"""

from __future__ import annotations

import json
from statistics import NormalDist

import pytest

from uncore import topology
from uncore.errors import UserError
from uncore.execution.request import make_job
from uncore.execution.uncertainty import numbers_with_intervals, samples, span

FILE = """
extends = "ring"
name = "guessed"
tree = "core:8 thread:1"
[core]
atomic = { value = "20cy", interval = ["10cy", "40cy"], source = "predicted: a" }
hold = { value = "40cy", interval = ["20cy", "80cy"], source = "predicted: b" }
store_buffer = { value = 40, interval = [20, 80], source = "predicted: c" }
[system.join]
inject = { value = "4ns", interval = ["2ns", "8ns"], source = "predicted: d" }
eject = { value = "4ns", interval = ["2ns", "8ns"], source = "predicted: d" }
"""


@pytest.fixture
def uncertain_machine(tmp_path):
    file = tmp_path / "guessed.toml"
    file.write_text(FILE)
    return str(file)


def drawn(uncertain_machine, count, **options) -> list[dict[str, str]]:
    job = make_job(uncertain_machine, "lock/mcs", 2, seeds=(5, 6), **options)
    jobs = samples(uncertain_machine, job, count)
    assert [run.seeds for run in jobs] == [(5 + n % 2,) for n in range(count)]
    return [{number.key: number.text for number in sample.machine.numbers} for sample in jobs]


def test_one_value_is_drawn_from_each_equally_likely_part_of_a_distribution(uncertain_machine):
    machines = drawn(uncertain_machine, 10)
    cycles = sorted(float(machine["core.atomic"].removesuffix("cy")) for machine in machines)
    inside = [10 <= value <= 40 for value in cycles]
    assert inside == [False] + [True] * 8 + [False]
    assert cycles[4] < 20 < cycles[5]
    normal = NormalDist()  # The least of ten samples is the median of the lowest tenth.
    assert cycles[0] == pytest.approx(20 * 2 ** (-normal.inv_cdf(0.95) / normal.inv_cdf(0.9)))


def test_drawn_numbers_are_independent_unless_they_share_their_source(uncertain_machine):
    machines = drawn(uncertain_machine, 10)
    assert all(
        machine["system.join.inject"] == machine["system.join.eject"] for machine in machines
    )
    differences = [
        float(machine["core.hold"][:-2]) / 2 - float(machine["core.atomic"][:-2])
        for machine in machines
    ]
    assert any(abs(difference) > 1 for difference in differences)


def test_a_drawn_count_stays_a_whole_number(uncertain_machine):
    assert all(machine["core.store_buffer"].isdecimal() for machine in drawn(uncertain_machine, 10))


def test_overridden_number_is_not_drawn(uncertain_machine):
    machines = drawn(uncertain_machine, 4, overrides={"core.atomic": "30cy"})
    assert {machine["core.atomic"] for machine in machines} == {"30cy"}


def test_shipped_machine_has_no_number_with_an_interval():
    assert numbers_with_intervals(topology.load("epyc7601x2")) == []


def test_run_prints_the_interval_of_throughput(uncore, uncertain_machine):
    arguments = (
        "run",
        uncertain_machine,
        "lock/mcs",
        "--threads",
        "2,8",
        "--set",
        "ops=20",
        "--repeat",
        "1",
    )
    rows = json.loads(uncore(*arguments, "--json").out)
    for row in rows:
        assert row["samples"] == 10
        assert row["throughput_low"] < row["throughput"] < row["throughput_high"]
    without_samples = json.loads(uncore(*arguments, "--json", "--samples", "0").out)
    assert [row["result_hash"] for row in without_samples] == [row["result_hash"] for row in rows]
    assert all("samples" not in row for row in without_samples)
    table = uncore(*arguments).out
    assert "4 of 5 machines" in table and "10 machines were drawn" in table


def test_interval_of_samples_leaves_out_a_tenth_at_either_end():
    assert span(range(10)) == (1, 8)
    assert span([3]) == (3, 3)


@pytest.mark.parametrize(
    "ends", ['["40cy", "10cy"]', '["0cy", "4cy"]', '["4cy", "4ns"]', '["x", "y"]']
)
def test_invalid_interval_is_reported_with_its_line(uncertain_machine, tmp_path, ends):
    (tmp_path / "guessed.toml").write_text(FILE.replace('["10cy", "40cy"]', ends))
    with pytest.raises(UserError, match=r"guessed.toml:6: 'core.atomic"):
        drawn(uncertain_machine, 2)

"""Do files and scripts of earlier versions still have the same meaning?

A folder for each version contains one file of each kind that users keep: a machine, a plan of
`uncore explore`, a result, and a list of the names, keywords and columns that scripts use.  A
release adds a folder and does not change the others.
"""

from __future__ import annotations

import inspect
import json
from pathlib import Path

import pytest

import uncore
from uncore import topology
from uncore.execution.request import find_program
from uncore.job import Job
from uncore.result import canonical
from uncore.study.explore.plan import ExplorationPlan

VERSIONS = sorted(path for path in Path(__file__).parent.iterdir() if path.name[0].isdigit())
STATED = {
    "core.clock": "2GHz",
    "core.hold": "5cy",
    "core.l1.size": "32KiB",
    "system.join.latency": "50ns",
    "system.resolver.service": "6ns",
    "memory.latency": "80ns",
}

pytestmark = pytest.mark.parametrize("version", VERSIONS, ids=lambda path: path.name)


def test_machine_file_loads_with_the_numbers_that_it_states(version: Path) -> None:
    machine = topology.load(str(version / "machine.toml"))
    assert (machine.cores, machine.harts, len(machine.memories)) == (16, 32, 2)
    assert STATED.items() <= {number.key: number.text for number in machine.numbers}.items()


def test_result_keeps_its_hash_and_gives_the_job_that_made_it(version: Path) -> None:
    """A field that was added later has its default value, which documents omit."""
    result = uncore.load(version / "result.json")
    assert result.computed_hash() == result.result_hash
    assert [point["threads"] for point in result.to_rows()] == [1, 1, 2, 2]
    program = find_program(result.job["program"]["name"])
    job = Job.of(result.job, program)
    recorded = {"program": result.job["program"]}
    assert canonical(job.document() | recorded) == canonical(result.job)


def test_exploration_plan_of_a_released_version_is_read_with_its_choices(version: Path) -> None:
    plan = ExplorationPlan.read(version / "plan.toml")
    assert [choice.name for choice in plan.choices] == ["cores", "home", "system.join.latency"]


def test_names_keywords_and_columns_that_released_scripts_use_exist(version: Path) -> None:
    used = json.loads((version / "scripts.json").read_text())
    for name, keywords in used["keywords"].items():
        assert name in uncore.__all__
        assert set(keywords) <= set(inspect.signature(getattr(uncore, name)).parameters), name
    assert set(used["columns"]) <= set(uncore.load(version / "result.json").to_rows()[0])

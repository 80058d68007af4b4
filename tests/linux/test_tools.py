"""Do the commands that analyse runs accept Linux programs without marks?"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.conftest import Command, uncore  # noqa: F401 (a fixture)
from tests.linux.programs import job, program

from uncore.execution.execute import execute

ARGUMENTS = ("--threads", "4", "--repeat", "1", "--", "locked", "4")


@pytest.fixture
def elf(tmp_path: Path) -> Iterator[str]:
    path = tmp_path / "calls.elf"
    path.write_bytes(program().data)
    yield str(path)


def test_lines_of_an_unmarked_program_cover_its_whole_run(
    uncore: Command,  # noqa: F811
    elf: str,
) -> None:
    outcome = uncore("run", "ccx:2x4", elf, "--output", "r.json", *ARGUMENTS)
    assert outcome.status == 0, outcome.err
    rows = json.loads(uncore("lines", "r.json", "--json").out)
    assert any("lock" in json.dumps(row) for row in rows)
    assert "one operation every 0 ps" not in uncore("lines", "r.json").out


def test_command_of_whatif_repeats_the_arguments_of_the_program(uncore: Command, elf: str) -> None:  # noqa: F811
    outcome = uncore("whatif", "ccx:2x4", elf, "--only", "line", "--json", *ARGUMENTS)
    assert outcome.status == 0, outcome.err
    rows = json.loads(outcome.out)
    assert rows and "--argument=locked --argument=4" in rows[0]["run"]
    (repeated,) = json.loads(uncore(*shlex.split(rows[0]["run"])[1:], "--json").out)
    assert repeated["throughput"] == rows[0]["throughput"]


def test_compare_passes_the_arguments_to_both_runs(uncore: Command, elf: str) -> None:  # noqa: F811
    command = ("compare", "ccx:2x4", "mesh:4x2", elf, "--threads", "1", "--repeat", "1", "--")
    assert uncore(*command, "status", "0").status == 0
    assert uncore(*command, "status", "3").status == 1


def test_strace_is_printed_if_the_program_fails(uncore: Command, elf: str) -> None:  # noqa: F811
    outcome = uncore("run", "bus:2", elf, "--strace", "--repeat", "1", "--", "nowhere")
    assert outcome.status == 1 and "a store to memory that is not mapped" in outcome.err
    outcome = uncore(
        "run", "bus:2", elf, "--strace", "--threads", "2", "--repeat", "1", "--", "deadlock"
    )
    assert outcome.status == 1 and "clone(" in outcome.err and "sleeping" in outcome.err


def test_results_of_linux_programs_are_the_same_with_one_worker_and_two() -> None:
    jobs = [job("locked", "4", harts=n, seeds=(seed,)) for n in (2, 4) for seed in (1, 2)]
    one_process, two_processes = (execute(jobs, cores) for cores in (1, 2))
    assert [r.result_hash for r in one_process] == [r.result_hash for r in two_processes]

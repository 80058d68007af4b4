"""Do the commands that look into a run take a program of Linux, without a mark, as a workload?"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.conftest import Command, uncore  # noqa: F401 (a fixture)
from tests.linux.programs import job, program

from uncore.execution.execute import execute

WORDS = ("--threads", "4", "--repeat", "1", "--", "locked", "4")


@pytest.fixture
def elf(tmp_path: Path) -> Iterator[str]:
    path = tmp_path / "calls.elf"
    path.write_bytes(program().data)
    yield str(path)


def test_cache_lines_of_an_unmarked_program_are_those_of_its_whole_run(
    uncore: Command,  # noqa: F811
    elf: str,
) -> None:
    done = uncore("run", "ccx:2x4", elf, "--output", "r.json", *WORDS)
    assert done.status == 0, done.err
    rows = json.loads(uncore("lines", "r.json", "--json").out)
    assert any("lock" in json.dumps(row) for row in rows)
    assert "one operation every 0 ps" not in uncore("lines", "r.json").out


def test_whatif_repeats_the_words_of_the_program(uncore: Command, elf: str) -> None:  # noqa: F811
    done = uncore("whatif", "ccx:2x4", elf, "--only", "line", "--json", *WORDS)
    assert done.status == 0, done.err
    rows = json.loads(done.out)
    assert rows and "--argument=locked --argument=4" in rows[0]["run"]
    (again,) = json.loads(uncore(*shlex.split(rows[0]["run"])[1:], "--json").out)
    assert again["throughput"] == rows[0]["throughput"]


def test_compare_gives_both_the_words(uncore: Command, elf: str) -> None:  # noqa: F811
    both = ("compare", "ccx:2x4", "mesh:4x2", elf, "--threads", "1", "--repeat", "1", "--")
    assert uncore(*both, "status", "0").status == 0
    assert uncore(*both, "status", "3").status == 1


def test_calls_are_printed_where_the_program_fails(uncore: Command, elf: str) -> None:  # noqa: F811
    done = uncore("run", "bus:2", elf, "--strace", "--repeat", "1", "--", "nowhere")
    assert done.status == 1 and "a store to memory that is not mapped" in done.err
    done = uncore(
        "run", "bus:2", elf, "--strace", "--threads", "2", "--repeat", "1", "--", "deadlock"
    )
    assert done.status == 1 and "clone(" in done.err and "sleeping" in done.err


def test_results_are_equal_on_one_process_and_on_several() -> None:
    jobs = [job("locked", "4", harts=n, seeds=(seed,)) for n in (2, 4) for seed in (1, 2)]
    alone, together = (execute(jobs, cores) for cores in (1, 2))
    assert [r.result_hash for r in alone] == [r.result_hash for r in together]

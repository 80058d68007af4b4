"""Is a job's result the same, bit for bit, in whatever way and place it is executed?

Each test runs the jobs of outcomes.py in a process of its own and compares the result hashes, which
cover every field of the job and the outcome. tests/engine checks that results do not depend on how
far a core executes ahead.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import zipfile
from functools import cache
from pathlib import Path

import pytest
from tests.support import clang

from uncore.execution.execute import execute
from uncore.execution.request import make_job
from uncore.support.paths import CHECKOUT
from uncore_lab.measure.record import load

OUTCOMES = Path(__file__).with_name("outcomes.py")


def outcomes(*arguments: str, **environment: str) -> tuple[list[str], str]:
    """Returns machine, workload and hash of each job, and the path of the package that ran them."""
    python_path = (environment.pop("PYTHONPATH", ""), str(Path(__file__).parents[2]))
    run = subprocess.run(
        [sys.executable, str(OUTCOMES), *arguments],
        env=os.environ | environment | {"PYTHONPATH": os.pathsep.join(filter(None, python_path))},
        cwd=tempfile.gettempdir(),
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.splitlines(), run.stderr.strip()


@cache
def default_outcomes() -> list[str]:
    return outcomes()[0]


KERNEL_SCRIPT = """
from tests.engine.test_devices_of_kernels import finished
from tests.engine.test_kernels import boot
from tests.engine.test_watched_kernels import COUNTS_INTERRUPTS
from uncore import boot as booted
print(finished(booted.start(boot(COUNTS_INTERRUPTS))).outcome()["hash"])
"""


def kernels_outcome(**environment: str) -> str:
    """Returns the outcome's hash of a kernel whose two harts interrupt each other."""
    run = subprocess.run(
        [sys.executable, "-c", KERNEL_SCRIPT],
        env=os.environ | environment | {"PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_outcome_is_the_same_in_a_second_process() -> None:
    assert outcomes()[0] == default_outcomes()


def test_outcome_is_the_same_on_several_host_cores() -> None:
    assert outcomes("3")[0] == default_outcomes()


def test_outcome_is_the_same_with_every_observer() -> None:
    assert outcomes("1", "probes")[0] == default_outcomes()


def test_a_run_among_several_seeds_equals_a_run_with_only_its_seed() -> None:
    """The two seeds must also give two different runs."""
    job = make_job("epyc7601x2", "lock/mcs", [2, 12], seeds=(7, 8), parameters={"ops": 20})
    (all_seeds,) = execute([job])
    assert [(point.threads, point.seed) for point in all_seeds.points] == [
        (2, 7),
        (2, 8),
        (12, 7),
        (12, 8),
    ]
    for threads, seed, point in zip((2, 2, 12, 12), (7, 8, 7, 8), all_seeds.points, strict=True):
        (one_seed,) = execute([job.at(threads, seed)])
        assert one_seed.points == [point]
    assert len({point.elapsed_ps for point in all_seeds.points}) == 4


@pytest.mark.long
def test_outcome_is_the_same_if_another_compiler_built_the_engine() -> None:
    """The other build uses Clang and its C++ library in place of GCC and GCC's library."""
    clang.build()
    assert outcomes(UNCORE_NATIVE="native-clang")[0] == default_outcomes()
    assert kernels_outcome(UNCORE_NATIVE="native-clang") == kernels_outcome()


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a folder with an unpacked wheel, as pip would install it."""
    assert CHECKOUT
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, "--wheel-dir", str(folder), str(CHECKOUT)], check=True)
    (wheel,) = folder.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(folder / "site")
    return folder / "site"


@pytest.mark.bulk
def test_outcome_is_the_same_if_uncore_was_installed_from_a_wheel(unpacked: Path) -> None:
    hashes, package = outcomes(PYTHONPATH=str(unpacked))
    assert package.startswith(str(unpacked))
    assert hashes == default_outcomes()


@pytest.mark.bulk
def test_measure_needs_no_program_besides_the_installed_wheel(
    unpacked: Path, tmp_path: Path
) -> None:
    """The computer has nothing but the wheel: no program is on PATH. The result is one file."""
    measure = ["-m", "uncore", "measure", "--quick", "--threads", "2", "--output", "back.json"]
    environment = {"PYTHONPATH": str(unpacked), "PATH": "", "HOME": str(tmp_path / "home")}
    run = subprocess.run(
        [sys.executable, *measure], env=environment, cwd=tmp_path, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["back.json"]
    record = load(tmp_path / "back.json")
    assert record.handoffs and record.throughput

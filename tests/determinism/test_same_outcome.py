"""Is a job's result the same, bit for bit, however and wherever it is executed?

Each test runs the jobs of outcomes.py in a process of its own and compares the result hashes, which
cover every field of job and outcome.  tests/engine checks that it does not depend on how far a core
runs ahead.
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
def usual() -> list[str]:
    return outcomes()[0]


KERNEL = """
from tests.engine.test_devices_of_kernels import finished
from tests.engine.test_kernels import boot
from tests.engine.test_watched_kernels import COUNTS_INTERRUPTS
from uncore import boot as booted
print(finished(booted.start(boot(COUNTS_INTERRUPTS))).outcome()["hash"])
"""


def kernels_outcome(**environment: str) -> str:
    """Returns the outcome of a kernel on two harts that interrupt each other."""
    run = subprocess.run(
        [sys.executable, "-c", KERNEL],
        env=os.environ | environment | {"PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_outcome_is_the_same_twice() -> None:
    assert outcomes()[0] == usual()


def test_outcome_is_the_same_on_several_cores() -> None:
    assert outcomes("3")[0] == usual()


def test_outcome_is_the_same_with_every_observer() -> None:
    assert outcomes("1", "probes")[0] == usual()


def test_repeat_equals_a_run_with_its_seed_alone() -> None:
    """The two seeds must also give two different runs."""
    job = make_job("epyc7601x2", "lock/mcs", [2, 12], seeds=(7, 8), parameters={"ops": 20})
    (together,) = execute([job])
    assert [(one.threads, one.seed) for one in together.points] == [
        (2, 7),
        (2, 8),
        (12, 7),
        (12, 8),
    ]
    for threads, seed, point in zip((2, 2, 12, 12), (7, 8, 7, 8), together.points, strict=True):
        (alone,) = execute([job.at(threads, seed)])
        assert alone.points == [point]
    assert len({point.elapsed_ps for point in together.points}) == 4


@pytest.mark.bulk
def test_outcome_is_the_same_built_by_another_compiler() -> None:
    """The other build uses Clang and its C++ library instead of GCC and GCC's library."""
    clang.build()
    assert outcomes(UNCORE_NATIVE="native-clang")[0] == usual()
    assert kernels_outcome(UNCORE_NATIVE="native-clang") == kernels_outcome()


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Unpacks a wheel, as pip would install it."""
    assert CHECKOUT
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, "--wheel-dir", str(folder), str(CHECKOUT)], check=True)
    (wheel,) = folder.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(folder / "site")
    return folder / "site"


@pytest.mark.bulk
def test_outcome_is_the_same_from_a_wheel(unpacked: Path) -> None:
    found, package = outcomes(PYTHONPATH=str(unpacked))
    assert package.startswith(str(unpacked))
    assert found == usual()


@pytest.mark.bulk
def test_a_wheel_measures_a_bare_computer(unpacked: Path, tmp_path: Path) -> None:
    """The wheel is the only thing on the computer: no program is on PATH, and the result is one
    file.
    """
    measure = ["-m", "uncore", "measure", "--quick", "--threads", "2", "--output", "back.json"]
    bare = {"PYTHONPATH": str(unpacked), "PATH": "", "HOME": str(tmp_path / "home")}
    run = subprocess.run(
        [sys.executable, *measure], env=bare, cwd=tmp_path, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["back.json"]
    brought = load(tmp_path / "back.json")
    assert brought.handoffs and brought.throughput

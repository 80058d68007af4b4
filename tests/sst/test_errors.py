"""If SST is missing, is incomplete or fails, does a message say what is wrong?

Scripts replace SST; uncore sees only what they print and how they end.
"""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path

import pytest
from msgspec import UNSET
from msgspec.structs import replace
from tests.differential.jobs import SHARED_L2
from tests.support.outside_errors import PLAY, cannot_be_found, crashes, refuses, run_folder

from uncore import api
from uncore.engine import about, missing
from uncore.engine.options import take
from uncore.engine.sst import find
from uncore.engine.sst.options import Options
from uncore.errors import GuestError, OutsideError, UserError
from uncore.support import paths


@pytest.fixture
def fake_sst(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Makes a folder with a complete SST that prints nothing when it runs."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "lib").mkdir()
    for element in ("memHierarchy", "merlin"):
        (tmp_path / f"lib/lib{element}.so").touch()
    (tmp_path / "element").mkdir()
    (tmp_path / "element/libuncore.so").touch()
    monkeypatch.setattr(paths, "SST_ELEMENT", tmp_path / "element")
    monkeypatch.setenv("UNCORE_SST", str(tmp_path))
    # run folders are created in this folder
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    write_sst_config(tmp_path, "g++")
    write_sst(tmp_path, "")
    find._ask.cache_clear()
    return tmp_path


def write_script(prefix: Path, name: str, script: str) -> None:
    program = prefix / "bin" / name
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)


def write_sst_config(prefix: Path, compiler: str) -> None:
    script = f'if [ "$1" = --MPICXX ]; then echo {compiler}; else echo {prefix}/lib; fi'
    write_script(prefix, "sst-config", script)


def write_sst(prefix: Path, commands: str, version: str = "15.1.0") -> None:
    write_script(
        prefix,
        "sst",
        f'if [ "$1" = --version ]; then echo "SST-Core Version ({version})"; exit; fi\n{commands}',
    )
    find._ask.cache_clear()


def test_complete_sst_is_described_by_version_and_elements(fake_sst: Path) -> None:
    assert missing("sst") == ""
    assert about("sst") == "SST 15.1.0 with memHierarchy, merlin"


@pytest.mark.parametrize("path", ["bin", "bin/sst", ""])
def test_sst_is_found_by_prefix_folder_or_program(
    fake_sst: Path, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    monkeypatch.setenv("UNCORE_SST", str(fake_sst / path))
    assert missing("sst") == ""


def test_missing_sst_is_reported_with_the_remedy(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    cannot_be_found("sst", "SST", monkeypatch, capsys)


def test_too_old_sst_is_refused(fake_sst: Path) -> None:
    write_sst(fake_sst, "", version="13.1.0")
    assert missing("sst") == "SST 13.1.0 is too old: write --sst PREFIX of 15.0 or newer"


def test_message_names_a_missing_sst_element(fake_sst: Path) -> None:
    (fake_sst / "lib/libmerlin.so").unlink()
    find._ask.cache_clear()
    assert "bin/sst has no merlin, which sst-elements has" in missing("sst")


def test_message_names_a_missing_sst_mesh_element(
    fake_sst: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UNCORE_SST_MESH", "kingsley")
    assert "bin/sst has no kingsley, which" in missing("sst")
    monkeypatch.setenv("UNCORE_SST_MESH", "booksim")
    with pytest.raises(UserError, match="UNCORE_SST_MESH=booksim: write merlin or kingsley"):
        missing("sst")


def test_several_sst_processes_need_mpi(fake_sst: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNCORE_SST_RANKS", "2")
    assert "was built without MPI; write --sst-ranks 1" in missing("sst")
    write_sst_config(fake_sst, "mpicxx")
    find._ask.cache_clear()
    monkeypatch.setenv("PATH", "/bin")
    monkeypatch.setattr(find, "MPIEXEC", "mpiexec-of-nobody")
    assert "mpiexec-of-nobody, which starts --sst-ranks processes, is not on PATH" in missing("sst")
    write_script(fake_sst, "mpiexec-of-nobody", 'shift 2; exec "$@"')
    monkeypatch.setenv("PATH", f"{fake_sst}/bin:/bin")
    assert missing("sst") == ""
    assert find.launcher(take(Options, {})) == ["mpiexec-of-nobody", "-n", "2"]


OPEN_MPI = """
if [ "$1" = --version ]; then
  echo 'mpiexec (OpenRTE) 4.1.4'; echo 'Report bugs to http://www.open-mpi.org/community/help/'
fi
"""
AS_ROOT = ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM")


@pytest.mark.parametrize(
    ("user", "mpi", "variables", "refused"),
    [
        (0, OPEN_MPI, (), True),
        (0, OPEN_MPI, AS_ROOT[:1], True),
        (0, OPEN_MPI, AS_ROOT, False),
        (0, "echo 'HYDRA build details:'", (), False),
        (1000, OPEN_MPI, (), False),
    ],
)
def test_open_mpi_as_root_needs_two_environment_variables(
    fake_sst: Path,
    monkeypatch: pytest.MonkeyPatch,
    user: int,
    mpi: str,
    variables: tuple[str, ...],
    refused: bool,
) -> None:
    write_sst_config(fake_sst, "mpicxx")
    find._ask.cache_clear()
    write_script(fake_sst, "mpiexec", mpi)
    monkeypatch.setenv("PATH", f"{fake_sst}/bin:/bin")
    monkeypatch.setenv("UNCORE_SST_RANKS", "2")
    monkeypatch.setattr("os.geteuid", lambda: user)
    for name in AS_ROOT:
        monkeypatch.delenv(name, raising=False)
    for name in variables:
        monkeypatch.setenv(name, "1")
    message = missing("sst")
    assert message == (
        "Open MPI starts no processes as root: set OMPI_ALLOW_RUN_AS_ROOT=1 and"
        " OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1, or run as another user"
        if refused
        else ""
    )


def test_message_says_how_to_build_the_uncore_element(fake_sst: Path) -> None:
    (fake_sst / "element/libuncore.so").unlink()
    assert f"UNCORE_SST={fake_sst} python -m SCons sst" in missing("sst")


def test_crash_of_sst_is_reported(fake_sst: Path) -> None:
    crashes("sst", partial(write_sst, fake_sst))


def test_kill_of_sst_by_the_out_of_memory_killer_is_reported(fake_sst: Path) -> None:
    write_sst(fake_sst, "kill -9 $$")
    with pytest.raises(OutsideError, match="killed, as Linux does where memory runs out") as e:
        api.run(*PLAY, engine="sst")
    run_folder(e.value)


def test_early_end_of_sst_is_reported(fake_sst: Path) -> None:
    write_sst(fake_sst, "echo Simulation is complete")
    with pytest.raises(OutsideError, match="nothing was under way any more") as e:
        api.run(*PLAY, engine="sst")
    run_folder(e.value)


def test_program_without_operations_under_sst_is_reported(fake_sst: Path) -> None:
    write_sst(fake_sst, "echo 'uncore: watchdog hart=1 code=3 time=1000'")
    with pytest.raises(GuestError, match="hart 1 did no operation in 100 simulated ms"):
        api.run(*PLAY, engine="sst")


RECORDS = [f"uc: hart={n} ops=3 begin={10 + n} end={40 + n} failures=0" for n in range(2)]


def write_successful_sst(fake_sst: Path, reports: int) -> None:
    """Makes an SST whose program ends successfully, with reports of this many harts."""
    output = "\n".join([*RECORDS, "uncore: exit hart=0 code=0 time=50000", ""])
    (fake_sst / "printed").write_text(output)
    counts = "instructions=60 operations=3 retries=1 latencies=500:2,700:1,"
    for hart in range(reports):
        (fake_sst / f"hart{hart}.txt").write_text(f"uncore: hart={hart} {counts}\n")
    write_sst(fake_sst, f"cat {fake_sst}/printed; cp {fake_sst}/hart*.txt .")


def test_successful_runs_give_one_point_per_seed(fake_sst: Path) -> None:
    write_successful_sst(fake_sst, reports=2)
    (point,) = api.run(*PLAY, engine="sst", seeds=()).outcome.points
    assert (point.ops, point.elapsed_ps, point.instructions) == (6, 31_000, 120)
    assert point.latency and point.latency.p50 == 500
    assert point.seed is UNSET
    seeded = api.run(*PLAY, engine="sst").outcome.points
    assert [replace(point, seed=UNSET) for point in seeded] == [point] * 3
    assert [point.seed for point in seeded] == [1, 2, 3]


def test_run_without_the_report_of_one_hart_is_refused(fake_sst: Path) -> None:
    write_successful_sst(fake_sst, reports=1)
    with pytest.raises(OutsideError, match="1 of 2 harts have left a report"):
        api.run(*PLAY, engine="sst")


L2 = dict(text.split("=", 1) for text in SHARED_L2)


@pytest.mark.parametrize(
    ("machine", "options", "words"),
    [
        ("epyc7601x2", {"placement": "siblings"}, "one hart a core; write --smt off"),
        ("bus:2", {"home": "first-touch"}, "--home first-touch: engine sst homes memory by"),
        (
            "i912900k",
            {"placement": "0,16", "overrides": L2},
            "module8 .* write --with socket.resolver.slices=1",
        ),
        ("bus:2", {"overrides": {"core.atomics": "far"}}, "core.atomics=near"),
    ],
)
def test_job_that_sst_cannot_run_is_refused(
    fake_sst: Path, machine: str, options: dict[str, object], words: str
) -> None:
    refuses("sst", machine, 2, options, words)

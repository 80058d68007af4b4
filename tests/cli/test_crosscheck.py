"""Does `uncore crosscheck` compare the available engines, and refuse jobs that cannot
be compared?
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from uncore import topology
from uncore.cli.app import main
from uncore.errors import GuestError, OutsideError, UncoreError
from uncore.job import Job
from uncore.study.compare import conventions, model_state, outside
from uncore.study.compare.crosscheck import CrosscheckedPoint, crosscheck

CROSSCHECK_RUN = ["crosscheck", "ring:2", "lock/ticket", "--set", "ops=5"]


def test_engines_that_are_not_installed_are_left_out_by_default(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("UNCORE_SST", "/nowhere")
    with pytest.raises(SystemExit) as ended:
        main([*CROSSCHECK_RUN, "--json"])
    assert ended.value.code == 0
    compared = msgspec.json.decode(capsys.readouterr().out)
    assert [row["engine"] for row in compared["rows"]] == ["native", "reference"]
    assert compared["broken"] == compared["apart"] == []


@pytest.mark.parametrize(
    ("engines", "message"),
    [
        ("native", "write at least two different ones"),
        ("native,native", "write at least two different ones"),
        ("native,nativ", "no engine is called 'nativ'"),
        ("native,sst", "no SST in /nowhere"),
    ],
)
def test_invalid_engines_to_compare_are_refused(
    engines: str, message: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("UNCORE_SST", "/nowhere")
    with pytest.raises(SystemExit) as ended:
        main([*CROSSCHECK_RUN, "--engines", engines])
    assert ended.value.code == 2
    assert message in capsys.readouterr().err


@pytest.fixture
def compared(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Makes the reference engine stand for an outside engine with one job. Returns a folder that
    holds the rows of an earlier comparison.
    """
    monkeypatch.setattr(outside, "ENGINES", ("reference",))
    monkeypatch.setattr(outside, "MACHINES", {2: ("ring:2",)})
    monkeypatch.setattr(outside, "PROGRAMS", {"lock/ticket": {"ops": "5"}})
    columns = outside.FILE_COLUMNS["engines"]
    job = {"machine": "ring:2", "program": "lock/ticket", "part": "", "protocol": ""}
    rows = [
        dict.fromkeys(columns, "9") | job | {"engine": name, "harts": harts, "model": "deadbeef"}
        for name, harts in (("gem5", "2"), ("reference", "2"), ("reference", "4"))
    ]
    outside._save(tmp_path / "engines.csv", columns, rows)
    state = {"state": "deadbeef", "part": "C1", "digest": "0"}
    outside._save(tmp_path / "model.csv", [*state], [state])
    return tmp_path


def test_comparison_of_all_jobs_is_written_as_data_and_as_a_picture(
    compared: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    picture = compared / "ratios.svg"
    with pytest.raises(SystemExit) as ended:
        main(["crosscheck", "--all", "--output", str(compared), "--plot", str(picture), "--json"])
    assert ended.value.code == 0
    (row,) = msgspec.json.decode(capsys.readouterr().out)["rows"]
    written, *kept = outside.load(compared / "engines.csv")
    assert written == {name: str(row.get(name, "")) for name in outside.FILE_COLUMNS["engines"]}
    assert (written["engine"], written["ratio"], written["harts"]) == ("reference", "1", "2")
    assert [(row["engine"], row["harts"]) for row in kept] == [("gem5", "2"), ("reference", "4")]
    now = model_state.parts()
    parts = {(row["state"], row["part"]) for row in outside.load(compared / "model.csv")}
    assert parts == {("deadbeef", "C1"), *((written["model"], part) for part in now)}
    assert "reference over native" in picture.read_text()


def test_job_that_an_engine_refuses_has_no_row(compared: Path) -> None:
    refusals: list[str] = []
    jobs = [outside.ComparedJob("engines", "reference", "ring:2", "lock/ticket", 3, {})]
    assert list(outside.rows(jobs, refused=refusals.append)) == []
    assert refusals and refusals[0].startswith("reference ring:2 lock/ticket 3: ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "write a machine and a workload, or --all"),
        (("ring:2", "lock/ticket", "--output", "."), "or --all with its options"),
        (("--all", "--output", "/nowhere"), "a folder for the files: /nowhere"),
        (("--all", "--engines", "sst"), "no SST in /nowhere"),
        (("--all", "--engines", "native,reference"), "'reference' is not one that --all compares"),
        (("--all", "--engines", "native"), "expected SST or gem5 here"),
    ],
)
def test_comparison_without_jobs_engines_or_folder_is_refused(
    arguments: tuple[str, ...],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("UNCORE_SST", "/nowhere")
    monkeypatch.setenv("UNCORE_GEM5", "/nowhere")
    with pytest.raises(SystemExit) as ended:
        main(["crosscheck", *arguments])
    assert ended.value.code == 2
    assert message in " ".join(capsys.readouterr().err.split())


ATOMICS = outside.ComparedJob("engines", "sst", "mesh:8x8", "counter/atomic", 16, {"ops": "20"})


def on_native(overrides: dict[str, str]) -> float:
    (crossed,) = crosscheck(ATOMICS.job("native", overrides), ["native"])
    assert crossed.sides[0].per_operation
    return crossed.sides[0].per_operation


def test_convention_that_makes_the_times_of_both_engines_equal_is_named() -> None:
    explained = ATOMICS.search_conventions(on_native({"core.hold": "0cy"}), "MESI")
    assert (explained.words, explained.ratio) == ("core.hold=0cy", 1)


def test_times_that_differ_by_less_than_a_quarter_match_without_a_convention() -> None:
    explained = ATOMICS.search_conventions(1.24 * on_native({}), "MESI")
    assert (explained.words, explained.matches) == ("", True)


@pytest.mark.parametrize("protocol", ["MESI", "a protocol without a file"])
def test_time_that_no_convention_explains_is_called_unexplained(protocol: str) -> None:
    explained = ATOMICS.search_conventions(100 * on_native({}), protocol)
    assert not explained.matches and explained.words.startswith("unexplained: ")


def test_convention_of_resolvers_applies_to_every_level() -> None:
    machine = topology.load("ccx:2x8")
    overrides = list(conventions.stated(outside._file("sst_mesi"), machine))
    assert {"ccx.resolver.reply": "via", "system.resolver.reply": "via"} in overrides
    assert {"core.hold": "0cy"} in overrides and not any(
        "name" in convention for convention in overrides
    )


def test_conventions_of_extended_files_are_included() -> None:
    """gem5_chi.toml extends the file of MESI_Two_Level, which extends the file of gem5's harts."""
    overrides = list(conventions.stated(outside._file("gem5_chi"), topology.load("ring:4")))
    of_chi, of_mesi_two_level, of_gem5_harts = (
        {"protocol": "mesif"},
        {"core.hold": "0cy"},
        {"interrupt.entry": "0cy"},
    )
    assert of_chi in overrides and of_mesi_two_level in overrides and of_gem5_harts in overrides
    # The shared cache of a ring keeps data already, so this convention does not apply.
    assert not any("system.data" in convention for convention in overrides)


BUS = outside.ComparedJob("engines", "sst", "bus:4", "lock/ticket", 4, {"ops": "20"})
CACHE = {"system.data": "inclusive 32MiB 16-way 60ns", "system.resolver.knows": "inclusive"}


def test_convention_that_the_machine_cannot_adopt_is_skipped() -> None:
    """The bus has no directory, so it cannot have `unblock = "response"`."""
    (native,) = crosscheck(BUS.job("native"), ["native"])
    explained = BUS.search_conventions(1.3 * (native.sides[0].per_operation or 0), "MESI")
    assert "unblock" not in explained.overrides


def test_cache_of_the_outside_engine_explains_the_time_of_a_level_without_a_cache() -> None:
    """The convention gives the level a cache as slow as memory. Settings that the bus already has
    are not listed.
    """
    (cached,) = crosscheck(BUS.job("native", CACHE), ["native"])
    explained = BUS.search_conventions(cached.sides[0].per_operation or 0, "MESI_Two_Level")
    assert (explained.overrides, explained.ratio) == (CACHE, 1)


def test_two_conventions_that_help_only_together_are_found() -> None:
    """On a bus `hold` has no effect unless the bus's resolver knows which core has a line."""
    counter = outside.ComparedJob("engines", "sst", "bus:4", "counter/atomic", 4, {"ops": "20"})
    replies = {"system.resolver.reply": "via", "system.resolver.unblock": "response"}
    (cached,) = crosscheck(
        counter.job("native", CACHE | replies | {"core.hold": "0cy"}), ["native"]
    )
    explained = counter.search_conventions(1.15 * (cached.sides[0].per_operation or 0), "MESI")
    assert explained.matches and {"core.hold", "system.data"} < explained.overrides.keys()


def test_difference_of_times_is_explained_if_one_slice_on_both_sides_removes_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The outside engine follows the model, but maps all lines to the last of many slices."""

    def with_other_homes(job: Job, engines: list[str], **_: object) -> list[CrosscheckedPoint]:
        has_many_slices = len(job.machine.resolvers[0].slices) > 1
        (native,) = crosscheck(job, ["native"])
        (other,) = crosscheck(replace(job, slices="63") if has_many_slices else job, ["native"])
        sides = (*native.sides, *other.sides)
        return [CrosscheckedPoint(job.threads[0], sides[: len(engines)])]

    monkeypatch.setattr(outside, "crosscheck", with_other_homes)
    monkeypatch.setattr(outside.engine, "protocol", lambda *_: "none")
    job = outside.ComparedJob(
        "engines", "reference", "mesh:8x8", "counter/atomic", 16, {"ops": "20"}
    )
    ((_, _, row),) = outside.rows([job])
    explanation = (row["conventions"], row["ratio_then"])
    assert explanation == ("both sides: system.resolver.slices=1", "1")


@pytest.mark.parametrize("error", [OutsideError("gem5 ended"), GuestError("not ended after 4 s")])
def test_crash_or_hang_of_an_engine_removes_only_its_row(
    monkeypatch: pytest.MonkeyPatch, error: UncoreError
) -> None:
    def fails_for_one_lock(job: Job, *_: object, **__: object) -> list[CrosscheckedPoint]:
        if job.program.name == "lock/ticket":
            raise error
        return crosscheck(job, ["native", "reference"])

    monkeypatch.setattr(outside, "crosscheck", fails_for_one_lock)
    monkeypatch.setattr(outside.engine, "protocol", lambda *_: "none")
    monkeypatch.setattr(outside.engine, "version", lambda *_: "1")
    refusals: list[str] = []
    jobs = [replace(job, engine="native") for job in outside.jobs(["gem5"])[:2]]
    rows = list(outside.rows(jobs, refused=refusals.append))
    assert [job.workload for job, *_ in rows] == ["lock/mcs"]
    assert refusals == [f"native bus:4 lock/ticket 4: {error}"]

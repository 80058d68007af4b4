"""Do commands report the median of repeated runs, with their spread and their seeds?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Command

from uncore import api
from uncore.report import chart
from uncore.result import load, repeats

TOY = ("run", "ccx:2x2", "lock/ticket", "--engine", "toy")
RING = ("run", "ring:4", "lock/mcs", "--set", "ops=20")


@pytest.fixture(autouse=True)
def slower_by_the_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes an operation of the toy engine take 10 ns plus 1 ns for each unit of the seed."""
    monkeypatch.setenv("TOY_CHANCE", "100")


def rows(uncore: Command, *arguments: str) -> list[dict[str, Any]]:
    result = uncore(*arguments, "--json")
    assert result.status == 0, result.err
    read: list[dict[str, Any]] = json.loads(result.out)
    return read


def test_row_shows_the_run_of_median_throughput(uncore: Command) -> None:
    single, two = rows(uncore, *TOY, "--threads", "1,2")
    for row in (single, two):
        assert (row["seed"], row["repeats"], row["seeds"]) == (2, 3, [1, 2, 3])
        assert row["elapsed_ps"] == 1_200_000 * row["threads"]
        lowest, highest = row["throughput_min"], row["throughput_max"]
        assert [highest, row["throughput"], lowest] == row["throughputs"]
        assert row["throughputs"] == sorted(row["throughputs"], reverse=True)


def test_repeats_use_successive_seeds_and_the_slower_of_two_middle_runs_is_shown(
    uncore: Command,
) -> None:
    (row,) = rows(uncore, *TOY, "--seed", "17", "--repeat", "4")
    assert row["seeds"] == [17, 18, 19, 20]
    assert row["seed"] == 19


def test_run_without_a_seed_is_a_single_run_in_lockstep(uncore: Command) -> None:
    (row,) = rows(uncore, *TOY, "--seed", "none")
    assert (row["seed"], row["repeats"], row["seeds"]) == (None, 1, [])
    assert row["throughput_min"] is row["throughput_max"] is None
    assert row["elapsed_ps"] == 1_000_000


def test_engine_without_seeds_runs_in_lockstep(
    uncore: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TOY_CHANCE")
    (row,) = rows(uncore, *TOY)
    assert (row["repeats"], row["seeds"]) == (1, [])


def test_table_shows_spread_and_seeds_of_repeats(uncore: Command) -> None:
    output = uncore(*TOY, "--threads", "1").out
    assert "83.3 +-7.0 M/s" in output  # 90.9, 83.3 and 76.9
    assert "seeds 1, 2, 3: the run with the median throughput; +- is half the range" in output
    assert "+-" not in uncore(*TOY, "--seed", "2", "--repeat", "1").out
    assert "seed" not in uncore(*TOY, "--seed", "none").out


def test_failed_check_names_the_seed_that_repeats_it(
    uncore: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOY_FAIL", "2")
    run = uncore(*TOY, "--threads", "1,2", "--seed", "17", "--repeat", "2")
    assert run.status == 1
    assert "check failed at 2 threads with --seed 18: lock.c:7" in run.out


def test_message_of_a_failed_run_names_the_seed_that_repeats_it(uncore: Command) -> None:
    arguments = ("--threads", "2", "--set", "hold=1ms", "--watchdog", "1us", "--repeat", "1")
    run = uncore("run", "bus:2", "lock/ticket", *arguments, "--seed", "5")
    assert run.status == 1
    assert "bus:2 at 2 threads with --seed 5: lock/ticket: no operation in" in run.err


@pytest.mark.parametrize("name", ["r.json", "r.parquet"])
def test_saved_result_has_every_repeat_and_is_reproduced(uncore: Command, name: str) -> None:
    uncore(*RING, "--threads", "1,4", "--output", name)
    result = load(Path(name))
    runs = [(point.threads, point.seed) for point in result.points]
    assert runs == [(threads, seed) for threads in (1, 4) for seed in (1, 2, 3)]
    assert result.to_polars()["seed"].to_list() == [1, 2, 3] * 2
    again = uncore("run", "--again", name)
    assert again.status == 0 and "6 points" in again.out, again.err


def test_run_with_a_single_seed_equals_the_repeat_with_that_seed(uncore: Command) -> None:
    (row,) = rows(uncore, *RING, "--threads", "4")
    (single,) = rows(uncore, *RING, "--threads", "4", "--seed", str(row["seed"]), "--repeat", "1")
    differing = {key for key in row if row[key] != single[key]}
    assert differing == {
        *("repeats", "seeds", "runs", "result_hash"),
        *("throughputs", "throughput_min", "throughput_max"),
    }


def test_result_without_a_seed_has_no_field_about_seeds(uncore: Command) -> None:
    """Results that were saved before seeds existed can still be read and reproduced."""
    uncore(*RING, "--seed", "none", "--with", "chance.start=5us", "--output", "r.json")
    result = load(Path("r.json"))
    assert "seeds" not in result.job and "chance" not in result.job["machine"]
    assert "seed" not in json.loads(Path("r.json").read_text())["outcome"]["points"][0]


def test_interrupted_run_saves_its_finished_repeats(
    uncore: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOY_INTERRUPT", "4")
    run = uncore(*TOY, "--threads", "1,4", "--output", "r.json", "--cores", "1")
    assert run.status == 130 and "partial: 3 of 6 points" in run.out
    assert "seeds 1, 2, 3" in run.out
    monkeypatch.delenv("TOY_INTERRUPT")
    assert "3 points" in uncore("run", "--again", "r.json").out


def test_lines_command_observes_the_median_repeat_or_that_of_the_named_seed(
    uncore: Command,
) -> None:
    uncore(*RING, "--threads", "4", "--output", "r.json")
    (same,) = repeats(load(Path("r.json")))
    assert f"4 threads, seed {same.median.seed}:" in uncore("lines", "r.json").out
    assert "4 threads, seed 3:" in uncore("lines", "r.json", "--seed", "3").out
    assert "--seed 4: the result's are 1, 2, 3" in uncore("lines", "r.json", "--seed", "4").err


def test_scaling_and_compare_commands_use_the_medians_of_repeats(uncore: Command) -> None:
    for name, first in (("a.json", "1"), ("b.json", "4")):
        uncore(*TOY, "--threads", "1,2,4", "--seed", first, "--output", name)
    scaling = json.loads(uncore("scaling", "a.json", "--json").out)
    medians = [same.median for same in repeats(load(Path("a.json")))]
    assert [row["throughput"] for row in scaling["rows"]] == pytest.approx(
        [point.throughput for point in medians]
    )
    assert all(row["throughput_min"] < row["throughput_max"] for row in scaling["rows"])
    assert "seeds 1, 2, 3" in uncore("scaling", "a.json").out
    ratio = json.loads(uncore("compare", "a.json", "b.json", "--json").out)["rows"][0]
    assert ratio["ratio"] == pytest.approx(1200 / 1500)
    assert ratio["ratio_min"] == pytest.approx(1100 / 1600)
    assert ratio["ratio_max"] == pytest.approx(1300 / 1400)


def test_picture_shows_the_spread_as_a_band() -> None:
    result = api.run("ring:4", "lock/mcs", [4], parameters={"ops": 20})
    (panel,) = chart.panels([result])
    ((point,),) = panel.series.values()
    (same,) = repeats(result)
    assert point == pytest.approx([4, same.median.throughput / 1e6, *(e / 1e6 for e in same.ends)])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--seed", "x"), "--seed x: expected a whole number of at most 18 digits, or none"),
        (("--seed", "-1"), "--seed"),
        (("--repeat", "0"), "--repeat"),
        (("--repeat", "5", "--seed", "none"), "--repeat 5: in lockstep all runs are the same"),
    ],
)
def test_invalid_seed_or_repeat_gives_a_message(
    uncore: Command, arguments: tuple[str, ...], message: str
) -> None:
    run = uncore(*TOY, *arguments)
    assert run.status == 2 and message in run.err


@pytest.mark.parametrize("simulator", ["sst", "gem5"])
def test_seed_changes_only_job_and_program_of_an_export(uncore: Command, simulator: str) -> None:
    """The seed decides how late each hart starts. Without a seed, all harts start at once."""
    arguments = ("export", simulator, "bus:2", "lock/ticket", "--threads", "2")
    for seed in ("none", "4", "5"):
        assert uncore(*arguments, "--seed", seed, "--output", seed).status == 0
    assert uncore(*arguments, "--output", "usual").status == 0
    assert _files("usual") == _files("none")
    seeded_files = {"job.json", "program.elf", "code.bin"}
    for a, b in (("none", "4"), ("4", "5")):
        differ = {name for name, data in _files(a).items() if data != _files(b)[name]}
        assert {"job.json", "program.elf"} <= differ <= seeded_files


@pytest.mark.parametrize("simulator", ["sst", "gem5"])
@pytest.mark.parametrize(
    ("number", "lost_features"),
    [
        ("system.resolver.pointers=1", "system: pointers mean nothing there"),
        ("memory.cache=1MiB 4-way 40ns", "memory: its cache means nothing there"),
    ],
)
def test_export_names_features_that_are_lost(
    uncore: Command, simulator: str, number: str, lost_features: str
) -> None:
    arguments = ("export", simulator, "mesh:2x2", "lock/ticket", "--threads", "2")
    assert "nothing there" not in uncore(*arguments, "--output", "all").err
    assert lost_features in uncore(*arguments, "--with", number, "--output", "some").err


def _files(folder: str) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in Path(folder).iterdir()}


def test_engines_are_compared_with_the_given_seed(uncore: Command) -> None:
    run = uncore("diff-engines", "ring:4", "lock/mcs", "--threads", "4", "--seed", "5", "--json")
    (row,) = json.loads(run.out)
    assert (run.status, row["seed"], row["equal"]) == (0, 5, True)

"""Does `uncore run` do what its arguments say, and save the result?"""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars
import pytest

from uncore.program import find
from uncore.result import Outcome, Result, load, log

TOY = ("run", "ccx:2x2", "lock/ticket", "--engine", "toy")


def test_json_output_has_one_row_per_thread_count(uncore):
    rows = json.loads(uncore(*TOY, "--threads", "1,2..4", "--json").out)
    assert [row["threads"] for row in rows] == [1, 2, 4]
    assert rows[2]["throughput"] == 400 * 10**12 // 4_000_000
    assert rows[2]["transfers.ccx"] == 40


def test_table_of_run_shows_throughput_machine_and_workload(uncore):
    out = uncore(*TOY, "--threads", "2").out
    assert "100 M/s" in out
    assert "ccx:2x2" in out and "lock/ticket" in out


def test_several_machines_share_one_table_and_one_picture(uncore):
    run = uncore("run", "ccx:2x2", "bus:4", *TOY[2:], "--threads", "1,2,4", "--plot", "p.png")
    assert run.status == 0, run.err
    assert "ccx:2x2" in run.out and "bus:4" in run.out
    assert Path("p.png").read_bytes().startswith(b"\x89PNG")


def test_failed_check_of_the_workload_fails_the_run(uncore, monkeypatch):
    monkeypatch.setenv("TOY_FAIL", "2")
    run = uncore(*TOY, "--threads", "1,2,4")
    assert run.status == 1
    assert "lock.c:7: not excluded" in run.out


@pytest.mark.parametrize("name", ["r.json", "r.parquet"])
def test_saved_result_is_reproduced_bit_for_bit(uncore, name):
    assert uncore(*TOY, "--threads", "1,2", "--output", name).status == 0
    second = uncore("run", "--again", name)
    assert second.status == 0, second.err
    assert "reproduced bit for bit" in second.out and load(Path(name)).result_hash in second.out


def test_repeated_run_with_another_outcome_reports_the_difference(uncore, monkeypatch):
    uncore(*TOY, "--threads", "1,2", "--output", "r.json")
    monkeypatch.setenv("TOY_DRIFT", "1")
    second = uncore("run", "--again", "r.json")
    assert second.status == 1
    assert "differs at 1 threads: ops" in second.out


def test_run_again_is_refused_if_the_path_now_has_another_program(uncore):
    shutil.copy(find("lock/ticket").path, "mine.elf")
    assert uncore("run", "ccx:2x2", "mine.elf", *TOY[3:], "--output", "r.json").status == 0
    assert uncore("run", "--again", "r.json").status == 0
    shutil.copy(find("lock/mcs").path, "mine.elf")
    second = uncore("run", "--again", "r.json")
    assert second.status == 2
    assert "mine.elf" in second.err and "cannot be reproduced" in second.err


def test_result_hash_covers_job_and_outcome_and_ignores_the_order_of_keys(uncore):
    uncore(*TOY, "--threads", "1,2", "--output", "r.json")
    saved = load(Path("r.json"))
    turned = Result(job=dict(reversed(saved.job.items())), outcome=saved.outcome, host=saved.host)
    assert turned.result_hash == saved.result_hash
    half = Result(job=saved.job, outcome=Outcome(points=saved.points[:1]), host=saved.host)
    assert half.result_hash != saved.result_hash


def test_edited_result_file_is_refused(uncore):
    uncore(*TOY, "--output", "r.json")
    text = Path("r.json").read_text()
    Path("r.json").write_text(text.replace('"ops": 100', '"ops": 101'))
    second = uncore("run", "--again", "r.json")
    assert second.status == 2
    assert "r.json" in second.err and "changed" in second.err


def test_parquet_file_of_a_result_contains_its_table(uncore):
    uncore(*TOY, "--threads", "1,2", "--output", "r.parquet")
    frame = polars.read_parquet("r.parquet")
    assert frame["threads"].to_list() == [1, 2]
    assert frame["ops"].to_list() == [100, 200]


@pytest.mark.parametrize("cores", ["1", "2"])
def test_interrupted_run_saves_its_finished_points(uncore, monkeypatch, cores):
    monkeypatch.setenv("TOY_INTERRUPT", "4")
    run = uncore(*TOY, "--threads", "1,2,4", "--output", "r.json", "--cores", cores)
    assert run.status == 130
    result = load(Path("r.json"))
    assert result.outcome.partial
    assert {p.threads for p in result.points} <= {1, 2}
    assert "partial" in run.out


@pytest.mark.parametrize("cores", ["1", "2"])
def test_ctrl_c_ends_a_run_at_once(tmp_path, cores):
    start = "from uncore import engine; from uncore.cli import app;"
    start += " engine.ENGINES['toy'] = 'toy_engine'; app.main()"
    arguments = [*TOY, "--threads", "1,2,4", "--output", "r.json", "--cores", cores]
    path = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    environment = {**os.environ, "PYTHONPATH": path, "TOY_SLEEP": "4"}
    with subprocess.Popen(
        [sys.executable, "-c", start, *arguments],
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stderr
        assert process.stderr.readline() == "sleeping\n"
        # A terminal sends SIGINT to every process of the group at Ctrl-C, as this call does.
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert process.returncode == 130, err
    assert "Traceback" not in err
    assert "partial" in out
    assert load(tmp_path / "r.json").outcome.partial


@pytest.mark.parametrize("terminal", ["", "1"])
def test_progress_of_a_long_run_is_shown_on_a_terminal_only(uncore, monkeypatch, terminal):
    monkeypatch.setenv("TOY_TICK", "12_345_678")
    monkeypatch.setenv("FORCE_COLOR", terminal)
    progress = uncore(*TOY, "--threads", "2", "--cores", "1").err
    assert ("simulating, at 12.3 µs" in progress) is bool(terminal)


def test_table_names_the_most_transferred_lines(uncore):
    out = uncore(*TOY, "--threads", "4").out
    assert "uc_record" in out and "0.10" in out and "the lock" in out


def test_result_hash_is_the_same_on_one_host_core_and_on_two(uncore):
    uncore(*TOY, "--threads", "1,2,4", "--output", "a.json", "--cores", "1")
    uncore(*TOY, "--threads", "1,2,4", "--output", "b.json", "--cores", "2")
    assert load(Path("a.json")).result_hash == load(Path("b.json")).result_hash


def test_sweep_runs_all_combinations(uncore):
    arguments = ("sweep", "ccx:2x2", "bus:4", "lock/ticket", "--engine", "toy", "--threads", "1,2")
    run = uncore(*arguments, "--set", "hold=10ns,20ns", "--json")
    assert run.status == 0, run.err
    rows = json.loads(run.out)
    keys = {(r["machine"], r["set.hold"], r["threads"]) for r in rows}
    assert len(rows) == len(keys) == 2 * 2 * 2


def test_matrix_without_smt_has_only_pairs_of_different_cores(uncore):
    run = uncore("matrix", "r2700x", "--engine", "toy", "--smt", "off", "--json")
    classes = {c["class"]: c["pairs"] for c in json.loads(run.out)["classes"]}
    assert classes == {"ccx": 2 * 4 * 3, "die": 2 * 4 * 4}


def test_matrix_has_all_pairs_of_harts_and_their_distance_classes(uncore):
    run = uncore("matrix", "ccx:2x2", "--engine", "toy", "--csv", "m.csv", "--json")
    assert run.status == 0, run.err
    document = json.loads(run.out)
    assert document["ns"][1][2] == 3.0
    assert {c["class"]: c["pairs"] for c in document["classes"]} == {"ccx": 4, "system": 8}
    assert Path("m.csv").read_text().splitlines()[0] == "0.000,1.000,2.000,3.000"


def test_matrix_of_a_sample_has_pairs_of_every_distance(uncore):
    def sampled(arguments: str) -> dict[str, Any]:
        run = uncore("matrix", "epyc9965x2", "--engine", "toy", "--sample", arguments, "--json")
        assert run.status == 0, run.err
        return json.loads(run.out)

    first, second, other_seed = sampled("40"), sampled("40"), sampled("40:1")
    assert first == second and first["harts"] != other_seed["harts"]
    for document in (first, other_seed):
        assert len(document["harts"]) == len(document["ns"]) == 40
        assert sum(c["pairs"] for c in document["classes"]) == 40 * 39
        assert all(c["pairs"] >= 2 * 40 // 5 for c in document["classes"])
        assert [c["class"] for c in document["classes"]] == ["core", "ccx", "socket", "system"]


def test_all_768_harts_of_the_largest_machine_can_run_a_lock(uncore):
    arguments = ("run", "epyc9965x2", "lock/mcs", "--threads", "max", "--set", "ops=2", "--json")
    run = uncore(*arguments)
    assert run.status == 0, run.err
    assert json.loads(run.out)[0]["threads"] == 768


def test_slow_engine_measures_a_sample_of_a_large_machine(uncore):
    arguments = ("matrix", "epyc7453", "--engine", "reference", "--csv", "m.csv", "--sample")
    run = uncore(*arguments, "4")
    assert run.status == 0, run.err
    assert re.search(r"matrix: m.csv, of harts \d+ \d+ \d+ \d+$", run.err.strip())
    assert "slow beyond 16 harts" in uncore(*arguments, "17", "--force").err


def test_sample_larger_than_the_machine_measures_all_harts(uncore):
    arguments = ("matrix", "ccx:2x2", "--engine", "toy", "--json")
    assert uncore(*arguments, "--sample", "9").out == uncore(*arguments).out


def test_log_contains_every_transaction_of_every_point(uncore):
    arguments = ("run", "bus:4", "lock/ticket", "--threads", "1,4", "--set", "ops=20", "--json")
    rows = json.loads(uncore(*arguments, "--log", "log.parquet").out)
    assert rows == json.loads(uncore(*arguments).out)
    points = log.load(Path("log.parquet")).group_by("threads", "seed").len()
    records = {(threads, seed): count for threads, seed, count in points.rows()}
    assert sorted(records) == [(threads, seed) for threads in (1, 4) for seed in (1, 2, 3)]
    for row in rows:
        assert records[row["threads"], row["seed"]] == row["transactions"]


def test_a_workload_is_shown_with_its_parameters_checks_and_source(uncore):
    shown = uncore("show", "lock/ticket")
    assert shown.status == 0, shown.err
    assert "guarded" in shown.out and "another hart entered meanwhile" in shown.out
    document = json.loads(uncore("show", "lock/ticket", "--json").out)
    assert {parameter["name"] for parameter in document["parameters"]} == {
        parameter.name for parameter in find("lock/ticket").params
    }
    for check in document["checks"]:
        (file,) = Path(document["source"]).parents[1].rglob(check["file"])
        assert "uc_check" in file.read_text().splitlines()[check["line"] - 1]
    assert document["lines"] == len(Path(document["source"]).read_text().splitlines())
    assert "of machines" in uncore("show", "lock/ticket", "--keys").err


def test_completion_script_is_installed_where_the_shell_looks(uncore, monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("SHELL", "/bin/bash")
    assert uncore("--install-completion").status == 0
    (script,) = tmp_path.rglob("completions/uncore")
    assert "--facet" in script.read_text()


def test_csv_has_the_rows_of_json(uncore):
    arguments = ("run", "bus:2", "lock/tas", "--threads", "1,2", "--set", "ops=4")
    rows = json.loads(uncore(*arguments, "--csv", "r.csv", "--json").out)
    table = list(csv.DictReader(Path("r.csv").read_text().splitlines()))
    assert [row["seeds"] for row in table] == ["1 2 3"] * 2
    assert "runs" in rows[0] and "runs" not in table[0]
    for row, cells in zip(rows, table, strict=True):
        for name in ("threads", "throughput", "throughput_max", "set.ops", "result_hash"):
            assert cells[name] == str(row[name])
    compared = ("compare", "bus:2", "lock/tas", "lock/mcs", "--set", "ops=4", "--csv", "c.csv")
    (ratio,) = json.loads(uncore(*compared, "--json").out)["rows"]
    (line,) = csv.DictReader(Path("c.csv").read_text().splitlines())
    assert float(line["ratio"]) == ratio["ratio"] and line["threads"] == "1"

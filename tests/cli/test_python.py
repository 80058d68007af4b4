"""Do the functions of the module `uncore` do the same as the commands?"""

from __future__ import annotations

import importlib.util
import inspect
import subprocess
import sys
from pathlib import Path

import polars
import pytest

import uncore
from uncore.errors import UserError
from uncore.execution import keywords, request
from uncore.job import Job
from uncore.job.schema import options
from uncore.result.frame import write_csv

TINY = {"machine": "ccx:2x2", "workload": "lock/ticket", "threads": [1, 2], "ops": 20}


@pytest.fixture(scope="module")
def result():
    return uncore.run(**TINY, hold="50ns", seeds=(1, 2))


def test_every_public_name_is_defined():
    arguments = "run sweep matrix whatif explore lines show load save plot machines workloads"
    assert set(arguments.split()) <= set(dir(uncore))
    assert {name for name in dir(uncore) if name[0] != "_"} == set(uncore.__all__) - {"__version__"}
    assert all(getattr(uncore, name).__doc__ for name in uncore.__all__ if name[0] != "_")


def test_importing_uncore_loads_no_engine_and_no_library():
    loaded = "import sys, uncore; print(len({'numpy', 'msgspec', 'uncore.api'} & set(sys.modules)))"
    assert subprocess.check_output([sys.executable, "-c", loaded], text=True) == "0\n"


def test_package_is_marked_as_typed():
    assert Path(inspect.getfile(uncore)).with_name("py.typed").is_file()


@pytest.mark.parametrize("function", [uncore.run, uncore.sweep])
def test_every_option_of_a_job_is_a_keyword_with_its_default(function):
    parameters = inspect.signature(function).parameters
    for name, option in options(Job).items():
        if name == "seeds":  # None stands for the default seeds
            assert parameters[name].default is None
        else:
            assert (parameters[name].default or option.default) == option.default
        assert f"{name}: {option.about}" in function.__doc__


def test_every_annotated_keyword_is_an_option_of_a_job_or_of_its_execution():
    positional = {"self", "threads", "named"}
    assert keywords.SIGNATURE.parameters.keys() == {
        *options(Job),
        *keywords.EXECUTION_KEYWORDS,
        *positional,
    }


def test_omitted_keywords_have_the_defaults_of_a_job():
    job = uncore.run(**TINY, seeds=()).job
    assert (
        job
        == request.make_job(
            **{k: TINY[k] for k in TINY if k != "ops"}, parameters={"ops": 20}
        ).document()
    )
    (swept,) = uncore.sweep(
        **{f"{k}s" if k in ("machine", "workload") else k: v for k, v in TINY.items()}, seeds=()
    )
    assert swept.job == job


DISPLAY_PROGRAM = """
#include <stdio.h>
int main(int words, char **word) {
  char text[9] = "";
  FILE *file = fopen("/files/a.txt", "r");
  if (file)
    fgets(text, sizeof text, file);
  printf("%s %s", word[words - 1], text);
}
"""


def test_linux_program_receives_arguments_and_files(tmp_path):
    (tmp_path / "prints.c").write_text(DISPLAY_PROGRAM)
    (tmp_path / "files").mkdir()
    (tmp_path / "files/a.txt").write_text("held")
    linux_options = {"arguments": ["-t", "{threads}"], "seeds": (), "threads": [2]}
    program = tmp_path / "prints.c"
    costly_calls = uncore.run("bus:2", program, **linux_options, files=tmp_path / "files")
    free_calls = uncore.run(
        "bus:2", program, **linux_options, files={"a.txt": "held"}, system="free"
    )
    assert [result.points[0].output for result in (costly_calls, free_calls)] == ["2 held"] * 2
    assert free_calls.points[0].elapsed_ps < costly_calls.points[0].elapsed_ps


def test_machine_with_intervals_gives_intervals_of_throughput(tmp_path):
    (tmp_path / "m.toml").write_text(UNCERTAIN)
    arguments = {**TINY, "machine": str(tmp_path / "m.toml"), "seeds": (1,)}
    result = uncore.run(**arguments)
    assert [(interval.threads, interval.samples) for interval in result.intervals] == [
        (1, 10),
        (2, 10),
    ]
    for row in result.to_rows():
        assert row["throughput_low"] < row["throughput"] < row["throughput_high"]
    assert not uncore.run(**arguments, samples=0).intervals
    assert "4 of 5 machines" in result._repr_html_()
    uncore.save(result, tmp_path / "r.json")
    assert uncore.load(tmp_path / "r.json").intervals == result.intervals


UNCERTAIN = """
extends = "bus"
name = "guessed"
tree = "core:2 thread:1"
[core]
atomic = { value = "20cy", interval = ["10cy", "40cy"], source = "predicted: a" }
"""


def test_parameter_of_a_workload_may_be_a_keyword(result):
    with_parameters = uncore.run(**TINY, parameters={"hold": "50ns"}, seeds=(1, 2))
    assert dict(result.job["parameters"]) == {"hold": "50ns", "ops": "20"}
    assert with_parameters.result_hash == result.result_hash


def test_error_for_an_unknown_parameter_suggests_a_known_parameter():
    with pytest.raises(UserError, match="Did you mean 'hold'"):
        uncore.run(**TINY, holt="50ns")


def test_repr_of_a_result_is_a_single_line(result):
    text = f"<lock/ticket on ccx:2x2, threads 1 2, seeds 1 2: {result.result_hash[:16]}>"
    assert repr(result) == text


def test_notebook_shows_a_result_as_the_table_that_uncore_run_prints(result):
    html = result._repr_html_()
    assert "ops/s" in html
    assert html.startswith("<pre>")


def test_a_sweep_runs_all_combinations():
    several = uncore.sweep(
        "ccx:2x2",
        ["lock/ticket", "lock/mcs"],
        2,
        ops=20,
        hold=["0ns", "1us"],
        home=("node0", "interleave"),
        seeds=(),
    )
    combinations = several.to_polars().select("workload", "set.hold", "home").unique()
    assert (len(several), len(combinations)) == (8, 8)
    assert repr(several).startswith("<8 results:\n")


def test_saved_result_is_loaded(result, tmp_path):
    uncore.save(result, tmp_path / "result.json")
    assert uncore.load(tmp_path / "result.json").result_hash == result.result_hash


def test_lines_are_listed_by_their_share_of_the_critical_path(result, tmp_path, capsys):
    analysis = uncore.lines(result)
    rows = analysis.to_rows()
    assert rows[0]["critical_ns"] == max(row["critical_ns"] for row in rows) > 0
    assert repr(analysis) == "<lines of lock/ticket on ccx:2x2, 2 threads, seed 1>"
    uncore.show(analysis)
    assert rows[0]["object"] in capsys.readouterr().out
    analysis.plot(tmp_path / "lines.png")
    assert uncore.lines(result, threads=1, seed=2).observed.threads == 1


def test_result_of_an_observed_run_holds_its_observations():
    assert uncore.run(**TINY, seeds=(), observed=True).observed[-1].threads == 2


def test_matrix_converts_to_one_row_per_pair_of_harts():
    measured = uncore.matrix("bus:2")
    assert measured.to_polars().shape == (2, 4)
    assert repr(measured) == "<one-way latency on bus:2, 2 harts>"


def test_a_picture_is_shown_and_saved(result, tmp_path):
    drawn = result.plot(tmp_path / "result.png")
    assert (tmp_path / "result.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in drawn._repr_svg_()


@pytest.mark.parametrize("what", ["bus:2", "lock/ticket"])
def test_show_prints_a_machine_and_a_workload(what, capsys):
    uncore.show(what)
    assert what in capsys.readouterr().out


def test_machines_and_workloads_are_listed_with_one_line_descriptions():
    assert uncore.machines()["epyc7601x2"]
    assert "Ticket lock" in uncore.workloads()["lock/ticket"]


def test_results_convert_to_tables_of_other_libraries(result):
    if importlib.util.find_spec("pandas") is None:
        with pytest.raises(UserError, match="pip install pandas"):
            result.to_pandas()
        return
    assert len(result.to_pandas()) == len(result.to_polars()) == 4
    if importlib.util.find_spec("xarray"):
        assert dict(result.to_xarray().sizes) == {"threads": 2, "seed": 2}


def test_column_that_a_row_does_not_have_is_null():
    results = uncore.sweep(["bus:2", "ccx:2x2"], "lock/ticket", [2], ops=20, seeds=())
    assert isinstance(results.to_polars(), polars.DataFrame)
    assert results.to_polars()["transfers.ccx"].null_count() == 1


def test_csv_has_all_columns_including_lists(tmp_path):
    result = uncore.run("bus:2", "lock/tas", [1, 2], ops=4, seeds=(1, 2))
    result.write_csv(tmp_path / "r.csv")
    table = polars.read_csv(tmp_path / "r.csv")
    assert table["throughput"].to_list() == result.to_polars()["throughput"].to_list()
    assert table["thread_ops"].to_list() == ["4", "4", "4 4", "4 4"]
    write_csv([{"a": '"x, y"\n', "b": [{"c": 1}], "d": None}, {"e": ()}], tmp_path / "odd.csv")
    assert (tmp_path / "odd.csv").read_text() == 'a,d,e\n"""x, y""\n",,\n,,\n'

"""Does a saved run have the same result as an uninterrupted one, in whatever process it
continues?
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from uncore import _native
from uncore.api import load_result
from uncore.errors import UserError
from uncore.execution.execute import execute
from uncore.execution.request import make_job
from uncore.execution.saved_run import resume_saved, save

pytestmark = pytest.mark.skipif(
    _native.Arena.make() is None, reason="sanitizers keep their own memory"
)

# Machines of various shapes, kinds of cores and protocols, with programs that lock, sleep, send
# interrupts and perform far atomics.
RUNS = {
    "bus": ("bus:4", "lock/mcs", 4, {}),
    "siblings": ("x6130x2", "lock/ticket", 24, {"placement": "siblings"}),
    "chiplets": ("epyc7601x2", "counter/contended", 20, {}),
    "kinds": ("i912900k", "lock/ticket", 12, {}),
    "far": ("graviton2", "counter/contended", 12, {}),
    "interrupts": ("ring:8", "ipi/storm", 8, {}),
    "first touch": ("opteron6168x4", "lock/cna", 16, {"home": "first-touch"}),
}


def job(name, seeds=(1,), **parameters):
    machine, workload, threads, policies = RUNS[name]
    return make_job(machine, workload, threads, seeds=seeds, parameters=parameters, **policies)


CONTINUE_SCRIPT = """
import sys, pathlib
from uncore.execution.saved_run import resume_saved
for line in sys.stdin:
    print(resume_saved(pathlib.Path(line.strip()), {}).result_hash, flush=True)
"""


@pytest.fixture(scope="module")
def continue_in_other_process() -> Iterator[Callable[[Path], str]]:
    """Returns a function that continues a saved run in another process and returns its hash. That
    process did not begin the run, so it has only what was saved.
    """
    with subprocess.Popen(
        [sys.executable, "-c", CONTINUE_SCRIPT],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        bufsize=1,
    ) as process:
        assert process.stdin and process.stdout
        input_, output_ = process.stdin, process.stdout

        def ask(state: Path) -> str:
            input_.write(f"{state}\n")
            return output_.readline().strip()

        yield ask


@pytest.mark.parametrize("seeds", [(), (3,)], ids=["lockstep", "seed"])
@pytest.mark.parametrize("when", ["begin", 3_000_000])
@pytest.mark.parametrize("name", RUNS)
def test_continued_run_has_the_result_of_an_uninterrupted_run(
    tmp_path, continue_in_other_process, name, when, seeds
):
    uninterrupted = execute([job(name, seeds)])[0]
    saved = save(job(name, seeds), when, tmp_path / "state")
    assert saved.result_hash == uninterrupted.result_hash
    assert continue_in_other_process(tmp_path / "state") == uninterrupted.result_hash


def test_run_command_saves_a_state_and_continues_from_it(tmp_path):
    arguments = [sys.executable, "-m", "uncore", "run"]
    run = "bus:4 lock/mcs --threads 4 --seed 7 --repeat 1 --output a.json".split()
    state = "--save-at begin --state it.state".split()
    subprocess.run([*arguments, *run, *state], cwd=tmp_path, check=True, stdout=subprocess.DEVNULL)
    continued = "--from it.state --output b.json".split()
    subprocess.run([*arguments, *continued], cwd=tmp_path, check=True, stdout=subprocess.DEVNULL)
    uninterrupted = execute([make_job("bus:4", "lock/mcs", 4, seeds=(7,))])[0]
    hashes = {load_result(tmp_path / name).result_hash for name in ("a.json", "b.json")}
    assert hashes == {uninterrupted.result_hash}


def test_saved_run_may_continue_with_another_parameter(tmp_path):
    """The guest reads the changed value after the moment at which the run was saved."""
    save(job("bus"), "begin", tmp_path / "state")
    rates = []
    for hold in ("10ns", "400ns"):
        result = resume_saved(tmp_path / "state", {"hold": hold})
        assert ("hold", hold) in [tuple(pair) for pair in result.job["parameters"]]
        assert result.job["since"][0] > 0
        rates.append(result.points[0].throughput)
    assert rates[0] > 2 * rates[1]


def test_a_run_that_ends_before_the_time_of_saving_is_not_saved(tmp_path):
    with pytest.raises(UserError, match="the run ended before"):
        save(job("bus"), 10**15, tmp_path / "state")
    assert not (tmp_path / "state").exists()


def truncate(state: Path) -> None:
    state.write_bytes(state.read_bytes()[:-20])


@pytest.mark.parametrize("damage", [truncate, lambda state: state.write_text("no state")])
def test_damaged_saved_run_is_refused(tmp_path, damage):
    save(job("bus"), "begin", tmp_path / "state")
    damage(tmp_path / "state")
    with pytest.raises(UserError, match="not a saved run"):
        resume_saved(tmp_path / "state", {})


def test_run_saved_by_another_copy_of_uncore_is_refused(tmp_path, monkeypatch):
    save(job("bus"), "begin", tmp_path / "state")
    monkeypatch.setattr("uncore.engine.copy.content", lambda: "another")
    with pytest.raises(UserError, match="another copy of uncore"):
        resume_saved(tmp_path / "state", {})

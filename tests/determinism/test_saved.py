"""Does a saved run end like one that was not interrupted, in whatever process it continues?"""

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

# Various shapes, kinds of cores, siblings and protocols; programs that lock, sleep, interrupt and
# send messages.
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


TAKE_UP = """
import sys, pathlib
from uncore.execution.saved_run import resume_saved
for line in sys.stdin:
    print(resume_saved(pathlib.Path(line.strip()), {}).result_hash, flush=True)
"""


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[Callable[[Path], str]]:
    """Returns a function that continues a saved run in another process and gives its hash. That
    process never began the run, so it has nothing of it but what was saved.
    """
    with subprocess.Popen(
        [sys.executable, "-c", TAKE_UP],
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
def test_continued_saved_run_ends_as_an_uninterrupted_one(tmp_path, elsewhere, name, when, seeds):
    through = execute([job(name, seeds)])[0]
    saved = save(job(name, seeds), when, tmp_path / "state")
    assert saved.result_hash == through.result_hash
    assert elsewhere(tmp_path / "state") == through.result_hash


def test_run_command_saves_a_state_and_continues_from_it(tmp_path):
    arguments = [sys.executable, "-m", "uncore", "run"]
    run = "bus:4 lock/mcs --threads 4 --seed 7 --repeat 1 --output a.json".split()
    state = "--save-at begin --state it.state".split()
    subprocess.run([*arguments, *run, *state], cwd=tmp_path, check=True, stdout=subprocess.DEVNULL)
    more = "--from it.state --output b.json".split()
    subprocess.run([*arguments, *more], cwd=tmp_path, check=True, stdout=subprocess.DEVNULL)
    through = execute([make_job("bus:4", "lock/mcs", 4, seeds=(7,))])[0]
    hashes = {load_result(tmp_path / name).result_hash for name in ("a.json", "b.json")}
    assert hashes == {through.result_hash}


def test_variants_of_a_saved_run_equal_runs_from_the_start(tmp_path):
    """Values that the guest reads after the saved moment act as if they had been set from the
    start.
    """
    save(job("bus"), "begin", tmp_path / "state")
    rates = []
    for hold in ("10ns", "400ns"):
        result = resume_saved(tmp_path / "state", {"hold": hold})
        assert ("hold", hold) in [tuple(pair) for pair in result.job["parameters"]]
        assert result.job["since"][0] > 0
        rates.append(result.points[0].throughput)
    assert rates[0] > 2 * rates[1]


def test_a_run_that_ends_before_cannot_be_saved(tmp_path):
    with pytest.raises(UserError, match="the run ended before"):
        save(job("bus"), 10**15, tmp_path / "state")
    assert not (tmp_path / "state").exists()


def spoilt(state: Path) -> None:
    state.write_bytes(state.read_bytes()[:-20])


@pytest.mark.parametrize("spoil", [spoilt, lambda state: state.write_text("no state")])
def test_file_that_is_no_saved_run_is_refused(tmp_path, spoil):
    save(job("bus"), "begin", tmp_path / "state")
    spoil(tmp_path / "state")
    with pytest.raises(UserError, match="not a saved run"):
        resume_saved(tmp_path / "state", {})


def test_another_copy_of_uncore_is_refused(tmp_path, monkeypatch):
    save(job("bus"), "begin", tmp_path / "state")
    monkeypatch.setattr("uncore.engine.copy.content", lambda: "another")
    with pytest.raises(UserError, match="another copy of uncore"):
        resume_saved(tmp_path / "state", {})

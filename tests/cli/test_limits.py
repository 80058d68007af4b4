"""Is a run that would not end stopped with a message that names the limit, and are its finished
points kept?
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.support.runs import guest

from uncore import engine
from uncore.engine import limits
from uncore.errors import GuestError, UserError
from uncore.execution import request
from uncore.execution.execute import execute
from uncore.result import load
from uncore.study import matrix as matrices


def run(name: str = "native", n: int = 2, program: Any = None, **limits: str) -> dict[str, Any]:
    job = request.make_job("bus:2", program or guest("endless"), [n], engine=name)
    return engine.run(job, frozenset(), engine_options=limits)


@pytest.mark.parametrize("name", ["native", "reference"])
@pytest.mark.parametrize("harts", [1, 2])
def test_program_that_never_ends_is_stopped_at_the_limit_of_simulated_time(name, harts):
    expected = r"endless: --max-time 20us: not ended after .* s of simulated time, with \d+ oper"
    with pytest.raises(GuestError, match=expected):
        run(name, harts, max_time="20us")


def test_max_memory_also_limits_the_memory_of_the_simulator(monkeypatch):
    """The limit also applies to the memory that the simulator itself uses for a program, which is
    measured as the growth of its process.
    """
    resident_bytes = iter(range(0, 1 << 60, 1 << 30))
    monkeypatch.setattr("uncore.engine.limits.resident_bytes", lambda: next(resident_bytes))
    expected = r"--max-memory 16MiB: not ended after 0 MiB touched, and \d+ MiB of this computer's"
    with pytest.raises(GuestError, match=expected):
        run(max_memory="16MiB")


def test_simulator_memory_per_touched_byte_stays_below_its_bound():
    """The simulator needs the most memory for lines that are in caches of three levels."""
    program = Path(__file__).parents[1] / "support/programs/endless.c"
    arguments = f"run ccx:1x1 {program} --set bytes=64 --seed none --max-time none --max-memory"
    costs = {}
    for limit_mib in (2, 10):
        command = [sys.executable, "-m", "uncore", *arguments.split(), f"{limit_mib}MiB"]
        output = subprocess.run(command, capture_output=True, text=True, check=False).stderr
        counts = re.search(r"(\d+) MiB touched, and (\d+) MiB of this computer's", output)
        assert counts, output
        touched, resident_bytes = counts.groups()
        costs[int(touched)] = int(resident_bytes)
    (few_mib, few_cost), (many_mib, many_cost) = sorted(costs.items())
    assert 0 < many_cost - few_cost <= limits.HOST_BYTES_PER_BYTE * (many_mib - few_mib)


@pytest.mark.parametrize("name", ["native", "reference"])
def test_program_that_allocates_for_ever_is_stopped_at_the_limit_of_memory(name):
    job = request.make_job("bus:2", guest("endless"), [2], engine=name, parameters={"bytes": "64"})
    with pytest.raises(GuestError, match=r"--max-memory 96KiB: not ended after \d+ MiB touched"):
        engine.run(job, frozenset(), engine_options={"max_memory": "96KiB"})


def test_max_host_limits_host_time():
    with pytest.raises(GuestError, match=r"--max-host 10ms: .* of this computer's time"):
        run(max_host="10ms")


def test_limit_of_simulated_time_is_checked_at_the_end_of_a_run(monkeypatch):
    """A slice is made longer than the run, so only the check at the end of the run can stop it."""
    monkeypatch.setattr("uncore.engine.native.MAX_STEP_EVENTS", 1 << 40)
    with pytest.raises(GuestError, match="--max-time 1ns"):
        run(program="counter/atomic", max_time="1ns")


def test_limits_that_are_not_reached_do_not_change_the_result():
    assert run(program="counter/atomic") == run(
        program="counter/atomic", max_time="50us", max_memory="10MiB", max_host="1000s"
    )


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        ({"max_time": "5"}, "--max-time 5: expected a duration above zero"),
        ({"max_host": "1h"}, "--max-host 1h: expected a duration above zero"),
        ({"max_memory": "much"}, "--max-memory much: expected a size"),
        ({"max_time": "99999999s"}, "--max-time 99999999s: expected at most 4611686s"),
    ],
)
def test_invalid_limit_is_refused(limits, expected):
    with pytest.raises(UserError, match=expected):
        run(program="counter/atomic", **limits)


def test_points_finished_before_the_limit_are_kept(uncore):
    arguments = "run bus:2 counter/atomic --threads 1,2 --seed none --max-time 40us --output r.json"
    run = uncore(*arguments.split(), "--set", "ops=1000")
    assert run.status == 1
    assert "bus:2 at 2 threads: counter/atomic: --max-time 40us" in run.err
    result = load(Path("r.json"))
    assert (result.outcome.partial, [point.threads for point in result.points]) == (True, [1])


def test_ctrl_c_ends_a_run_with_a_single_hart():
    """A single hart executes a whole slice in one event, so signals must be checked between
    slices.
    """
    job = request.make_job("bus:1", guest("endless"), [1])
    threading.Timer(1, os.kill, (os.getpid(), signal.SIGINT)).start()
    result = execute([job], engine_options={"max_time": "none"})[0]
    assert not result.points


# ---- A matrix that is interrupted ----------------------------------------------------------------


def csv_cells(name: str) -> list[list[str]]:
    return [line.split(",") for line in Path(name).read_text().splitlines()]


def test_matrix_stopped_by_a_limit_prints_and_writes_its_measured_pairs(uncore):
    assert uncore("matrix", "bus:8", "--csv", "whole.csv").status == 0
    run = uncore("matrix", "bus:8", "--csv", "part.csv", "--max-time", "100us")
    assert run.status == 1
    assert "--max-time 100us" in run.err
    pairs = int(run.err.partition(" of 56 pairs measured")[0].split()[-1])
    whole, part = csv_cells("whole.csv"), csv_cells("part.csv")
    assert 0 < pairs == sum(cell not in ("", "0.000") for row in part for cell in row) < 56
    for before, row in zip(whole, part, strict=True):
        assert all(cell in ("", full) for full, cell in zip(before, row, strict=True))
    assert "median ns" in run.out


def test_message_of_an_interrupted_matrix_counts_its_measured_pairs(uncore, monkeypatch):
    monkeypatch.setattr("uncore.engine.native.MAX_STEP_EVENTS", 5_000)
    monkeypatch.setattr(matrices, "progress", lambda *_: InterruptingBar())
    run = uncore("matrix", "bus:8", "--seed", "none", "--csv", "m.csv")
    assert run.status == 130
    assert re.search(r"uncore: interrupted, \d+ of 56 pairs measured", run.err)
    assert any("" in row for row in csv_cells("m.csv"))


class InterruptingBar:
    """A progress bar that raises KeyboardInterrupt after 500 round trips."""

    def __enter__(self) -> Callable[[int], None]:
        steps_done = 0

        def advance(steps: int) -> None:
            nonlocal steps_done
            steps_done += steps
            if steps_done > 500:
                raise KeyboardInterrupt

        return advance

    def __exit__(self, *_: object) -> None:
        pass


ONCE = "counter/atomic --set ops=10 --seed none"
EXECUTE = {
    "run": f"run bus:2 {ONCE}",
    "again": "run --again r.json",
    "save": f"run bus:2 {ONCE} --save-at begin --state late",
    "from": "run --from s",
    "free": f"run bus:2 {ONCE} --free *counter",
    "lines": "lines r.json",
    "compare": f"compare bus:2 ring:2 {ONCE}",
    "compare results": "compare r.json r.json",
    "conflicts": f"conflicts {ONCE} --machine bus:2 --threads 2",
    "whatif": f"whatif bus:2 {ONCE} --threads 2",
    "matrix": "matrix bus:2",
    "fences": "fences counter/percpu bus:2 --threads 2 --seeds 1 --at-once",
}


@pytest.mark.parametrize("name", EXECUTE)
def test_every_command_that_executes_a_run_accepts_limits(uncore, name):
    arguments = EXECUTE[name].split()
    for file, option in (("r.json", "--output"), ("s", "--save-at begin --state")):
        if file in arguments:
            assert uncore(*f"run bus:2 {ONCE} {option} {file}".split()).status == 0
    given_up = uncore(*arguments, "--max-time", "1ns")
    assert "--max-time 1ns: not ended after" in given_up.out + given_up.err
    assert uncore(*arguments, "--max-time", "1s").status == 0


def test_search_for_reorderings_obeys_the_limit(uncore):
    program = str(guest("endless").path)
    ended = uncore("run", "bus:2", program, "--order", "weak", "--max-time", "20us")
    assert ended.status == 1
    assert "fails with seeds 1, 2, 3: rerun with --seed 1" in ended.err

"""Can a lock be measured alone: without guarded lines, after a warm-up, and with an exact hold?"""

from __future__ import annotations

from typing import Any

import pytest
from tests.support import runs

from uncore.engine import native
from uncore.execution import request
from uncore.program import shipped
from uncore.support import paths
from uncore.topology import load

OPTIONS = {"warmup", "spin"}
WITH_WARMUP_AND_SPIN = [p.name for p in shipped() if {q.name for q in p.params} >= OPTIONS]
GUARDED = [p.name for p in shipped() if "guarded" in {q.name for q in p.params}]
GUARDING = [name for name in GUARDED if name != "lock/empty"]


def hot_objects(point: dict[str, Any], least: int) -> list[str]:
    """Returns the names of the objects in lines that were fetched at least `least` times."""
    hot = {address for address, transfers in point["lines"] if transfers >= least}
    return [name for address, name in point["names"] if address in hot]


@pytest.mark.parametrize("name", WITH_WARMUP_AND_SPIN)
def test_every_lock_workload_runs_without_guarded_lines(name: str) -> None:
    settings = {"ops": 20, "warmup": "2us", "spin": "time", "hold": "20ns", "think": "30ns"}
    if name in GUARDED:
        settings["guarded"] = 0
    point = runs.point("ccx:2x2", name, 4, **settings)
    assert (point["failures"], point["thread_ops"]) == ([], [20] * 4)


@pytest.mark.parametrize("lines", [0, 1, 3])
@pytest.mark.parametrize("name", GUARDING)
def test_every_workload_passes_with_any_number_of_guarded_lines(name: str, lines: int) -> None:
    warmup = {"warmup": "1us"} if name in WITH_WARMUP_AND_SPIN else {}
    point = runs.point("ccx:2x2", name, 4, ops=20, guarded=lines, **warmup)
    assert point["failures"] == []


@pytest.mark.parametrize("name", ["lock/rwlock", "lock/sx", "lock/mtx_def"])
def test_without_guarded_lines_only_the_lines_of_the_lock_move(name: str) -> None:
    with_lines, without = (
        hot_objects(runs.point("ccx:2x2", name, 4, ops=50, guarded=lines), least=3)
        for lines in (2, 0)
    )
    assert "guarded+0x80" in with_lines and "guarded+0x80" not in without


@pytest.mark.parametrize(("lines", "expected"), [(0, 1), (1, 2), (4, 5)])
def test_guarded_lines_move_as_often_as_the_lock(lines: int, expected: int) -> None:
    point = runs.point("mesh:2x2", "lock/ticket_packed", 4, ops=100, guarded=lines)
    assert len(hot_objects(point, least=150)) == expected


def test_broken_lock_is_noticed_with_several_guarded_lines(compile_guest) -> None:
    broken = compile_guest(paths.WORKLOADS / "lock/mcs.c", "UC_SABOTAGE=1")
    job = request.make_job("ccx", broken, (4,), parameters={"guarded": "3", "warmup": "1us"})
    assert native.run(job, frozenset())["failures"]


def test_warm_up_is_not_part_of_the_measured_time() -> None:
    cold, warm = (
        runs.point("mesh:2x2", "lock/mcs", 4, ops=50, warmup=time) for time in ("0", "50us")
    )
    assert cold["thread_ops"] == warm["thread_ops"] == [50] * 4
    assert warm["instructions"] > 2 * cold["instructions"]
    assert warm["elapsed_ps"] == pytest.approx(cold["elapsed_ps"], rel=0.1)


@pytest.mark.parametrize("machine", ["x8180x2", "epyc7601x2"])
def test_hold_lasts_as_long_as_requested(machine: str) -> None:
    def per_operation(spin: str, hold: str) -> float:
        point = runs.point(machine, "lock/empty", 1, ops=100, spin=spin, hold=hold)
        return point["elapsed_ps"] / point["ops"] / 1000

    spun = per_operation("time", "400ns") - per_operation("time", "0")
    assert 400 <= spun < 415  # in ns, including two reads of the clock
    paused = per_operation("delay", "400ns") - per_operation("time", "400ns")
    pause = load(machine).core.pause / 1000
    assert paused == pytest.approx(pause, abs=20)


def test_random_delays_cost_no_instructions() -> None:
    """With this seed hart 0 ends last. Otherwise it would spin until the others end, which costs
    instructions.
    """
    few_pauses, many_pauses = (
        runs.point("x8180x2", "lock/event_mutex", 2, ops=50, pauses=pauses, seeds=(4,))
        for pauses in (50, 5000)
    )
    assert many_pauses["elapsed_ps"] > 40 * few_pauses["elapsed_ps"]
    assert many_pauses["instructions"] < 2 * few_pauses["instructions"]


@pytest.mark.parametrize("rounds", [0, 2, 8])
@pytest.mark.parametrize("attempt", ["cas", "swap"])
def test_event_mutex_loses_no_waiter_if_an_exchange_overwrites_its_flag(
    attempt: str, rounds: int
) -> None:
    """An exchange overwrites the flag that a hart waits for the event, so the flag must be set
    again.
    """
    point = runs.point("ccx:2x2", "lock/event_mutex", 4, ops=200, rounds=rounds, attempt=attempt)
    assert point["failures"] == []

"""Do the harts work with a memory that answers later (sim/native/async), as SST's memory does?

The memory here is flat. A request reaches it after a delay, and the answer takes as long. A
store-conditional fails if another hart has written the line in the meantime. Every program checks
itself, so that a lost update, a torn record or a late wake-up makes it fail.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from uncore._doubles import DelayedMachine

from uncore import api
from uncore.engine import initial_memory, seeded
from uncore.engine.sst import read
from uncore.engine.sst.engine import FEATURES
from uncore.engine.sst.parameters import SstParts
from uncore.errors import GuestError
from uncore.execution.request import make_job
from uncore.job import Job
from uncore.program import readback

LINK = 20_000  # latency in ps of a message between two harts
ACCESS = 5_000  # latency in ps of a message from a hart to memory
LIMIT = 10**10  # limit in ps, which is longer than any run
PROGRAMS = {
    "counter/atomic": {"ops": "50"},
    "counter/cas": {"ops": "50"},
    "counter/percpu": {"ops": "50"},
    "lock/ticket": {"ops": "20"},
    "lock/mcs": {"ops": "20"},
    "lock/sx": {"ops": "20"},
    "refcount/atomic": {"ops": "20"},
    "refcount/lockref": {"ops": "20"},
    "epoch/ebr": {"ops": "5"},
}
INTERRUPTS = {
    "ipi/pingpong": {"rounds": "5", "pairs": "one"},
    "ipi/shootdown": {"ops": "5"},
}
BEGIN_TIME = re.compile(r"^uc: hart=\d+ .* begin=(\d+) ", re.MULTILINE)
REPORT = re.compile(r"^uncore: hart=.*$", re.MULTILINE)
# accesses in one iteration of the loop in which a program waits for its start
ACCESSES_PER_ITERATION = 5
RETRIES = re.compile(r" retries=(\d+) ")


def job(workload: str, threads: int, **parameters: str) -> Job:
    return make_job("bus:4", workload, [threads], parameters=parameters, engine="sst")


def machine(a_job: Job, folder: Path, delays: list[int] | None = None, **changed: int) -> Any:
    """Returns a machine with the job's harts and the parameters that SST would get. `changed`
    replaces some of them.
    """
    hart_count = a_job.threads[0]
    program = folder / "program.elf"
    program.write_bytes(initial_memory.elf(a_job, FEATURES))
    harts = []
    for hart in range(hart_count):
        parameters = SstParts(a_job.machine).hart(hart, hart_count, "", a_job.watchdog)
        harts.append(
            {name: value for name, value in parameters.items() if name != "program"} | changed
        )
    return DelayedMachine(str(program), harts, delays or [ACCESS] * hart_count, LINK)


def outcome_fields(a_job: Job, text: str, folder: Path) -> dict[str, Any]:
    """Writes the reports of the harts, which are in the printed text, to files. Returns the fields
    of the run's outcome.
    """
    for hart, report in enumerate(REPORT.findall(text)):
        (folder / f"hart{hart}.txt").write_text(report)
    return read.point(a_job, text, folder)


def run_and_compare(workload: str, threads: int, folder: Path, **parameters: str) -> str:
    """Runs the workload and checks that its results equal those of the native engine. Returns the
    printed text.
    """
    a_job = job(workload, threads, **parameters)
    simulated = machine(a_job, folder)
    text = simulated.run(LIMIT)
    fields = outcome_fields(a_job, text, folder)
    (point,) = api.run("bus:4", workload, [threads], parameters=parameters, seeds=()).outcome.points
    assert fields["failures"] == point.failures == []
    assert fields["thread_ops"] == point.thread_ops
    assert fields["tables"].keys() == point.tables.keys()
    records = readback.records(a_job.program, simulated.read, threads)
    assert records == readback.records_from_text(text)
    return text


@pytest.mark.parametrize("threads", [1, 2, 4])
@pytest.mark.parametrize("workload", PROGRAMS)
def test_programs_have_the_results_of_the_native_engine(
    workload: str, threads: int, tmp_path: Path
) -> None:
    run_and_compare(workload, threads, tmp_path, **PROGRAMS[workload])


@pytest.mark.parametrize("threads", [2, 4])
@pytest.mark.parametrize("workload", INTERRUPTS)
def test_interrupts_reach_other_harts(workload: str, threads: int, tmp_path: Path) -> None:
    run_and_compare(workload, threads, tmp_path, **INTERRUPTS[workload])


def test_contended_store_conditionals_fail_and_are_repeated(tmp_path: Path) -> None:
    """The SCs of a single hart never fail. Most SCs of four harts with equal delays fail, but no
    addition is lost.
    """
    a_job = job("counter/atomic", 1, ops="50")
    single = machine(a_job, tmp_path)
    assert RETRIES.findall(single.run(LIMIT)) == ["0"] and single.failures == 0
    contended = machine(job("counter/atomic", 4, ops="50"), tmp_path)
    retries = sum(map(int, RETRIES.findall(contended.run(LIMIT))))
    assert contended.failures == retries > 100


def test_failed_scs_of_a_programs_own_loop_are_repeated_by_the_program(tmp_path: Path) -> None:
    """The workload has no AMO, which the hart would repeat. The workload's own loop repeats the LR
    and the SC.
    """
    simulated = machine(job("counter/cas", 4, ops="50"), tmp_path)
    text = simulated.run(LIMIT)
    retries = sum(map(int, RETRIES.findall(text)))
    assert simulated.failures > retries


def test_harts_with_different_memory_delays_lose_no_updates(tmp_path: Path) -> None:
    for delays in ([1, 40_000, 3_000, 700], [9_000, 2, 9_000, 50_000]):
        a_job = job("lock/mcs", 4, ops="20")
        text = machine(a_job, tmp_path, delays).run(LIMIT)
        assert outcome_fields(a_job, text, tmp_path)["failures"] == []


def test_equal_runs_print_equal_text(tmp_path: Path) -> None:
    a_job = job("refcount/atomic", 4, ops="20")
    assert machine(a_job, tmp_path).run(LIMIT) == machine(a_job, tmp_path).run(LIMIT)


@pytest.mark.parametrize("workload", PROGRAMS)
def test_each_harts_start_is_delayed_by_its_own_drawn_time(workload: str, tmp_path: Path) -> None:
    """V3: each hart enters the region of interest later by its drawn time, and does the same work
    there.
    """
    lockstep = job(workload, 4, **PROGRAMS[workload])
    undelayed = begin_times(machine(lockstep, tmp_path).run(LIMIT))
    for seed in (1, 2):
        drawn = replace(lockstep, seeds=(seed,))
        text = machine(drawn, tmp_path).run(LIMIT)
        for hart, begin in enumerate(begin_times(text)):
            deviation = begin - undelayed[hart] - seeded.start(drawn, hart) / 1000
            assert 0 <= deviation <= ACCESSES_PER_ITERATION * 2 * ACCESS / 1000
        assert outcome_fields(drawn, text, tmp_path)["failures"] == []


def begin_times(text: str) -> list[int]:
    return [int(time) for time in BEGIN_TIME.findall(text)]


def test_a_larger_store_buffer_hides_more_of_the_delay_of_stores_than_a_smaller_one(
    tmp_path: Path,
) -> None:
    a_job = job("counter/percpu", 2, ops="50")
    times = [
        outcome_fields(a_job, machine(a_job, tmp_path, stores=entries).run(LIMIT), tmp_path)[
            "elapsed_ps"
        ]
        for entries in (1, 8)
    ]
    assert times[0] > times[1]


def test_watchdog_ends_a_run_without_operations(tmp_path: Path) -> None:
    a_job = job("lock/ticket", 2, ops="20")
    text = machine(a_job, tmp_path, watchdog=1000).run(LIMIT)
    with pytest.raises(GuestError, match="did no operation in 100 simulated ms"):
        outcome_fields(a_job, text, tmp_path)


def test_message_names_a_program_that_cannot_be_read(tmp_path: Path) -> None:
    program = tmp_path / "program.elf"
    with pytest.raises(RuntimeError, match=r"program\.elf: cannot be read; it is the program to"):
        DelayedMachine(str(program), [], [], LINK)
    program.write_bytes(b"\x7fELF")
    with pytest.raises(RuntimeError, match=r"program\.elf: ends within its headers"):
        DelayedMachine(str(program), [], [], LINK)


def test_message_names_a_missing_parameter(tmp_path: Path) -> None:
    with pytest.raises(KeyError, match="harts"):
        DelayedMachine(str(tmp_path), [{"id": 0}], [ACCESS], LINK)

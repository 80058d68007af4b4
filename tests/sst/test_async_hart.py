"""Do our harts work with a memory that answers later (sim/native/async), as SST's does?

The memory here is flat: a request takes a delay to reach it, and the answer takes as long. A
store-conditional fails if another hart has written the line meanwhile. Every program checks itself,
so that a lost update, a torn record or a late wake-up makes it fail.
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
from uncore.engine.sst.engine import CAN
from uncore.engine.sst.parameters import SstParts
from uncore.errors import GuestError
from uncore.execution.request import make_job
from uncore.job import Job
from uncore.program import readback

LINK = 20_000  # latency in ps of a message between two harts
ACCESS = 5_000  # latency in ps of a message from a hart to memory
LIMIT = 10**10  # ps; longer than any run
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
BEGIN = re.compile(r"^uc: hart=\d+ .* begin=(\d+) ", re.MULTILINE)
REPORT = re.compile(r"^uncore: hart=.*$", re.MULTILINE)
WAITS = 5  # accesses in one iteration of the loop in which the program waits
RETRIES = re.compile(r" retries=(\d+) ")


def job(workload: str, threads: int, **parameters: str) -> Job:
    return make_job("bus:4", workload, [threads], parameters=parameters, engine="sst")


def machine(a_job: Job, folder: Path, delays: list[int] | None = None, **changed: int) -> Any:
    """Makes a machine with the job's harts and the parameters that SST would get; `changed`
    replaces some.
    """
    count = a_job.threads[0]
    program = folder / "program.elf"
    program.write_bytes(initial_memory.elf(a_job, CAN))
    harts = []
    for number in range(count):
        named = SstParts(a_job.machine).hart(number, count, "", a_job.watchdog)
        harts.append({name: value for name, value in named.items() if name != "program"} | changed)
    return DelayedMachine(str(program), harts, delays or [ACCESS] * count, LINK)


def left(a_job: Job, text: str, folder: Path) -> dict[str, Any]:
    """Returns the fields of a run that printed `text`, whose harts have each written a report to a
    file.
    """
    for number, counted in enumerate(REPORT.findall(text)):
        (folder / f"hart{number}.txt").write_text(counted)
    return read.point(a_job, text, folder)


def agree(workload: str, threads: int, folder: Path, **parameters: str) -> str:
    """Runs the workload, checks that it does the same as on the native engine, and returns what it
    prints.
    """
    a_job = job(workload, threads, **parameters)
    simulated = machine(a_job, folder)
    text = simulated.run(LIMIT)
    fields = left(a_job, text, folder)
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
    agree(workload, threads, tmp_path, **PROGRAMS[workload])


@pytest.mark.parametrize("threads", [2, 4])
@pytest.mark.parametrize("workload", INTERRUPTS)
def test_interrupts_reach_other_harts(workload: str, threads: int, tmp_path: Path) -> None:
    agree(workload, threads, tmp_path, **INTERRUPTS[workload])


def test_contended_store_conditionals_fail_and_are_repeated(tmp_path: Path) -> None:
    """The SCs of a lone hart never fail. Most SCs of four harts with equal delays do, but no
    addition is lost.
    """
    a_job = job("counter/atomic", 1, ops="50")
    alone = machine(a_job, tmp_path)
    assert RETRIES.findall(alone.run(LIMIT)) == ["0"] and alone.failures == 0
    contended = machine(job("counter/atomic", 4, ops="50"), tmp_path)
    retries = sum(map(int, RETRIES.findall(contended.run(LIMIT))))
    assert contended.failures == retries > 100


def test_lr_and_sc_of_a_program_fail_and_are_repeated(tmp_path: Path) -> None:
    """The workload has no AMO, which the hart would repeat; its own loop repeats the LR and
    the SC.
    """
    simulated = machine(job("counter/cas", 4, ops="50"), tmp_path)
    text = simulated.run(LIMIT)
    retries = sum(map(int, RETRIES.findall(text)))
    assert simulated.failures > retries


def test_harts_with_different_memory_delays_lose_no_updates(tmp_path: Path) -> None:
    for delays in ([1, 40_000, 3_000, 700], [9_000, 2, 9_000, 50_000]):
        a_job = job("lock/mcs", 4, ops="20")
        text = machine(a_job, tmp_path, delays).run(LIMIT)
        assert left(a_job, text, tmp_path)["failures"] == []


def test_equal_runs_print_equal_text(tmp_path: Path) -> None:
    a_job = job("refcount/atomic", 4, ops="20")
    assert machine(a_job, tmp_path).run(LIMIT) == machine(a_job, tmp_path).run(LIMIT)


@pytest.mark.parametrize("workload", PROGRAMS)
def test_each_hart_starts_late_by_its_own_drawn_time(workload: str, tmp_path: Path) -> None:
    """V3: each hart enters the region of interest later by its drawn time, and does the same work
    in it.
    """
    together = job(workload, 4, **PROGRAMS[workload])
    early = begins(machine(together, tmp_path).run(LIMIT))
    for seed in (1, 2):
        drawn = replace(together, seeds=(seed,))
        text = machine(drawn, tmp_path).run(LIMIT)
        for hart, begin in enumerate(begins(text)):
            late = begin - early[hart] - seeded.start(drawn, hart) / 1000
            assert 0 <= late <= WAITS * 2 * ACCESS / 1000
        assert left(drawn, text, tmp_path)["failures"] == []


def begins(text: str) -> list[int]:
    return [int(time) for time in BEGIN.findall(text)]


def test_longer_store_buffer_hides_delay_of_stores(tmp_path: Path) -> None:
    a_job = job("counter/percpu", 2, ops="50")
    times = [
        left(a_job, machine(a_job, tmp_path, stores=entries).run(LIMIT), tmp_path)["elapsed_ps"]
        for entries in (1, 8)
    ]
    assert times[0] > times[1]


def test_watchdog_ends_a_run_without_operations(tmp_path: Path) -> None:
    a_job = job("lock/ticket", 2, ops="20")
    text = machine(a_job, tmp_path, watchdog=1000).run(LIMIT)
    with pytest.raises(GuestError, match="did no operation in 100 simulated ms"):
        left(a_job, text, tmp_path)


def test_program_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    program = tmp_path / "program.elf"
    with pytest.raises(RuntimeError, match=r"program\.elf: cannot be read; it is the program to"):
        DelayedMachine(str(program), [], [], LINK)
    program.write_bytes(b"\x7fELF")
    with pytest.raises(RuntimeError, match=r"program\.elf: ends within its headers"):
        DelayedMachine(str(program), [], [], LINK)


def test_missing_parameter_is_named(tmp_path: Path) -> None:
    with pytest.raises(KeyError, match="harts"):
        DelayedMachine(str(tmp_path), [{"id": 0}], [ACCESS], LINK)

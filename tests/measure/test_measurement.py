"""Does the file that `uncore measure` writes contain a machine's true costs?

The usual plan and programs run on a simulated machine, whose true costs are known.  Measurements
that need Linux run on this computer, if it has Linux.
"""

from __future__ import annotations

import re
from dataclasses import replace

import msgspec
import numpy as np
import pytest
from tests.measure.recorded import Recorded

from uncore import topology
from uncore.cli.app import main
from uncore.errors import GuestError, UserError
from uncore.execution.execute import execute
from uncore.execution.request import make_job
from uncore.host import pinned, sysfs
from uncore.result.schema import Point
from uncore_lab.figures import CONTENDED, hardware
from uncore_lab.figures.simulate import handoffs
from uncore_lab.measure import bench, plan, record, report
from uncore_lab.measure import machine_file as describe
from uncore_lab.measure.measure import measure

MACHINE = topology.load("tr1950x")
RECORDED = Recorded(MACHINE, lambda hart: hart // 2 + hart % 2 * 16, "die")
SMALL_EFFORT = plan.Effort(
    samples=3, rounds=20, repeated_pairs=2, runs=2, run_ns=1e4, wakes=20, calls=50
)


class Simulated:
    """A bench whose processors are the harts of a simulated machine."""

    def __init__(self, recorded: Recorded = RECORDED, machine: topology.Machine = MACHINE) -> None:
        self.hart = {recorded.number_of(h): h for h in range(machine.harts)}
        self.machine = machine

    def play(self, name, cpus, parameters, tick=None) -> Point:
        if name.startswith(bench.LINUX_PROGRAMS):
            raise GuestError(f"{name}: a simulated machine runs no Linux")
        placement = ",".join(str(self.hart[cpu]) for cpu in cpus)
        plain = {key: value for key, value in parameters.items() if key != "patience"}
        job = make_job(self.machine, name, [len(cpus)], parameters=plain, placement=placement)
        return execute([job])[0].points[0]


@pytest.fixture(scope="module")
def found(tmp_path_factory) -> record.Measurement:
    root = RECORDED.sysfs(tmp_path_factory.mktemp("recorded"))
    return measure(Simulated(), sysfs.read(root), sysfs.setting(root), SMALL_EFFORT)


def test_measured_matrix_is_within_6_percent_of_that_of_the_simulated_machine(
    found, tmp_path
) -> None:
    path = tmp_path / "matrix.csv"
    path.write_text(record.matrix_csv(found.handoffs))
    measured = hardware.measured_matrix(path, MACHINE)
    node0 = msgspec.structs.replace(hardware.read("tr1950x"), home="node0")
    true = handoffs(MACHINE, node0)
    present = ~np.isnan(measured)
    assert present.sum() == 32 * 31 / 2
    off = abs(measured[present] / true[present] - 1)
    assert off.mean() < 0.01 and off.max() < 0.06  # few rounds
    assert found.noise_pct < 2 and len(found.handoffs.again) == 2


def test_machine_file_accounts_for_offline_processors_and_gaps_in_numbers(tmp_path) -> None:
    """A sibling and a core of the computer are offline. The matrix is read with the machine file
    that describes the computer.
    """
    ragged = replace(RECORDED, number_of=lambda h: h + (h >= 16) * 48, offline=(3, 8, 9), mhz=4000)
    computer = sysfs.read(ragged.sysfs(tmp_path / "root"))
    found = plan.handoffs(Simulated(ragged), computer, SMALL_EFFORT, lambda: None)
    described = describe.loads(describe.describe(computer))
    path = tmp_path / "matrix.csv"
    path.write_text(record.matrix_csv(found))
    measured = hardware.measured_matrix(path, described)
    true = handoffs(described, hardware.by_level(described, "node0"))
    present = ~np.isnan(measured)
    assert (described.harts, present.sum()) == (30, 29 * 28 / 2)
    assert np.median(abs(measured[present] / true[present] - 1)) < 0.01


def test_throughput_is_measured_at_each_thread_count_and_falls_beyond_a_complex(found) -> None:
    counts = [1, 2, 4, 8, 16, 32]  # a complex has 4 cores, the package 16
    by_name = {name: [p for p in found.throughput if p.workload == name] for name in CONTENDED}
    assert all([p.threads for p in points] == counts for points in by_name.values())
    assert all(len(p.ops_per_second) == 2 and not p.failures for p in found.throughput)
    # Threads are placed on all cores before any second thread of a core.
    assert by_name["lock/mcs"][3].cpus == list(range(8))
    rate = {p.threads: p.ops_per_second[-1] for p in by_name["counter/cas"]}
    assert rate[8] < 0.9 * rate[4]  # leaving the complex


def test_throughput_is_measured_at_exactly_the_requested_thread_counts(tmp_path) -> None:
    computer = sysfs.read(RECORDED.sysfs(tmp_path))
    named = msgspec.structs.replace(SMALL_EFFORT, threads=(1, 3))
    found = plan.throughput(Simulated(RECORDED), computer, named, lambda: None)
    assert {p.threads for p in found} == {1, 3}
    assert len({p.workload for p in found}) == len(CONTENDED)


def test_measurement_states_the_reason_for_a_missing_section(found) -> None:
    assert found.wakeups is None and "runs no Linux" in found.absent["wakeups"]
    assert not found.partial


def test_saved_measurement_is_read_back_unchanged(found, tmp_path) -> None:
    record.save(found, tmp_path / "m.json")
    assert record.load(tmp_path / "m.json") == found
    (tmp_path / "m.json").write_text('{"schema": 1}')
    with pytest.raises(UserError, match=r"no file of `uncore measure`"):
        record.load(tmp_path / "m.json")


def test_run_that_does_not_end_does_not_affect_the_other_runs(tmp_path) -> None:
    class Stuck(Simulated):
        def play(self, name, cpus, parameters, tick=None) -> Point:
            if name == "lock/ticket" and len(cpus) == 4:
                raise GuestError("the program has not ended in time")
            return super().play(name, cpus, parameters, tick)

    computer = sysfs.read(RECORDED.sysfs(tmp_path))
    series = plan._throughputs(
        Stuck(), "lock/ticket", computer.compact(), [2, 4, 8], SMALL_EFFORT, int
    )
    assert [(p.threads, len(p.ops_per_second), len(p.failures)) for p in series] == [
        (2, 2, 0),
        (4, 0, 1),
        (8, 2, 0),
    ]


def test_interrupted_measurement_keeps_its_finished_sections(tmp_path) -> None:
    class Interrupted(Simulated):
        def play(self, name, cpus, parameters, tick=None) -> Point:
            if name == "lock/tas":
                raise KeyboardInterrupt
            return super().play(name, cpus, parameters, tick)

    root = RECORDED.sysfs(tmp_path)
    measurement = measure(Interrupted(), sysfs.read(root), sysfs.setting(root), SMALL_EFFORT)
    assert measurement.partial and measurement.handoffs and measurement.throughput is None
    assert measurement.absent["throughput"] == "interrupted before"


def test_page_about_measurement_files_describes_each_part() -> None:
    page = record.describe()
    assert [part.__name__ for part in record.PARTS] == re.findall(r"^## (\w+)$", page, re.MULTILINE)
    assert "| `handoffs` | `Handoffs or None` | the matrix |" in page


# ---- This computer -------------------------------------------------------------------------------

HERE = pytest.mark.skipif(
    bool(pinned.missing()) or len(pinned.processors()) < 2, reason="needs Linux and two processors"
)


@HERE
def test_measure_command_writes_latencies_and_rates_of_this_computer(
    tmp_path, monkeypatch, capsys
) -> None:
    monkeypatch.setattr(plan, "QUICK_EFFORT", SMALL_EFFORT)
    json, csv = tmp_path / "m.json", tmp_path / "m.csv"
    with pytest.raises(SystemExit) as ended:
        main(["measure", "--quick", "-o", str(json), "--csv", str(csv)])
    assert ended.value.code == 0
    measurement, cpus = record.load(json), len(pinned.processors())
    assert len(csv.read_text().splitlines()) == cpus
    assert all(ns > 0 for row in measurement.handoffs.mean_ns for ns in row)
    assert {p.workload for p in measurement.throughput} == set(CONTENDED)
    assert "remote wake-up" in capsys.readouterr().out
    if measurement.barriers:  # a container may forbid the system call
        asleep = [b for b in measurement.barriers if not b.running]
        assert all(b.sent_ns is None for b in asleep)


@HERE
def test_membarrier_interrupts_running_threads_only() -> None:
    """Nearly every call interrupts a running thread, and none interrupts a sleeping one."""
    try:
        barriers = plan.barriers(
            bench.ThisComputer(), sysfs.read(only=pinned.processors()[:2]), SMALL_EFFORT, int
        )
    except GuestError as error:
        pytest.skip(str(error))
    runs, sleeps = barriers
    assert (
        runs.sent_ns.count > SMALL_EFFORT.calls / 2 and sleeps.unseen_ns.count == SMALL_EFFORT.calls
    )
    assert runs.sent_ns.p50 > sleeps.unseen_ns.p50


def test_measuring_on_a_single_processor_is_refused(monkeypatch) -> None:
    monkeypatch.setattr(pinned, "missing", str)
    monkeypatch.setattr(bench.os, "sched_getaffinity", lambda _: {5})
    with pytest.raises(UserError, match="processor 5 alone"):
        bench.usable()


def test_measuring_is_refused_if_pinning_is_forbidden(monkeypatch) -> None:
    def forbidden(_, cpus):
        if len(cpus) == 1:
            raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(pinned, "missing", str)
    monkeypatch.setattr(bench.os, "sched_getaffinity", lambda _: {0, 1})
    monkeypatch.setattr(bench.os, "sched_setaffinity", forbidden)
    with pytest.raises(UserError, match="cannot be pinned to processor 0"):
        bench.usable()


def test_measuring_on_another_operating_system_is_refused(monkeypatch) -> None:
    monkeypatch.setattr(pinned, "missing", lambda: "the host build knows Linux x86_64")
    with pytest.raises(UserError, match="knows Linux"):
        bench.usable()


@pytest.mark.parametrize(
    ("protocol", "sentence"), [("moesi", "2 transfers"), ("migratory-moesi", "1 transfer")]
)
def test_change_after_a_load_is_reported_with_the_number_of_transfers_of_the_protocol(
    protocol: str, sentence: str, tmp_path
) -> None:
    machine = topology.load("tr1950x", [f"protocol={protocol}"])
    computer = sysfs.read(RECORDED.sysfs(tmp_path))
    found = plan.transfers(Simulated(machine=machine), computer, SMALL_EFFORT, lambda: None)
    assert len(found) == 31 + len(plan.growing_groups(computer))
    assert {transfer.distance for transfer in found} == {"core", "L3", "node", "package"}
    assert f" is {sentence}: protocol = " in report.transfers_text(found)


def test_report_shows_a_ratio_that_is_neither_one_nor_two_transfers_as_a_number() -> None:
    between = record.Transfer(cpus=[0, 1], distance="L3", changed_ns=[10, 10], looked_ns=[14, 16])
    assert "its ratio in pairs is 1.50" in report.transfers_text([between])

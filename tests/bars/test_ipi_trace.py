"""Is a trace of interrupts from perf or ftrace read, and is each send paired with its entry?

The traces are made up: they have few records, at round times.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from uncore import topology
from uncore.cli.app import main
from uncore.errors import UserError
from uncore.study import matrix
from uncore_lab.validate import ipi_trace
from uncore_lab.validate.ipi_records import read
from uncore_lab.validate.section import Request

HANDLER = "generic_smp_call_function_single_interrupt"
# On ccx:2x2 CPUs 0 and 1 share one CCX, CPUs 2 and 3 the other.
PERF = f"""
     app one  1234 [000]  10.000001000:      ipi:ipi_send_cpu: cpu=1 callsite=f+0x9 callback={HANDLER}+0x0
     swapper     0 [001]  10.000001500: irq_vectors:call_function_single_entry: vector=251
     swapper     0 [001]  10.000001900: irq_vectors:call_function_single_exit: vector=251
         app  1234 [000]  10.000011000:      ipi:ipi_send_cpu: cpu=2 callsite=f+0x9 callback=0x0
     swapper     0 [002]  10.000012000: irq_vectors:reschedule_entry: vector=253
         app  1234 [003]  10.000021000:  ipi:ipi_send_cpumask: cpumask=0-2 callsite=f callback={HANDLER}
         app  1234 [002]  10.000021700: irq_vectors:call_function_entry: vector=252
     swapper     0 [000]  10.000023000: irq_vectors:call_function_entry: vector=252
     swapper     0 [001]  10.000023100: irq_vectors:call_function_entry: vector=252
         app  1234 [003]  10.000024000: sched:sched_switch: prev_comm=app [1] ==> next_comm=b
"""  # noqa: E501
FTRACE = f"""# tracer: nop
#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION
             app-1234    (  77) [000] d..2.    10.000001: ipi_send_cpu: cpu=1 callsite=f+0x9/0x70 callback={HANDLER}+0x0/0x20
          <idle>-0       (-----) [001] d.h1.    10.000002: call_function_single_entry: vector=251
             app-1234    (  77) [000] d..2.    10.000011: ipi_send_cpu: cpu=2 callsite=f+0x9/0x70 callback=0x0
          <idle>-0       (-----) [002] d.h1.    10.000012: reschedule_entry: vector=253
             app-1234    (  77) [003] ...1.    10.000021: ipi_send_cpumask: cpumask=7 callsite=f callback={HANDLER}+0x0/0x20
             app-1234    (  77) [002] d.h..    10.000022: call_function_entry: vector=252
          <idle>-0       (-----) [000] d.h1.    10.000023: call_function_entry: vector=252
          <idle>-0       (-----) [001] d.h1.    10.000023: call_function_entry: vector=252
"""  # noqa: E501
TRACE_CMD = f"""cpus=4
             app-1234  [000]    10.000001000: ipi_send_cpu:         cpu=1 callsite=f+0x9 callback={HANDLER}+0x0
          <idle>-0     [001]    10.000001500: call_function_single_entry: vector=251
             app-1234  [000]    10.000011000: ipi_send_cpu:         cpu=2 callsite=f+0x9 callback=0x0
          <idle>-0     [002]    10.000012000: reschedule_entry:     vector=253
             app-1234  [003]    10.000021000: ipi_send_cpumask:     cpumask=0,1,2 callsite=f callback={HANDLER}+0x0
             app-1234  [002]    10.000021700: call_function_entry:  vector=252
          <idle>-0     [000]    10.000023000: call_function_entry:  vector=252
          <idle>-0     [001]    10.000023100: call_function_entry:  vector=252
"""  # noqa: E501
ARM = """
 app-9 [000] d..2. 10.000001: ipi_send_cpu: cpu=1 callsite=f callback=0x0
 app-9 [000] d..2. 10.000001: ipi_raise: target_mask=00000000,00000002 (Rescheduling interrupts)
 app-9 [001] d.h1. 10.000004: ipi_entry: (Rescheduling interrupts)
 app-9 [000] d..2. 10.000011: ipi_raise: target_mask=00000000,0000000c (Function call interrupts)
 app-9 [002] d.h1. 10.000016: ipi_entry: (Function call interrupts)
 app-9 [003] d.h1. 10.000017: ipi_entry: (Function call interrupts)
"""
PAIRED = [(0, 1, 500), (0, 2, 1000), (3, 2, 700), (3, 0, 2000), (3, 1, 2100)]


def send(ns: int, sender: int, receiver: int, callback: str = "0x0") -> str:
    fields = f"cpu={receiver} callsite=f callback={callback}"
    return f"a 1 [{sender:03}] 10.{ns:09}: ipi:ipi_send_cpu: {fields}"


def entry(ns: int, receiver: int, name: str = "reschedule") -> str:
    return f"a 1 [{receiver:03}] 10.{ns:09}: irq_vectors:{name}_entry: vector=253"


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    return tmp_path / "trace.txt"


def paired(path: Path, *lines: str, cpus: int = 4) -> ipi_trace.PairedSends:
    path.write_text("\n".join(lines))
    return ipi_trace.pair(read(path, cpus).records)


def left_out(path: Path, *lines: str) -> dict[str, int]:
    return {what: n for what, n in paired(path, *lines).left_out.items() if n}


@pytest.mark.parametrize("text", [PERF, TRACE_CMD])
def test_each_send_is_paired_with_the_entry_on_its_cpu(text: str, trace: Path) -> None:
    found = paired(trace, text)
    assert found.latencies == PAIRED
    assert not +found.left_out


def test_ftrace_has_the_pairs_of_perf_with_times_in_whole_microseconds(trace: Path) -> None:
    found = paired(trace, FTRACE)
    assert [one[:2] for one in found.latencies] == [one[:2] for one in PAIRED]
    assert [one.ns for one in found.latencies] == [1000, 1000, 1000, 2000, 2000]
    assert read(trace, 4).in_microseconds
    trace.write_text(PERF)
    assert not read(trace, 4).in_microseconds


def test_only_raise_events_count_as_sends_if_an_arm_trace_has_raises_and_sends(trace: Path) -> None:
    found = paired(trace, ARM)
    assert found.latencies == [(0, 1, 3000), (0, 2, 5000), (0, 3, 6000)]
    assert not +found.left_out


def test_sends_of_an_arm_trace_without_raise_events_are_paired_with_their_entries(
    trace: Path,
) -> None:
    lines = [line for line in ARM.splitlines() if "ipi_raise" not in line]
    call = send(11_000, 0, 2, f"{HANDLER}+0x0/0x40")
    assert paired(trace, *lines, call).latencies == [(0, 1, 3000), (0, 2, 5000)]


@pytest.mark.parametrize(
    ("cpus", "targets"),
    [
        ("0-1,7", [0, 1, 7]),
        ("10,11", [10, 11]),
        ("00000000,00000083", [0, 1, 7]),
        ("00000001,00000000", [32]),
        ("c00", [10, 11]),
        ("3", [3]),  # a list, because a mask would have one digit for every four CPUs
        ("", []),
    ],
)
def test_cpus_of_a_send_may_be_written_as_a_list_or_a_mask(
    cpus: str, targets: list[int], trace: Path
) -> None:
    machine = 40 if len(cpus) > 8 else 12
    trace.write_text(f"a 1 [0] 1.0: ipi:ipi_send_cpumask: cpumask={cpus} callsite=f callback=0x0")
    assert [*(read(trace, machine).records[0].targets or ())] == targets


def test_calls_that_linux_queues_are_not_counted_as_interrupts(trace: Path) -> None:
    """Linux 6.4 records sent and queued calls with the same event."""
    queued, sent = (send(5, 0, 1, f"{name}+0x0") for name in ("do_flush_tlb_all", HANDLER))
    found = paired(trace, queued, sent, entry(900, 1, "call_function_single"))
    assert found.latencies == [(0, 1, 895)]
    assert read(trace, 4).queued_calls == 1


def test_sends_that_one_entry_handles_together_are_left_out(trace: Path) -> None:
    lines = send(5, 0, 1), send(20, 2, 1), entry(900, 1), send(2000, 0, 1), entry(2600, 1)
    found = paired(trace, *lines)
    assert found.latencies == [(0, 1, 600)]
    assert +found.left_out == {ipi_trace.WAITED_TOGETHER: 2}


def test_sends_are_paired_only_with_entries_of_their_kind(trace: Path) -> None:
    lines = send(5, 0, 1), send(7, 2, 1, HANDLER), entry(300, 1, "call_function_single")
    found = paired(trace, *lines, entry(405, 1))
    assert found.latencies == [(2, 1, 293), (0, 1, 400)]


def test_sends_and_entries_without_a_partner_are_counted(trace: Path) -> None:
    assert left_out(trace, entry(5, 1), send(20, 0, 1)) == {
        ipi_trace.UNSENT: 1,
        ipi_trace.UNANSWERED: 1,
    }
    assert left_out(trace, send(20, 1, 1), entry(40, 1)) == {ipi_trace.OWN: 1}


@pytest.mark.parametrize("dropped", ["CPU:1 [LOST 120 EVENTS]", "CPU:1 [EVENTS DROPPED]"])
def test_no_send_is_paired_with_an_entry_after_lost_records(dropped: str, trace: Path) -> None:
    found = paired(trace, send(5, 0, 1), dropped, entry(900, 1), send(1000, 0, 1), entry(1100, 1))
    assert found.latencies == [(0, 1, 100)]
    assert +found.left_out == {ipi_trace.UNANSWERED: 1, ipi_trace.UNSENT: 1}


def test_trace_may_list_the_records_of_one_cpu_after_another(trace: Path) -> None:
    assert paired(trace, entry(900, 1), send(5, 0, 1)).latencies == [(0, 1, 895)]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("hello", "no record of an interrupt; expected what perf script or ftrace print"),
        ("a 1 10.000000005: ipi:ipi_send_cpu: cpu=1 callsite=f callback=0x0", r":2: read 'a 1 10"),
        ("a 1 [000] 1000005: ipi_send_cpu: cpu=1 callsite=f callback=0x0", "a time in seconds"),
        ("a 1 [000] 10.000000005: ipi:ipi_send_cpu: cpu=", "ipi_send_cpu with cpu=, callsite= and"),
        ("a 1 [000] 10.5: ipi_send_cpu: cpu=-1 callsite=f callback=0x0", "with cpu=, callsite="),
        ("a 1 [000] 10.5: ipi_send_cpumask: cpumask=x callsite=f callback=0x0", "read 'x'; exp"),
        (
            "a 1 [000] 10.5: ipi_send_cpumask: cpumask=ARRAY[02, 00] callsite=0xff callback=0x0",
            "CPUs as a list or as digits of a mask, such as 'cpumask=0-2,7",
        ),
        ("a 1 [000] 10.5: ipi_raise: target_mask=2", "ipi_raise with target_mask= and a reason"),
        ("a 1 [001] 10.5: irq_vectors:reschedule_entry: vektor", "reschedule_entry with vector="),
        ("a 1 [001] 10.5: ipi:ipi_entry:", "ipi_entry with a reason in parentheses"),
        (entry(5, 4), r":2: CPU 4: the machine's file has CPUs 0 to 3; expected a trace of this"),
        (send(5, 0, 4), r":2: CPU 4: the machine's file has"),
        ("a 1 [0] 1.5: ipi_send_cpumask: cpumask=0-9999999 callsite=f callback=0x0", "CPU 9999999"),
        ("a 1 [0] 1.5: ipi_raise: target_mask=ffffffff,ffffffff (x)", "CPU 63: the machine's file"),
    ],
)
def test_record_that_cannot_be_read_is_named(line: str, message: str, trace: Path) -> None:
    with pytest.raises(UserError, match=message):
        paired(trace, "", line)


def test_clock_that_runs_backwards_is_refused(trace: Path) -> None:
    expected_message = (
        r"trace.txt:3: CPU 1 is at 10.000000900 s, and was at 10.000000950 s in \S+:2: its clock"
        r" runs backwards; record with a clock that all CPUs share: perf record -k CLOCK_MONOTONIC"
    )
    with pytest.raises(UserError, match=expected_message):
        paired(trace, send(5, 0, 1), entry(950, 1), entry(900, 1))


def test_rows_are_distance_classes_with_the_medians_of_the_matrix(trace: Path) -> None:
    trace.write_text(PERF)
    rows = ipi_trace.run(Request(("ccx:2x2",), trace=trace)).rows
    assert [(row["class"], row["sends"], row["pairs"]) for row in rows] == [
        ("ccx", 2, 2),
        ("system", 3, 3),
    ]
    near, far = rows
    keys = ("first_quartile_ns", "median_ns", "third_quartile_ns")
    assert [near[key] for key in keys] == [550, 600, 650]
    assert [far[key] for key in keys] == [1500, 2000, 2050]
    run = matrix.measure("ccx:2x2", ipi=True, overrides={}, smt=True, seeds=lambda _: (1,))
    medians = {row["class"]: row["median_ns"] for row in run.by_class()}
    for row in rows:
        assert row["simulated_ns"] == medians[row["class"]]
        assert row["err_pct"] == pytest.approx(100 * (row["simulated_ns"] / row["median_ns"] - 1))


def test_cpu_numbers_are_converted_to_harts_by_the_machine_file(trace: Path) -> None:
    """CPUs 0 and 2 of an Atom D510 are one core."""
    trace.write_text("\n".join([send(5, 0, 2), entry(900, 2), send(1000, 0, 1), entry(1900, 1)]))
    rows = ipi_trace.run(Request(("atomd510",), trace=trace)).rows
    machine = topology.load("atomd510")
    medians = [(row["class"], row["median_ns"]) for row in rows]
    assert medians == [("core", 895), (machine.levels[-3], 900)]


def test_trace_without_any_pair_is_reported_with_the_reason(trace: Path) -> None:
    trace.write_text("\n".join([send(5, 0, 1, "0xffffffff81000000"), entry(900, 1)]))
    with pytest.raises(UserError, match=r"Left out: entries without a send: 1; calls that were"):
        ipi_trace.run(Request(("ccx:2x2",), trace=trace))


def run_validate(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[object, str, str]:
    with pytest.raises(SystemExit) as exit_:
        main(["validate", *words])
    printed = capsys.readouterr()
    return exit_.value.code, printed.out, printed.err


def test_option_trace_prints_the_classes_and_the_records_left_out(
    trace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trace.write_text(FTRACE + entry(90_000_000, 3))
    status, out, _ = run_validate(capsys, "--trace", str(trace), "ccx:2x2")
    assert status == 0
    assert "Left out: entries without a send: 1." in out
    assert "perf record -k CLOCK_MONOTONIC" in out
    status, out, _ = run_validate(capsys, "--trace", str(trace), "ccx:2x2", "--json")
    assert status == 0 and [row["class"] for row in json.loads(out)["trace"]] == ["ccx", "system"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "name the one machine it was measured on"),
        (("ccx:2x2", "bus:4"), "name the one machine it was measured on"),
        (("ccx:2x2", "--all"), "leave the other options out"),
        (("ccx:2x2", "--home", "node0"), "leave the other options out"),
    ],
)
def test_option_trace_is_refused_with_no_or_several_machines_or_with_all_or_home(
    words: tuple[str, ...], message: str, trace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trace.write_text(PERF)
    status, _, err = run_validate(capsys, "--trace", str(trace), *words)
    assert status == 2 and message in err and "Traceback" not in err


def test_missing_trace_file_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    status, _, err = run_validate(capsys, "--trace", "gone.txt", "bus:4")
    assert status == 2 and "gone.txt: cannot be read: No such file" in err

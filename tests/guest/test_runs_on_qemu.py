"""Do unmodified workloads run to their end on QEMU's `virt` board and pass their checks?"""

from __future__ import annotations

from pathlib import Path

import pytest

from uncore.cli.commands.new import STARTS_FOLDER
from uncore.program import find, readback

# Fair locks and runs of 64 harts do few operations: the host has fewer cores than the guest has
# spinning harts, so every handoff waits for the host's scheduler. test_catalogue.py runs all
# workloads on 3 harts.
RUNS = [
    ("counter/atomic", 4, {"ops": 1000}, 4000),
    ("counter/atomic", 64, {"ops": 100}, 6400),
    ("epoch/ebr", 4, {"ops": 500, "updates": 100, "hold": 500}, 3 * 500 + 100),
    ("ipi/pingpong", 4, {"rounds": 10}, 4 * 3 * 10),
    ("latency/pingpong", 4, {"rounds": 3, "warmup": 1}, 4 * 3 * 3),
    ("latency/pingpong", 64, {"pairs": 1, "a": 60, "b": 3, "rounds": 10}, 20),
    ("lock/mcs", 64, {"ops": 2}, 128),
    ("lock/ticket", 4, {"ops": 50}, 200),
    ("refcount/atomic", 4, {"ops": 500}, 2000),
]


@pytest.mark.parametrize(("name", "harts", "parameters", "operations"), RUNS)
def test_shipped_workload_passes_its_check_on_qemu(
    qemu, name, harts, parameters, operations
) -> None:
    outcome = qemu(find(name).path, harts, **parameters)
    assert outcome.status == 0, outcome.console
    assert len(outcome.records) == harts
    assert sum(record.ops for record in outcome.records) == operations
    assert all(0 < record.begin_ns <= record.end_ns for record in outcome.records)
    assert not any(record.failures or record.why for record in outcome.records)


@pytest.mark.parametrize("name", ["latency/pingpong", "ipi/pingpong"])
def test_pingpong_fills_the_table_of_pairs(qemu, name: str) -> None:
    outcome = qemu(find(name).path, 3, rounds=2, warmup=1)
    [cells] = outcome.tables.values()
    assert [[cell > 0 for cell in row] for row in cells] == [
        [row != col for col in range(3)] for row in range(3)
    ]


def test_patched_elf_uses_the_values_of_its_boot_block(qemu, tmp_path: Path) -> None:
    """The ELF is prepared as for an engine: parameters and the timebase are patched into it."""
    program = find("counter/atomic")
    elf = tmp_path / "patched.elf"
    boot = {"harts": 2, "report": True, "timebase_hz": 10_000_000}
    elf.write_bytes(program.patched_elf(**boot, values={"ops": 7, "think": "20us"}))
    outcome = qemu(elf, 4, ops=1)
    assert [record.ops for record in outcome.records] == [7, 7]
    assert all(r.end_ns - r.begin_ns >= 7 * 20_000 for r in outcome.records)


def test_allocated_block_lies_on_the_requested_node(qemu, tmp_path: Path, compile_guest) -> None:
    program = compile_guest("""
        #include "uncore.h"
        UC_TABLE(blocks, "address", "of one block on each node, twice");
        void uc_setup(unsigned n) {
          uc_table_make(&blocks, 2, uc_nodes());
          for (unsigned i = 0; i < 2 * uc_nodes(); i++)
            blocks.cells[i] = (uint64_t)uc_alloc(100 + n, i % uc_nodes());
        }
        void uc_main(unsigned id, unsigned n) { (void)id; (void)n; }
    """)
    size = 16 << 20
    elf = tmp_path / "nodes.elf"
    elf.write_bytes(program.patched_elf(harts=2, nodes=4, node_size=size, report=True))
    first, second = qemu(elf, 2).tables["blocks"]
    assert [(address - 0x8000_0000) // size for address in first] == [0, 1, 2, 3]
    assert [b - a for a, b in zip(first, second, strict=True)] == [128] * 4
    assert not any(address % 128 for address in first)


def test_uart_reports_the_end_of_a_run_without_semihosting(qemu) -> None:
    outcome = qemu(find("counter/atomic").path, 2, semihosting=False)
    assert "uc: hart=0 ops=100" in outcome.console
    assert outcome.console.rstrip().endswith("uc: exit=0")


def test_message_about_an_unknown_parameter_lists_the_parameters(qemu) -> None:
    outcome = qemu(find("lock/ticket").path, 2, opps=3)
    assert outcome.status == 2
    assert "read 'opps=3'" in outcome.console and " hold " in outcome.console


def test_exception_is_reported_with_hart_and_source_line(qemu, compile_guest) -> None:
    program = compile_guest("""#include "uncore.h"
        void uc_main(unsigned id, unsigned n) {
          if (id == n - 1)
            *(volatile int*)8 = 1;
        }
    """)
    outcome = qemu(program.path, 3)
    assert outcome.status == 3
    assert "uc: trap hart=2 mcause=0x7 mepc=0x8000" in outcome.console
    message = readback.trap_from_text(program, outcome.console)
    assert message and message.startswith("hart 2: store or atomic access fault at 0x8000")
    assert message.endswith("(guest.c:4), mtval 0x8") and " uc_main+0x" in message


def test_no_hart_passes_a_barrier_before_all_have_arrived(qemu, compile_guest) -> None:
    """After barrier k every hart sees k steps of all harts. Their number, 7, is no power of two."""
    program = compile_guest("""
        #include "uncore.h"
        static _Atomic unsigned steps;
        void uc_main(unsigned id, unsigned n) {
          (void)id;
          for (unsigned k = 1; k <= 20; k++) {
            steps++;
            uc_barrier();
            uc_check(steps == k * n, "somebody passed early");
            uc_barrier();
          }
        }
    """)
    assert qemu(program.path, 7).status == 0


def test_interrupt_sent_just_before_the_wait_is_not_lost(qemu, compile_guest) -> None:
    program = compile_guest("""
        #include "uncore.h"
        static _Atomic unsigned sent;
        void uc_main(unsigned id, unsigned n) {
          (void)n;
          for (unsigned k = 1; k <= 300; k++) {
            uc_barrier();
            if (id == 0) { uc_ipi(1); sent = k; }
            if (id == 1) {
              if (k % 2) while (sent != k) uc_pause();
              uc_wait();
            }
          }
        }
    """)
    assert qemu(program.path, 2).status == 0


def test_template_of_a_new_lock_runs(qemu, compile_guest) -> None:
    program = compile_guest((STARTS_FOLDER / "lock.c").read_text())
    outcome = qemu(program.path, 4, ops=200)
    assert (outcome.status, sum(record.ops for record in outcome.records)) == (0, 800)

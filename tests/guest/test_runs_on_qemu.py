"""Does each shipped ELF, unmodified, run to its end on QEMU's `virt` board and pass its checks?"""

from __future__ import annotations

from pathlib import Path

import pytest

from uncore.cli.commands.new import STARTS_FOLDER
from uncore.program import find, readback

# Few operations for fair locks and for 64 harts: with two host cores for all those spinning harts,
# every handoff waits for the host's scheduler. test_catalogue.py runs all workloads at 3 harts.
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
def test_a_workload_passes_its_own_check(qemu, name, harts, parameters, operations) -> None:
    outcome = qemu(find(name).path, harts, **parameters)
    assert outcome.status == 0, outcome.console
    assert len(outcome.records) == harts
    assert sum(record.ops for record in outcome.records) == operations
    assert all(0 < record.begin_ns <= record.end_ns for record in outcome.records)
    assert not any(record.failures or record.why for record in outcome.records)


@pytest.mark.parametrize("name", ["latency/pingpong", "ipi/pingpong"])
def test_tournament_fills_the_table_of_pairs(qemu, name: str) -> None:
    outcome = qemu(find(name).path, 3, rounds=2, warmup=1)
    [cells] = outcome.tables.values()
    assert [[cell > 0 for cell in row] for row in cells] == [
        [row != col for col in range(3)] for row in range(3)
    ]


def test_patched_elf_runs_as_its_boot_block_says(qemu, tmp_path: Path) -> None:
    """The ELF is started as an engine would: without a command line, with patched parameters, and
    with a clock in ps.
    """
    program = find("counter/atomic")
    elf = tmp_path / "patched.elf"
    boot = {"harts": 2, "report": True, "timebase_hz": 10_000_000}
    elf.write_bytes(program.patched_elf(**boot, values={"ops": 7, "think": "20us"}))
    outcome = qemu(elf, 4, ops=1)
    assert [record.ops for record in outcome.records] == [7, 7]
    assert all(r.end_ns - r.begin_ns >= 7 * 20_000 for r in outcome.records)


def test_an_allocation_is_on_the_node_it_names(qemu, tmp_path: Path, compile_guest) -> None:
    program = compile_guest("""
        #include "uncore.h"
        UC_TABLE(where, "address", "of one block on each node, twice");
        void uc_setup(unsigned n) {
          uc_table_make(&where, 2, uc_nodes());
          for (unsigned i = 0; i < 2 * uc_nodes(); i++)
            where.cells[i] = (uint64_t)uc_alloc(100 + n, i % uc_nodes());
        }
        void uc_main(unsigned id, unsigned n) { (void)id; (void)n; }
    """)
    size = 16 << 20
    elf = tmp_path / "nodes.elf"
    elf.write_bytes(program.patched_elf(harts=2, nodes=4, node_size=size, report=True))
    first, second = qemu(elf, 2).tables["where"]
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


def test_exception_names_hart_and_place(qemu, compile_guest) -> None:
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
    """After barrier k every hart sees that all have done k steps. 7 harts are not a power of 2."""
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


def test_a_wake_up_just_before_the_wait_is_not_lost(qemu, compile_guest) -> None:
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


def test_starting_text_of_a_new_lock_runs(qemu, compile_guest) -> None:
    program = compile_guest((STARTS_FOLDER / "lock.c").read_text())
    outcome = qemu(program.path, 4, ops=200)
    assert (outcome.status, sum(record.ops for record in outcome.records)) == (0, 800)

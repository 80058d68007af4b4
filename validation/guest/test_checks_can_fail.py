"""Does a workload notice when what it checks is broken?  Compiled with UC_SABOTAGE, each leaves out
the very thing that makes it right (that it passes with it, test_runs_on_qemu shows)."""

from __future__ import annotations

import pytest

from uncore import paths

SABOTAGE = [
    ("lock/ticket", {"ops": 100_000, "hold": 2000}, "contend.h"),
    ("lock/mcs", {"ops": 100_000, "hold": 2000}, "contend.h"),
    ("counter/atomic", {"ops": 50_000, "think": 2000}, "additions were lost"),
    ("refcount/atomic", {"ops": 10}, "refcount/atomic.c"),
    ("epoch/ebr", {"ops": 100_000, "hold": 2000, "updates": 4000, "period": 50_000}, "epoch/ebr.c"),
]


@pytest.mark.parametrize(("name", "parameters", "reason"), SABOTAGE)
def test_sabotage_is_noticed(qemu, compile_guest, name, parameters, reason) -> None:
    program = compile_guest(paths.WORKLOADS / f"{name}.c", "UC_SABOTAGE")
    outcome = qemu(program.path, 4, **parameters)
    assert outcome.status == 1, outcome.console
    assert any(reason in record.why for record in outcome.records), outcome.console


def test_failure_names_file_line_reason_and_hart(qemu, compile_guest) -> None:
    program = compile_guest("""#include "uncore.h"
        void uc_main(unsigned id, unsigned n) {
          for (unsigned i = 0; i < n; i++)
            uc_check(id != 2, "hart two is here");
        }
    """)
    outcome = qemu(program.path, 3)
    assert outcome.status == 1
    assert "uc: check failed hart=2 times=3 guest.c:4: hart two is here" in outcome.console
    assert [record.failures for record in outcome.records] == [0, 0, 3]

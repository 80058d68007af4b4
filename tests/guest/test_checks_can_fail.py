"""Does the check of each workload fail if the workload is broken on purpose?

A workload that is compiled with UC_SABOTAGE omits the operation that makes it correct, so its own
check must fail.
"""

from __future__ import annotations

import pytest

from uncore.engine import native
from uncore.execution import request
from uncore.program import find
from uncore.support import paths

# These workloads measure times between two harts or use no lock, so they have nothing to omit.
NOTHING_TO_BREAK = {"ipi/pingpong", "latency/pingpong", "lock/empty"}
WORKLOADS = sorted(
    path.relative_to(paths.WORKLOADS).with_suffix("").as_posix()
    for path in paths.WORKLOADS.glob("*/*.c")
    if path.parent.name != "runtime"
)

# Parameters with which broken workloads run long enough to fail. The others fail with their
# defaults on four neighbouring harts. A key is a workload or a folder of workloads.
PARAMETERS: dict[str, dict[str, str]] = {
    "epoch": {"hold": "20us", "period": "200ns", "ops": "20"},
    "epoch/rcu_tree": {"slow": "20us", "ops": "20", "quiescent_every": "1", "update_every": "1"},
    "ipi/ipiq": {"burst": "64", "work": "200ns"},
    "sched/netintr": {"frames": "4"},
    "ipi/passive": {"burst": "64"},
    "kernel/stat": {"linkers": "3", "work": "0"},
    "server/postgres": {"writes": "50", "work": "0", "pages": "64"},
    # Without a hold, a core finishes its critical section before another can get the line.
    **{f"lock/{name}": {"hold": "100ns"} for name in ("array", "clh", "cohort", "event_mutex")},
    **{f"lock/{name}": {"hold": "100ns"} for name in ("swap", "tas", "ticket", "ticket_packed")},
}


BREAKABLE = [name for name in WORKLOADS if name not in NOTHING_TO_BREAK]


def parameters_of(name: str) -> dict[str, str]:
    return PARAMETERS.get(name) or PARAMETERS.get(name.partition("/")[0], {})


@pytest.mark.parametrize("name", BREAKABLE)
def test_sabotaged_workload_fails_its_check(compile_guest, name: str) -> None:
    program = compile_guest(paths.WORKLOADS / f"{name}.c", "UC_SABOTAGE=1")
    parameters = parameters_of(name)
    job = request.make_job("ccx", program, (4,), parameters=parameters)
    failures = native.run(job, frozenset())["failures"]
    assert failures, f"{name} does not notice that its primitive is missing"


@pytest.mark.parametrize("threads", [2, 4, 8])
@pytest.mark.parametrize("name", BREAKABLE)
def test_intact_workload_passes_where_the_broken_workload_fails(name: str, threads: int) -> None:
    """Intact workloads must pass with the parameters that make broken ones fail. The hold makes
    critical sections so long that they would overlap if the lock failed.
    """
    program = find(name)
    hold = {"hold": "100ns"} if "hold" in {parameter.name for parameter in program.params} else {}
    job = request.make_job("ccx", program, (threads,), parameters=hold | parameters_of(name))
    assert native.run(job, frozenset())["failures"] == []


def test_per_cpu_counter_restarts_at_zero_after_it_is_added_to_the_total() -> None:
    job = request.make_job("ccx", find("counter/percpu"), (4,), parameters={"batch": "8"})
    assert native.run(job, frozenset())["failures"] == []


def test_report_of_a_failed_check_names_file_line_reason_and_hart(qemu, compile_guest) -> None:
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

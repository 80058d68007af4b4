"""Do shipped workloads pass on weakly ordered cores?  The long version is
`tests.tools.weak_machines`.
"""

from __future__ import annotations

import pytest
from tests.fences import page
from tests.tools import weak_machines as weak

from uncore.program import Program

SEEDS = range(1, 7)  # one seed for each number of harts


@pytest.mark.parametrize(
    "workload", weak.workloads(page.FOLDERS), ids=lambda workload_: workload_.name
)
def test_shipped_workload_passes_on_weakly_ordered_cores(workload: Program) -> None:
    assert not weak.run_block([weak.point(workload, seed) for seed in SEEDS], 1)

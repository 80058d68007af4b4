"""Does every workload of the catalogue pass its own check with few threads?

`python -m tests.tools.catalogue` runs them with more threads.
"""

from __future__ import annotations

import pytest
from tests.tools import catalogue

from uncore.engine import native
from uncore.program import find, shipped

NAMES = [program.name for program in shipped()]


@pytest.mark.parametrize("threads", catalogue.SMALL_THREAD_COUNTS)
@pytest.mark.parametrize("name", NAMES)
def test_workload_passes_its_check_with_few_threads(name: str, threads: int) -> None:
    point = native.run(catalogue.job(find(name), threads), frozenset())
    assert point["failures"] == []


@pytest.mark.parametrize("name", NAMES)
def test_workload_passes_its_check_on_qemu(qemu, name: str) -> None:
    """QEMU's harts are real threads, which the host's scheduler may preempt at any instruction."""
    program = find(name)
    # There are few operations, because each handoff waits for the host's scheduler.
    values = catalogue.parameters(program, 3, operations=60)
    values = {key: program.parameter(key).parse(value) for key, value in values.items()}
    outcome = qemu(program.path, 3, **values)
    assert outcome.status == 0, outcome.console
